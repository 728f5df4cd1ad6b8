"""Pages that scripts build: Chromium without a network of its own, and the middleware that uses it."""
