"""Sessions: the owner of each conversation's directory, and what the model sees of it."""
