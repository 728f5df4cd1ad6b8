"""The local web application in which a reviewer accepts and rejects pairs.

Start with `app.make_app`, which puts the routes together; `serve.serve` answers requests on this machine only.

- routes: `routes_queue`, `routes_pair`, `routes_labels`, `routes_live`, `routes_graph`, `routes_files`
- what they share: `answers` (state, forms, answers), `listing` (pairs with their labels), `filters`
- shown beside a pair: `evidence`; beside a running job: `pace`, `watch`
- access control: `security`
"""
