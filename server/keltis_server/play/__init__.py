"""The ladder that is served."""
