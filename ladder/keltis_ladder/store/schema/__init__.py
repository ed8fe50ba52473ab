"""The tables, and the steps that lead to them."""
