"""Where what workers print goes."""

from __future__ import annotations

import os
import re
import tempfile
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import IntFlag

__all__ = ["DefaultLogsSpecs", "LogsDest", "LogsSpecs", "Std", "to_map"]


class Std(IntFlag):
    """Streams: none, stdout, stderr, or both."""

    NONE = 0
    OUT = 1
    ERR = 2
    ALL = OUT | ERR

    @classmethod
    def from_str(cls, vm: str) -> Std | dict[int, Std]:
        """``"3"`` for all workers, or ``"0:1,1:2"`` by local rank.

        Raises:
            ValueError: it is neither.
        """
        if re.fullmatch(r"[0-3]", vm):
            return cls(int(vm))
        if re.fullmatch(r"\d+:[0-3](,\d+:[0-3])*", vm):
            return {int(rank): cls(int(std)) for rank, std in (one.split(":") for one in vm.split(","))}
        raise ValueError(
            "taeda.distributed.elastic.Std.from_str: 0, 1, 2 or 3 is wanted, or such a number by local rank as in "
            f"0:3,1:1; got {vm!r}"
        )


def to_map(val_or_map: Std | dict[int, Std], local_world_size: int) -> dict[int, Std]:
    """A setting for each local rank, from one for all or for some (`Std.NONE` for the others)."""
    if isinstance(val_or_map, Std):
        return dict.fromkeys(range(local_world_size), val_or_map)
    return {rank: val_or_map.get(rank, Std.NONE) for rank in range(local_world_size)}


@dataclass
class LogsDest:
    """By local rank: the files for each stream (``""``: the launcher's own), those to print from, and error files."""

    stdouts: dict[int, str] = field(default_factory=dict)
    stderrs: dict[int, str] = field(default_factory=dict)
    tee_stdouts: dict[int, str] = field(default_factory=dict)
    tee_stderrs: dict[int, str] = field(default_factory=dict)
    error_files: dict[int, str] = field(default_factory=dict)
    filtered_stdout: str = ""
    filtered_stderr: str = ""


class LogsSpecs(ABC):
    """What is wanted of logs.

    Args:
        log_dir: where files go.
        redirects: which streams go to files.
        tee: which go to files and the console.
        local_ranks_filter: whose output the console shows; everybody's by default.
    """

    def __init__(
        self,
        log_dir: str | None = None,
        redirects: Std | dict[int, Std] = Std.NONE,
        tee: Std | dict[int, Std] = Std.NONE,
        local_ranks_filter: set[int] | None = None,
    ) -> None:
        self._root_log_dir = log_dir
        self._redirects = redirects
        self._tee = tee
        self._local_ranks_filter = local_ranks_filter

    @abstractmethod
    def reify(self, envs: dict[int, dict[str, str]]) -> LogsDest:
        """The files for one attempt, told by the environments of its workers."""

    @property
    @abstractmethod
    def root_log_dir(self) -> str:
        """The folder of all."""


class DefaultLogsSpecs(LogsSpecs):
    """Files ``log_dir/RUN_ID_xxxx/attempt_N/LOCAL_RANK/{stdout.log, stderr.log, error.json}``, in a temporary folder
    without ``log_dir``."""

    def __init__(
        self,
        log_dir: str | None = None,
        redirects: Std | dict[int, Std] = Std.NONE,
        tee: Std | dict[int, Std] = Std.NONE,
        local_ranks_filter: set[int] | None = None,
    ) -> None:
        if log_dir is not None and log_dir != os.devnull:
            if os.path.exists(log_dir) and not os.path.isdir(log_dir):
                raise NotADirectoryError(f"taeda.distributed.elastic: log_dir is no folder: {log_dir}")
            os.makedirs(log_dir, exist_ok=True)
        super().__init__(None if log_dir == os.devnull else log_dir, redirects, tee, local_ranks_filter)
        self._run_log_dir: str | None = None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    @property
    def root_log_dir(self) -> str:
        return str(self._root_log_dir)

    def _make_log_dir(self, log_dir: str | None, rdzv_run_id: str) -> str:
        prefix = re.sub(r"[^\w.-]", "_", rdzv_run_id) + "_"
        if log_dir is not None:
            return tempfile.mkdtemp(prefix=prefix, dir=log_dir)
        self._temporary = tempfile.TemporaryDirectory(prefix="taeda_elastic_", ignore_cleanup_errors=True)
        return tempfile.mkdtemp(prefix=prefix, dir=self._temporary.name)

    def reify(self, envs: dict[int, dict[str, str]]) -> LogsDest:
        count = len(envs)
        if not count:
            return LogsDest()
        first = envs[0]
        if self._run_log_dir is None:
            self._run_log_dir = self._make_log_dir(self._root_log_dir, first.get("TORCHELASTIC_RUN_ID", "test_run_id"))
        folder = os.path.join(self._run_log_dir, f"attempt_{first.get('TORCHELASTIC_RESTART_COUNT', '0')}")
        tee, redirects = to_map(self._tee, count), to_map(self._redirects, count)
        shown = self._local_ranks_filter
        made = LogsDest(filtered_stdout=os.path.join(folder, "filtered_stdout.log"),
                        filtered_stderr=os.path.join(folder, "filtered_stderr.log"))  # fmt: skip
        for rank in range(count):
            own = os.path.join(folder, str(rank))
            os.makedirs(own, exist_ok=True)
            visible = shown is None or rank in shown
            kept = redirects[rank] | tee[rank]
            for std, name, files, tees in (
                (Std.OUT, "stdout", made.stdouts, made.tee_stdouts),
                (Std.ERR, "stderr", made.stderrs, made.tee_stderrs),
            ):
                files[rank] = os.path.join(own, f"{name}.log") if kept & std else "" if visible else os.devnull
                if tee[rank] & std and visible:
                    tees[rank] = files[rank]
            made.error_files[rank] = os.path.join(own, "error.json")
            envs[rank]["TORCHELASTIC_ERROR_FILE"] = made.error_files[rank]
        return made

    def __repr__(self) -> str:
        return (
            f"DefaultLogsSpecs(root_log_dir={self._root_log_dir}, redirects={self._redirects}, tee={self._tee}, "
            f"local_ranks_filter={self._local_ranks_filter})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DefaultLogsSpecs) and repr(self) == repr(other)
