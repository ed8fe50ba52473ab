"""The joint rating: one normal distribution over all bots and kinds of match, fitted to margins.

The points of a duplicate match are TrueSkill's performances, seen directly: nearly normal, of
nearly the same luck for all bots. So margins are used instead of ranks, and all variants and
numbers of players are rated together: what a bot does in one says something about the others.
"""
