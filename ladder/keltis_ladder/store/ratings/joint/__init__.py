"""The joint rating as it is kept: fitted from duels, published, read, and worked out again."""
