"""What is sent to people: invitations, digests, hooks. Counts and links, never text."""
