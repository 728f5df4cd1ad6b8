"""Pages built by scripts, in Chromium without network access.

Start with `browser.Browser`; a `Visit` (`visit`) builds one page, and asks the crawler for each file that it loads.
`chromium` finds the browser. `twinlink.spiders.middlewares.page_builder` uses them.
"""
