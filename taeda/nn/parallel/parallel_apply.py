"""Modules run at the same time, each in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import taeda

__all__ = ["parallel_apply"]


def parallel_apply(
    modules: Sequence[Any], inputs: Sequence[Any], kwargs_tup: Sequence[Any] | None = None, devices: Any = None
) -> list[Any]:
    """The results of each module with its input (a tuple of arguments, or one), in their order.

    An exception of one is raised here once all are done.
    """
    count = len(modules)
    if len(inputs) != count:
        raise AssertionError(f"taeda.nn.parallel.parallel_apply: {count} modules but {len(inputs)} inputs")
    named = kwargs_tup if kwargs_tup is not None else [{}] * count
    results: list[Any] = [None] * count
    errors: list[Exception | None] = [None] * count
    recording = taeda.is_grad_enabled()

    def work(i: int) -> None:
        try:
            given = inputs[i] if isinstance(inputs[i], (tuple, list)) else (inputs[i],)
            with taeda.set_grad_enabled(recording):
                results[i] = modules[i](*given, **named[i])
        except Exception as error:
            errors[i] = error

    threads = [threading.Thread(target=work, args=(i,)) for i in range(count if count > 1 else 0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if count == 1:
        work(0)
    for error in errors:
        if error is not None:
            raise error
    return results
