"""How fast the parts are: programs that a person starts and that print a table."""
