"""Charts as SVG text, for the report, the review and site discovery."""
