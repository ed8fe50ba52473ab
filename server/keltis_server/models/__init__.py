"""What the API answers with, as models, and how they are made from what is stored."""
