"""Charts as SVG text, for the report, the review and site discovery.

Start with `charts`: `bars`, `stacks`, `histogram`, `lines` and `dumbbells` draw arrays, each with a text alternative.

- link graphs of a site: `facing` (arcs between two languages), `link_matrix` (dense sites)
- rounds of site discovery: `rounds`
- elements, scales and axes of all charts: `svg`
"""
