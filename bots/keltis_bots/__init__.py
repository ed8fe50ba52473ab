"""What a bot author uses: the protocol, the SDK and the reference bots."""
