"""The audit: does a bot know more than it may? Sequential tests over stored matches."""
