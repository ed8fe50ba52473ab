"""The connection to a server: its address, the login, requests and errors."""
