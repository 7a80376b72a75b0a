"""cuDNN: this build has none. The switches keep what they are told, for programs that set them wherever they run."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from taeda._main import precision

conv = precision.Precision("cuda", "conv")
rnn = precision.Precision("cuda", "rnn")
enabled = True
benchmark = False
benchmark_limit: int | None = None
deterministic = False


class _Switches(precision.Switches):
    _library = "cuda"

    @property
    def allow_tf32(self) -> bool:
        """Whether convolutions and recurrent networks may take TF32."""
        found = {part.fp32_precision == "tf32" for part in (conv, rnn)}
        if len(found) > 1:
            raise RuntimeError(
                "taeda.backends.cudnn.allow_tf32: conv.fp32_precision and rnn.fp32_precision differ; ask for these"
            )
        return found.pop()

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        for part in (conv, rnn):
            part.fp32_precision = "tf32" if allowed else precision.NONE


if TYPE_CHECKING:
    allow_tf32: bool
    fp32_precision: str
else:
    sys.modules[__name__].__class__ = _Switches


def is_available() -> bool:
    """Whether cuDNN can be used: no."""
    return False


def version() -> int | None:
    """The version of cuDNN: None."""
    return None


def is_acceptable(tensor: Any) -> bool:
    """Whether cuDNN could work on this tensor: no."""
    return False


@contextlib.contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = precision.NONE,
) -> Iterator[None]:
    """The switches set for a scope."""
    names = ("enabled", "benchmark", "benchmark_limit", "deterministic")
    wanted = {name: value for name, value in locals().items() if name in names}
    before = {name: globals()[name] for name in names}
    with precision.kept():
        globals().update(wanted)
        sys.modules[__name__].allow_tf32 = allow_tf32  # type: ignore[attr-defined]
        precision.set_flags("cuda", fp32_precision)
        try:
            yield
        finally:
            globals().update(before)


def _get_cudnn_enabled() -> bool:
    """The switch ``enabled``, by the name it has in ``torch._C``."""
    return enabled


def _set_cudnn_enabled(mode: bool) -> None:
    """Sets the switch ``enabled``."""
    global enabled
    enabled = mode
