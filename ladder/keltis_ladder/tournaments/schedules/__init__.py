"""Who meets whom: round robins, Swiss rounds and brackets, as pure functions."""
