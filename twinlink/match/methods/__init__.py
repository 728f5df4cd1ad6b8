"""Methods that match the pages of two languages."""
