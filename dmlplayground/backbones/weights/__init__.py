"""Trained weights: where to get them (``homes``), how to read them (``formats``, ``namings``), and how to put them into a
network (``loading``, ``conversion``)."""
