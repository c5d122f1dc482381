"""A live page: the report of one or more stores, served over HTTP, which updates itself while trials run.

Nothing can be written over HTTP, and nothing but the given stores can be read: addresses are made only from the
server's list of stores and from the ids of their trials.
"""

__all__ = ["server", "state"]
