"""The Robots Exclusion Protocol (RFC 9309): robots.txt, its rules, robots meta elements, and the middleware."""
