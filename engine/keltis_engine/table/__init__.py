"""What lies on the table: the cards of all seats, the boards with their figures."""
