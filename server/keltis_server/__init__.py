"""The web server: HTTP API, websockets and web pages."""
