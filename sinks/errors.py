"""What can go wrong in a sink: whether trying again can help is all that a caller has to know."""


class SinkError(Exception):
    """A sink could not do what it was asked."""


class RetriableSinkError(SinkError):
    """The server was away, busy or out of room: the same call may succeed later."""


class PermanentSinkError(SinkError):
    """The server understood and refused: the same call fails again."""


class MigrationError(PermanentSinkError):
    """The numbered migrations and what the database has applied do not fit together."""
