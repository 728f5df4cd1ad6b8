"""The verbs of the command line, one function each. `twinlink.cli` registers them; `twinlink.cli.app` has the help.

Each function declares its options (`twinlink.cli.options` has those that verbs share), calls a stage or a job, and
passes a record of `twinlink.cli.results` to `print_result`. `export.export` is a short example.
"""
