"""``SummaryWriter``: logs numbers, pictures, texts and more to files that TensorBoard shows."""

from __future__ import annotations

import itertools
import os
import socket
import time
import weakref
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NoReturn

from taeda.utils.tensorboard import _embedding, summary
from taeda.utils.tensorboard._convert import as_array, figure_as_rgb
from taeda.utils.tensorboard._wire import Message, message, record

_file_numbers = itertools.count()


class FileWriter:
    """One event file. Events are kept in memory until there are ``max_queue`` of them, or the oldest is ``flush_secs``
    seconds old when the next one comes, or `flush` is called."""

    def __init__(self, log_dir: Any, max_queue: int = 10, flush_secs: float = 120, filename_suffix: str = "") -> None:
        self._log_dir = os.fspath(log_dir)
        self._limits = max_queue, flush_secs
        os.makedirs(self._log_dir, exist_ok=True)
        name = f"{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{next(_file_numbers)}{filename_suffix}"
        self._file = open(os.path.join(self._log_dir, f"events.out.tfevents.{name}"), "ab")  # noqa: SIM115
        self._waiting: list[bytes] = []
        self._since = time.monotonic()
        # Also a program that never closes the writer finds all its events.
        self._finish = weakref.finalize(self, _write_and_close, self._file, self._waiting, os.getpid())
        self.add_event(message({3: "brain.Event:2"}))
        self.flush()

    def get_logdir(self) -> str:
        """The folder of the file."""
        return self._log_dir

    def add_event(self, event: Message, step: Any = None, walltime: float | None = None) -> None:
        """Adds an event of the given fields, a step and the time."""
        time_and_step = {
            1: float(time.time() if walltime is None else walltime),
            2: None if step is None else int(step),
        }
        self._waiting.append(record(message(time_and_step) + event))
        if len(self._waiting) >= self._limits[0] or time.monotonic() - self._since >= self._limits[1]:
            self.flush()

    def add_summary(self, summary: Message, global_step: Any = None, walltime: float | None = None) -> None:
        """Adds an event that holds ``summary``, a result of the functions in `taeda.utils.tensorboard.summary`."""
        self.add_event(message({5: summary}), global_step, walltime)

    def flush(self) -> None:
        """Writes what waits."""
        _write(self._file, self._waiting)
        self._file.flush()
        self._since = time.monotonic()

    def close(self) -> None:
        """Writes what waits and closes the file."""
        self._finish()


def _write(file: Any, waiting: list[bytes]) -> None:
    file.write(b"".join(waiting))
    waiting.clear()


def _write_and_close(file: Any, waiting: list[bytes], process: int) -> None:
    if os.getpid() == process:  # a forked process leaves its parent's events to the parent
        _write(file, waiting)
    file.close()


class SummaryWriter:
    """Logs to an event file in ``log_dir``.

    Every ``add_...`` takes ``global_step``, the position on the axis of steps, and ``walltime``, seconds since 1970,
    now by default. A writer is a context manager: leaving it closes it. Adding to a closed one opens a new file.

    Args:
        log_dir: by default ``runs/<date>_<time>_<host><comment>``, so that each run has its own.
        comment: the end of the default ``log_dir``.
        purge_step: TensorBoard forgets what earlier files in the folder hold from this step on.
        max_queue, flush_secs: how many events may wait for the disk, and for how long.
        filename_suffix: the end of the file's name.
    """

    def __init__(
        self, log_dir: Any = None, comment: str = "", purge_step: int | None = None, max_queue: int = 10,
        flush_secs: float = 120, filename_suffix: str = "",
    ) -> None:  # fmt: skip
        if not log_dir:
            now = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")
        self.log_dir = log_dir
        self.purge_step = purge_step
        self._settings = max_queue, flush_secs, filename_suffix
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self._get_file_writer()

    def _get_file_writer(self) -> FileWriter:
        if self.file_writer is None or self.all_writers is None:
            self.file_writer = FileWriter(self.log_dir, *self._settings)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                self.file_writer.add_event(message({7: message({1: 1})}), self.purge_step)  # a session starts
                self.purge_step = None
        return self.file_writer

    def _writer_at(self, folder: str) -> FileWriter:
        """The writer of another folder, made when it is first asked for."""
        self._get_file_writer()
        assert self.all_writers is not None
        if folder not in self.all_writers:
            self.all_writers[folder] = FileWriter(folder, *self._settings)
        return self.all_writers[folder]

    def _add(self, made: Message, global_step: Any, walltime: float | None) -> None:
        self._get_file_writer().add_summary(made, global_step, walltime)

    def get_logdir(self) -> str:
        """The folder of the event file."""
        return os.fspath(self.log_dir)

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: Any = None, walltime: float | None = None,
        new_style: bool = False, double_precision: bool = False,
    ) -> None:  # fmt: skip
        """One number: a Python number, or a tensor or array of one element."""
        self._add(summary.scalar(tag, scalar_value, new_style, double_precision), global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Several numbers for one chart. Each name has a folder and file of its own."""
        if not isinstance(tag_scalar_dict, Mapping):
            raise TypeError(f"SummaryWriter.add_scalars: wants a dictionary; got {type(tag_scalar_dict).__name__}")
        if not isinstance(main_tag, str):
            raise TypeError(f"SummaryWriter.add_scalars: wants a text as tag; got {type(main_tag).__name__}")
        walltime = time.time() if walltime is None else walltime
        for tag, value in tag_scalar_dict.items():
            folder = os.path.join(self.get_logdir(), f"{main_tag.replace('/', '_')}_{tag}")
            self._writer_at(folder).add_summary(summary.scalar(main_tag, value), global_step, walltime)

    def add_tensor(self, tag: str, tensor: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """All values of a tensor."""
        self._add(summary.tensor_proto(tag, tensor), global_step, walltime)

    def add_histogram(
        self, tag: str, values: Any, global_step: Any = None, bins: Any = "tensorflow", walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:  # fmt: skip
        """How often which values occur. ``bins``: a number of them, their limits, a rule of ``numpy.histogram``, or
        ``"tensorflow"`` for limits that grow by a tenth on both sides of zero."""
        bins = summary.default_bins() if isinstance(bins, str) and bins == "tensorflow" else bins
        self._add(summary.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(
        self, tag: str, min: Any, max: Any, num: Any, sum: Any, sum_squares: Any, bucket_limits: Any,
        bucket_counts: Any, global_step: Any = None, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """A histogram from its numbers; ``bucket_limits`` are the upper ones.

        Raises:
            ValueError: there are not as many limits as counts.
        """
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError(
                f"SummaryWriter.add_histogram_raw: {len(bucket_limits)} limits for {len(bucket_counts)} counts"
            )
        made = summary.histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts)
        self._add(made, global_step, walltime)

    def add_image(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:  # fmt: skip
        """A picture of bytes, or of floats from 0 to 1. ``dataformats`` names the dimensions: ``CHW``, ``HWC`` or
        ``HW``."""
        self._add(summary.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:  # fmt: skip
        """Several pictures of one size, shown as one, 8 in a row."""
        if isinstance(img_tensor, (list, tuple)):
            import numpy as np

            img_tensor = np.stack([as_array(picture) for picture in img_tensor])
        self._add(summary.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_figure(
        self, tag: str, figure: Any, global_step: Any = None, close: bool = True, walltime: float | None = None
    ) -> None:
        """A matplotlib figure, or a list of them of one size, drawn; ``close`` closes it."""
        picture = figure_as_rgb(figure, close)
        self._add(summary.image(tag, picture, "HWC" if picture.ndim == 3 else "NHWC"), global_step, walltime)

    def add_audio(
        self, tag: str, snd_tensor: Any, global_step: Any = None, sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """A mono sound from -1 to 1, of shape ``(L,)`` or ``(1, L)``."""
        self._add(summary.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None) -> None:
        """A text in Markdown."""
        self._add(summary.text(tag, text_string), global_step, walltime)

    def add_pr_curve(
        self, tag: str, labels: Any, predictions: Any, global_step: Any = None, num_thresholds: int = 127,
        weights: Any = None, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Precision and recall at each of up to 127 thresholds. ``predictions`` are probabilities."""
        self._add(summary.pr_curve(tag, labels, predictions, num_thresholds, weights), global_step, walltime)

    def add_pr_curve_raw(
        self, tag: str, true_positive_counts: Any, false_positive_counts: Any, true_negative_counts: Any,
        false_negative_counts: Any, precision: Any, recall: Any, global_step: Any = None, num_thresholds: int = 127,
        weights: Any = None, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Precision and recall from their numbers at each threshold."""
        made = summary.pr_curve_raw(
            tag, true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts, precision,
            recall, num_thresholds, weights,
        )  # fmt: skip
        self._add(made, global_step, walltime)

    def add_hparams(
        self, hparam_dict: Mapping[str, Any], metric_dict: Mapping[str, Any], hparam_domain_discrete: Any = None,
        run_name: str | None = None, global_step: Any = None,
    ) -> None:  # fmt: skip
        """The hyperparameters of a run and what came out, in the folder ``run_name`` below ``log_dir``.

        Raises:
            TypeError: an argument is no dict.
            ValueError: a hyperparameter is no number, bool or str.
        """
        made = summary.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self.get_logdir(), str(time.time()) if run_name is None else run_name)
        with SummaryWriter(folder) as writer:
            for one in made:
                writer._add(one, None, None)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    def add_embedding(
        self, mat: Any, metadata: Any = None, label_img: Any = None, global_step: Any = None, tag: str = "default",
        metadata_header: Any = None,
    ) -> None:  # fmt: skip
        """Points of a space, one a row of ``mat``, for the projector; ``metadata`` has a label, or a list of them, for
        each, and ``label_img`` a picture (``NCHW``).

        Raises:
            ValueError: there are not as many labels or pictures as points.
        """
        _embedding.write(self.get_logdir(), as_array(mat), metadata, label_img, global_step, tag, metadata_header)

    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> NoReturn:
        """Raises ``RuntimeError``: a graph of the model would have to be recorded."""
        raise RuntimeError(
            "SummaryWriter.add_graph: Taeda records no graphs of models yet; leave the call out, all else is logged"
        )

    def _for_all(self, action: Callable[[FileWriter], None]) -> None:
        for writer in (self.all_writers or {}).values():
            action(writer)

    def flush(self) -> None:
        """Writes what waits to the disk."""
        self._for_all(FileWriter.flush)

    def close(self) -> None:
        """Writes what waits and closes the files."""
        self._for_all(FileWriter.close)
        self.file_writer = self.all_writers = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
