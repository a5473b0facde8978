"""Measurements: one question a file, answered by ratios against a limit or a peer in the same run."""
