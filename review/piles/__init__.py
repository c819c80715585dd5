"""Which cards lie before whom today, and in what order."""
