"""What a signed-in person does to memories, and how it is taken back."""
