"""Search over all tiers: by words, by meaning, and by both. Reads only."""
