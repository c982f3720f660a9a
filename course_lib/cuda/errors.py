"""The exceptions of this room, each a sentence for a person."""


class KernelError(RuntimeError):
    """A kernel could not be launched, or did something that a GPU would not survive. Names the kernel."""


class CompileError(KernelError):
    """The kernel's text did not compile. `.log` is the compiler's whole message, `.line` the first faulty line or None."""

    def __init__(self, message: str, log: str = "", line: int | None = None):
        super().__init__(message)
        self.log = log
        self.line = line
        self.in_entries = False  # the fault lies in the name that was asked for, not in the text


class ArgumentError(KernelError, TypeError, ValueError):
    """An argument does not fit its parameter; nothing was launched."""
