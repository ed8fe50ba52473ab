"""The ladder: sandbox, referee, matches, ratings, matchmaking, tournaments and their store."""
