"""The language of each page: by its text, by the other pages of its site, and by hints outside the text."""
