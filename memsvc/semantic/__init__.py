"""The semantic tier: embeddings of what was said, and search by meaning."""
