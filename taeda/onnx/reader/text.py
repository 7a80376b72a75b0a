"""Texts, and counts of their pieces."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import taeda
from taeda import Tensor
from taeda.onnx.reader.table import op
from taeda.onnx.reader.values import from_numpy, to_numpy


def _texts(x: Any) -> Any:
    return np.array([v.decode() if isinstance(v, bytes) else str(v) for v in np.ravel(x)], dtype=object).reshape(
        np.shape(x)
    )


@op("StringConcat")
def string_concat(a: Any, b: Any) -> Any:
    return np.asarray(_texts(a) + _texts(b), dtype=object)


@op("RegexFullMatch")
def regex_full_match(x: Any, *, pattern: str) -> Tensor:
    texts = _texts(x)
    found = np.array([re.fullmatch(pattern, v) is not None for v in texts.ravel()], dtype=bool)
    return from_numpy(found.reshape(texts.shape))


@op("StringSplit")
def string_split(x: Any, *, delimiter: str | None = None, maxsplit: int | None = None) -> Any:
    texts = _texts(x)
    most = -1 if maxsplit is None else maxsplit
    parts = [v.split(delimiter or None, most) for v in texts.ravel()]
    width = max((len(p) for p in parts), default=0)
    rows = np.array([[*p, *[""] * (width - len(p))] for p in parts], dtype=object).reshape((*texts.shape, width))
    counts = np.array([len(p) for p in parts], dtype=np.int64).reshape(texts.shape)
    return rows, from_numpy(counts)


@op("StringNormalizer")
def string_normalizer(x: Any, *, case_change_action: str = "NONE", is_case_sensitive: int = 0, locale: str = "",
                      stopwords: Any = None) -> Any:  # fmt: skip
    texts = _texts(x)
    stop = set(stopwords or []) if is_case_sensitive else {w.lower() for w in stopwords or []}
    change = {"LOWER": str.lower, "UPPER": str.upper}.get(case_change_action, str)

    def kept(row: Any) -> list[str]:
        return [change(v) for v in row if (v if is_case_sensitive else v.lower()) not in stop]

    rows = [kept(row) for row in (texts if texts.ndim == 2 else [texts])]
    rows = [row or [""] for row in rows]
    return np.array(rows if texts.ndim == 2 else rows[0], dtype=object)


@op("TfIdfVectorizer")
def tf_idf_vectorizer(
    x: Any,
    *,
    max_gram_length: int,
    max_skip_count: int,
    min_gram_length: int,
    mode: str,
    ngram_counts: Any,
    ngram_indexes: Any,
    pool_int64s: Any = None,
    pool_strings: Any = None,
    weights: Any = None,
) -> Tensor:
    array = to_numpy(x)
    pool = list(pool_int64s if pool_int64s is not None else pool_strings)
    grams: dict[tuple[Any, ...], int] = {}
    number, ends = 0, [*ngram_counts[1:], len(pool)]
    for n, (start, end) in enumerate(zip(ngram_counts, ends), 1):
        for at in range(start, end, n):
            grams[tuple(pool[at : at + n])] = number
            number += 1
    width = max(ngram_indexes) + 1
    rows = [_counted(row, grams, width, ngram_indexes, max_gram_length, max_skip_count, min_gram_length)
            for row in (array if array.ndim == 2 else [array])]  # fmt: skip
    counts = np.stack(rows) if rows else np.zeros((0, width))
    scale = np.ones(width)
    if weights is not None:
        for i, place in enumerate(ngram_indexes):
            scale[place] = weights[i]
    if mode == "TF":
        result = counts
    elif mode == "IDF":
        result = (counts > 0) * scale
    else:
        result = counts * scale
    return taeda.from_numpy(np.asarray(result if array.ndim == 2 else result[0], dtype=np.float32))


def _counted(
    row: Any, grams: dict[tuple[Any, ...], int], width: int, places: Any, most: int, skips: int, least: int
) -> Any:
    counts = np.zeros(width)
    values = row.tolist()
    for n in range(least, most + 1):
        for skip in range(1, skips + 2 if n > 1 else 2):
            for start in range(len(values) - (n - 1) * skip):
                found = grams.get(tuple(values[start : start + (n - 1) * skip + 1 : skip]))
                if found is not None:
                    counts[places[found]] += 1
    return counts
