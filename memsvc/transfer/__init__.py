"""Moving conversations in and out."""
