"""The models of the API, filled from what is stored."""
