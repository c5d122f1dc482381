"""A page that lives: the report of one or several stores, served over HTTP, which updates itself while trials run.

Nothing is written over HTTP, and nothing is read but the stores that were named: every address is made from the
server's own list of stores and from the ids of their trials.
"""

__all__ = ["cell_pair", "server", "state"]
