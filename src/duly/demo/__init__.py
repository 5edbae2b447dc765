"""A box office to try duly on: a desk over SQLite, twelve customers, an agent that gives in, and a contract.

Run it with `python -m duly.demo`. It needs no key, no server and no network. Nothing in duly imports it.
"""
