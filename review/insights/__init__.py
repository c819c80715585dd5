"""What the decisions say about the readers, the people and the memories."""
