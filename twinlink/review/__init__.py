"""The report of a run, and the local web application in which a reviewer accepts and rejects pairs.

- the report, one HTML file: `twinlink.review.report.stage.write_report`; its sections and charts: `report`, `charts`
- the application: start with `twinlink.review.server.review`; its routes, queue and security: `app`
- two pages side by side: `views`; pages of other sites, shown safely: `safe_html`
- the tables of a run, also while it is being mined: `reading`

The report must not import the web stack, so the package itself exports no names.
"""
