"""Trained weights: where to get them (``sources``), how to read them (``formats``, ``parameter_names``), and how to put them
into a network (``loading``, ``conversion``)."""
