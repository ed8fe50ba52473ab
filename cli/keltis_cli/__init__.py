"""The ``keltis-ladder`` command."""
