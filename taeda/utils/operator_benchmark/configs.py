"""The inputs of tests: a config is a list of one-entry dicts, an attribute with its value, and ``{"tags": tag}``."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence
from typing import Any

Config = list[dict[str, Any]]


def _tag(tags: Sequence[str] | None) -> dict[str, Any]:
    if not tags:
        raise ValueError("operator_benchmark: a config needs tags=['short'] or another tag to be found by")
    return {"tags": tags[0]}


def cross_product_configs(*, tags: Sequence[str], **attributes: Iterable[Any]) -> list[Config]:
    """A config for each combination of the attributes' values.

    Raises:
        ValueError: there is no tag.
    """
    tag = _tag(tags)
    values = [[{name: value} for value in each] for name, each in attributes.items()]
    return [[*chosen, tag] for chosen in itertools.product(*values)]


def config_list(
    *,
    attr_names: Sequence[str],
    attrs: Iterable[Sequence[Any]],
    tags: Sequence[str],
    cross_product_configs: dict[str, Iterable[Any]] | None = None,
) -> list[Config]:
    """A config for each row of ``attrs``, the values of ``attr_names``; times each combination of further attributes.

    Raises:
        ValueError: there is no tag, or a row has another length than the names.
    """
    tag = _tag(tags)
    further = [[{name: value} for value in each] for name, each in (cross_product_configs or {}).items()]
    configs = []
    for row in attrs:
        if len(row) != len(attr_names):
            raise ValueError(
                f"operator_benchmark.config_list: {list(attr_names)} needs as many values; got {list(row)}"
            )
        fixed = [{name: value} for name, value in zip(attr_names, row, strict=True)]
        configs += [[*fixed, *chosen, tag] for chosen in itertools.product(*further)]
    return configs


def attr_probs(**weights: Sequence[float]) -> dict[str, Sequence[float]]:
    """How likely each value of an attribute is, for `random_sample_configs`."""
    return weights


def random_sample_configs(
    *, total_samples: int, probs: dict[str, Sequence[float]], tags: Sequence[str], **attributes: Iterable[Any]
) -> list[Config]:
    """``total_samples`` configs drawn by the weights ``probs`` of the attributes' values; the same ones each time.

    Raises:
        ValueError: there is no tag, or an attribute has no weights.
    """
    tag = _tag(tags)
    if {*probs} != {*attributes}:
        raise ValueError(f"operator_benchmark.random_sample_configs: weights for {[*attributes]}; got {[*probs]}")
    draw = random.Random(0)
    return [
        [*({name: draw.choices(list(values), probs[name])[0]} for name, values in attributes.items()), tag]
        for _ in range(total_samples)
    ]


def op_list(*, attr_names: Sequence[str], attrs: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
    """Ops that share a test, a dict each: ``attr_names`` are ``op_name`` and ``op_func``, ``attrs`` their values."""
    return [dict(zip(attr_names, row, strict=True)) for row in attrs]
