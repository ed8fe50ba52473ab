"""What can be subscribed to, one module for each kind of channel."""
