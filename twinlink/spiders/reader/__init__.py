"""Responses are parsed in a separate process, which ends when a page takes too long."""
