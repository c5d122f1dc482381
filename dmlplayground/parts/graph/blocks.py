"""What is done to a whole block of Gluon; this needs no MXNet."""


def ready(block):
    """A block that has its weights. Gluon warns for each parameter if ``initialize`` is called again; here that does
    nothing, unless ``force_reinit`` asks for new weights."""
    initialize = block.initialize

    def again(*arguments, force_reinit: bool = False, **named) -> None:
        if force_reinit:
            initialize(*arguments, force_reinit=True, **named)

    block.initialize = again
    return block
