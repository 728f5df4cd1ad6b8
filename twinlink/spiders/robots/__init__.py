"""The Robots Exclusion Protocol (RFC 9309): robots.txt, its rules, and robots meta elements.

Start with `robots.read_robots`, which returns the rules for one robot as Protego reads them. `known` keeps the rules of
hosts; `twinlink.spiders.middlewares.robots` applies them to requests.
"""
