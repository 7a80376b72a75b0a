"""Summaries: what an event holds, as the bytes of the message that it is in TensorBoard's format."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

import taeda
from taeda.utils.tensorboard._convert import as_array, as_png, as_rgb, as_wav
from taeda.utils.tensorboard._wire import Message, Packed, PackedSingles, Single, message

# The numbers are those of the fields in summary.proto, tensor.proto and the plugins' files.
_FLOAT, _DOUBLE, _STRING = 1, 2, 7
_TYPE_STRING, _TYPE_BOOL, _TYPE_NUMBER = 1, 2, 3


def _summary(tag: str, **value: Any) -> Message:
    numbers = {"simple_value": 2, "image": 4, "histogram": 5, "audio": 6, "tensor": 8, "metadata": 9}
    return message({1: message({1: tag} | {numbers[name]: one for name, one in value.items()})})


def _plugin(name: str, content: bytes = b"") -> Message:
    return message({1: message({1: name, 2: content or None})})


def _tensor(dtype: int, shape: tuple[int, ...], **values: Any) -> Message:
    sizes = message({2: [message({1: size}) for size in shape]})
    return message({1: dtype, 2: sizes} | {{"floats": 5, "doubles": 6, "strings": 8}[k]: v for k, v in values.items()})


def scalar(name: str, tensor: Any, new_style: bool = False, double_precision: bool = False) -> Message:
    """One number, in single precision; in the new style it may be in double precision.

    Raises:
        AssertionError: ``tensor`` holds several.
    """
    array = as_array(tensor).squeeze()
    if array.ndim:
        raise AssertionError(f"SummaryWriter.add_scalar: wants one number; got shape {array.shape}")
    value = float(array)
    if not new_style:
        return _summary(name, simple_value=Single(value))
    if double_precision:
        tensor = _tensor(_DOUBLE, (), doubles=Packed([value]))
    else:
        tensor = _tensor(_FLOAT, (), floats=PackedSingles([value]))
    return _summary(name, tensor=tensor, metadata=_plugin("scalars"))


def tensor_proto(tag: str, tensor: Any) -> Message:
    """All values of a tensor, in single precision, or in double precision if it has that."""
    array = as_array(tensor)
    shape = tuple(getattr(tensor, "shape", np.shape(tensor)))
    values: dict[str, Any] = {"floats": PackedSingles(array.ravel().tolist())}
    if array.dtype == np.float64:
        values = {"doubles": Packed(array.ravel().tolist())}
    kind = _DOUBLE if "doubles" in values else _FLOAT
    return _summary(tag, tensor=_tensor(kind, shape, **values), metadata=_plugin("tensor"))


def default_bins() -> np.ndarray[Any, Any]:
    """Limits that grow by a tenth, from 1e-12 to 1e20 on both sides of zero."""
    count = int(np.ceil(np.log(1e20 / 1e-12) / np.log(1.1)))
    positive = np.multiply.accumulate(np.full(count, 1.1)) / 1.1 * 1e-12
    return np.concatenate([-positive[::-1], [0.0], positive])


def histogram(name: str, values: Any, bins: Any, max_bins: int | None = None) -> Message:
    """How many values lie in each of the ``bins``: a number of them, their limits, or a rule of ``numpy.histogram``.

    Raises:
        ValueError: there are no values.
    """
    array = as_array(values).ravel().astype(float)
    if array.size == 0:
        raise ValueError("SummaryWriter.add_histogram: there are no values")
    counts, limits = np.histogram(array, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        step = -(-len(counts) // max_bins)
        counts = np.add.reduceat(counts, np.arange(0, len(counts), step))
        limits = np.append(limits[:-1:step], limits[-1])
    used = np.flatnonzero(counts)
    if used.size == 0:
        raise ValueError("SummaryWriter.add_histogram: no value lies within the bins")
    # One empty bucket before the first: it says where that one begins.
    first, last = int(used[0]), int(used[-1]) + 1
    return histogram_raw(
        name, array.min(), array.max(), array.size, array.sum(), array.dot(array), limits[first : last + 1],
        np.concatenate([[0], counts[first:last]]),
    )  # fmt: skip


def histogram_raw(
    name: str, min: Any, max: Any, num: Any, sum: Any, sum_squares: Any, bucket_limits: Any, bucket_counts: Any
) -> Message:
    """A histogram from its numbers; ``bucket_limits`` are the upper ones."""
    fields = [float(one) for one in (min, max, num, sum, sum_squares)]
    buckets = {6: Packed(map(float, bucket_limits)), 7: Packed(map(float, bucket_counts))}
    return _summary(name, histogram=message(dict(enumerate(fields, 1)) | buckets))


def image(tag: str, tensor: Any, dataformats: str = "NCHW") -> Message:
    """A picture, or several as one."""
    picture = as_rgb(tensor, dataformats)
    height, width, channels = picture.shape
    return _summary(tag, image=message({1: height, 2: width, 3: channels, 4: as_png(picture)}))


def audio(tag: str, tensor: Any, sample_rate: int = 44100) -> Message:
    """A sound from -1 to 1."""
    encoded, frames, channels = as_wav(tensor, sample_rate)
    fields = {1: Single(sample_rate), 2: channels, 3: frames, 4: encoded, 5: "audio/wav"}
    return _summary(tag, audio=message(fields))


def text(tag: str, text: str) -> Message:
    """A text, which TensorBoard reads as Markdown."""
    return _summary(f"{tag}/text_summary", tensor=_tensor(_STRING, (1,), strings=[text]), metadata=_plugin("text"))


def pr_curve(tag: str, labels: Any, predictions: Any, num_thresholds: int = 127, weights: Any = None) -> Message:
    """Precision and recall of ``predictions`` from 0 to 1 against ``labels``, at each of the thresholds."""
    count = min(num_thresholds, 127)  # what TensorBoard takes
    truth, scores = as_array(labels).ravel(), as_array(predictions).ravel()
    weight = np.ones(scores.shape) if weights is None else as_array(weights).ravel()
    bucket = np.floor(scores * (count - 1)).astype(int)

    def at_least(which: Any) -> Any:
        return np.bincount(bucket, weight * which, count)[::-1].cumsum()[::-1]

    tp, fp = at_least(truth), at_least(1.0 - truth)
    tn, fn = fp[0] - fp, tp[0] - tp
    tiny = 1e-7
    return pr_curve_raw(tag, tp, fp, tn, fn, tp / np.maximum(tiny, tp + fp), tp / np.maximum(tiny, tp + fn), count)


def pr_curve_raw(
    tag: str, tp: Any, fp: Any, tn: Any, fn: Any, precision: Any, recall: Any, num_thresholds: int = 127,
    weights: Any = None,
) -> Message:  # fmt: skip
    """A curve of precision and recall from its numbers at each threshold."""
    rows = np.stack([as_array(row).ravel() for row in (tp, fp, tn, fn, precision, recall)])
    tensor = _tensor(_FLOAT, rows.shape, floats=PackedSingles(rows.ravel().tolist()))
    return _summary(tag, tensor=tensor, metadata=_plugin("pr_curves", message({2: min(num_thresholds, 127)})))


def _value(value: Any) -> tuple[Message, int]:
    """A hyperparameter as the message for it, and the number of its type."""
    if isinstance(value, bool):
        return message({4: value}), _TYPE_BOOL
    if isinstance(value, (int, float)):
        return message({2: float(value)}), _TYPE_NUMBER
    if isinstance(value, str):
        return message({3: value}), _TYPE_STRING
    if isinstance(value, taeda.Tensor):
        return message({2: float(value)}), _TYPE_NUMBER
    raise ValueError(
        f"SummaryWriter.add_hparams: a hyperparameter is a number, bool, str or a tensor of one number; got "
        f"{type(value).__name__}"
    )


def hparams(
    hparam_dict: Mapping[str, Any], metric_dict: Mapping[str, Any], hparam_domain_discrete: Any = None
) -> tuple[Message, Message, Message]:
    """Three summaries: which hyperparameters and metrics there are; that a session with these values begins; that it
    ended well.

    Raises:
        TypeError: an argument is no mapping, or a domain does not fit its hyperparameter.
        ValueError: a value of a type that cannot be shown.
    """
    given_domains = {} if hparam_domain_discrete is None else hparam_domain_discrete
    arguments = {
        "hparam_dict": hparam_dict, "metric_dict": metric_dict, "hparam_domain_discrete": given_domains
    }  # fmt: skip
    for name, argument in arguments.items():
        if not isinstance(argument, Mapping):
            raise TypeError(f"SummaryWriter.add_hparams: {name} must be a dict; got {type(argument).__name__}")
    domains = _checked_domains(hparam_dict, given_domains)
    values = {name: _value(value) for name, value in hparam_dict.items() if value is not None}
    infos = [message({1: name, 4: kind, 5: domains.get(name)}) for name, (_, kind) in values.items()]
    metrics = [message({1: message({2: name})}) for name in metric_dict]
    session = [message({1: name, 2: encoded}) for name, (encoded, _) in values.items()]
    return (
        _summary("_hparams_/experiment", metadata=_plugin("hparams", message({2: message({4: infos, 5: metrics})}))),
        _summary(
            "_hparams_/session_start_info",
            metadata=_plugin("hparams", message({3: message({1: session, 5: time.time()})})),
        ),
        _summary(
            "_hparams_/session_end_info", metadata=_plugin("hparams", message({4: message({1: 1, 2: time.time()})}))
        ),
    )


def _checked_domains(hparam_dict: Mapping[str, Any], domains: Mapping[str, Any]) -> dict[str, Message]:
    for name, values in domains.items():
        kind = type(hparam_dict.get(name))
        if name not in hparam_dict or not isinstance(values, list) or not all(isinstance(v, kind) for v in values):
            raise TypeError(
                f"SummaryWriter.add_hparams: hparam_domain_discrete[{name!r}] must be a list of values like the "
                f"hyperparameter; got {values!r}"
            )
    return {name: message({1: [_value(value)[0] for value in values]}) for name, values in domains.items()}
