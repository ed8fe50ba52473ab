"""The full screens of ``watch``."""
