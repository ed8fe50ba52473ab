"""The referee: play one match, on one core, in a process of its own."""
