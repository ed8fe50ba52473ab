"""What the API answers with, as models: the server fills them, clients parse with them.

Nothing here loads the database, so that a client starts quickly.
"""
