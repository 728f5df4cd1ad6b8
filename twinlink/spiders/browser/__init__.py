"""Pages built by scripts: Chromium without network access, and the middleware that uses it."""
