"""The audit, and the checks of what is stored."""
