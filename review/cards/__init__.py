"""What a reviewer sees of a memory: plain values made of rows, so that templates only print."""
