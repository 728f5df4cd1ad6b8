"""The verbs of the command line, one function each. `twinlink.cli` registers them; `twinlink.cli.app` has the help."""
