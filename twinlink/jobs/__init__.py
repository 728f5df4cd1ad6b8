"""Jobs over several stages: mining from addresses to page pairs, and the discovery of sites.

Start with `twinlink.jobs.mine.mine_stages`, which runs crawl, ingest, match and report and skips what is done.

- mining: `mine`; a function per stage: `stages`; sources of a run, and whether a call may add to them: `origin`
- discovery: `discover`, the loop over sites; its parts are `probing` and `start_pages`
- text files without a run: `texts`
- calls from notebooks: `notebook`, with errors that name arguments (`python_words`)
"""
