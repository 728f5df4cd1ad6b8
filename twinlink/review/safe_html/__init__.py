"""Pages of others, shown without harm: sanitised HTML and style sheets, with pictures from the archive."""
