"""Answers are parsed in a process of their own, which may be ended when a page takes too long."""
