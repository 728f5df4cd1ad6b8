"""The local web application in which a reviewer accepts and rejects pairs."""
