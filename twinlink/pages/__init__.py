"""One page: its bytes become text, text becomes tags, blocks and links."""
