"""What an onlooker may see of a match."""
