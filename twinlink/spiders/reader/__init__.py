"""Parsing of responses in a separate process with limits on time and memory.

Start with `page_facts.perform`, which returns what the crawl needs from a response. `queue` decides where it runs: at
once, or in the reader process (`process`), which `client` starts, and ends when a page takes too long.
"""
