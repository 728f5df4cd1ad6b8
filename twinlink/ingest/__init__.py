"""Documents of any source become the tables of pages and links."""
