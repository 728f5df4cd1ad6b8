"""Two pages side by side: their text, tags, sentences, and the link graph around them."""
