"""What PyTorch keeps in ``torch._awaits``."""

from taeda.jit._awaits import _Await as _Await
