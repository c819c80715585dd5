"""Finding anything that a person may see: by a pasted sentence, by an id, by a name."""
