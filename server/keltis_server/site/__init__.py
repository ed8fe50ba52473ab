"""What the parts of a running server share."""
