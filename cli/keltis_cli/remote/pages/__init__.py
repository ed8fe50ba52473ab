"""What a server tells, for people."""
