"""The report of a run, and the local web application in which a reviewer accepts and rejects pairs.

- the report, one HTML file: `twinlink.review.report.stage.write_report`; its sections and charts: `report`, `charts`
- the application: `twinlink.review.server.review`; its routes, queue and security: `app`
- two pages side by side: `views`; pages of others, without harm: `safe_html`
- the tables of a run, quickly, also while it is being mined: `reading`

Both load no more of the web stack than they use, so the folder itself offers no names.
"""
