"""How bots come in: received, unpacked, checked in the sandbox, and put on the ladder."""
