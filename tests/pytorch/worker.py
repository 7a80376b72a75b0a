"""Runs one of PyTorch's test files with the module under test as ``torch``. Each event is a line of JSON in ``--log``,
so that a crash is known for what it is."""

from __future__ import annotations

import argparse
import faulthandler
import importlib.util
import json
import os
import re
import signal
import sys
import time
import traceback
import unittest
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import stand_ins

# What some files want to be told.
ENVIRONMENT = {"test_distributed_spawn.py": {"BACKEND": "gloo", "WORLD_SIZE": "3", "TEMP_DIR": "."}}
RANK = ["passed", "skipped", "xfailed", "failed", "error", "timeout"]


class TestTimeout(BaseException):
    """A test took too long."""


class Result(unittest.TestResult):
    """Tells of each test: that it starts, and how it ended."""

    def __init__(self, emit: Callable[[dict[str, Any]], None], timeout: float, start: int) -> None:
        super().__init__()
        self.emit, self.timeout, self.index = emit, timeout, start
        self.status: str | None = None
        self.message = ""

    def startTest(self, test: Any) -> None:
        super().startTest(test)
        self.status, self.message, self.began = None, "", time.time()
        self.emit({"start": self.index, "id": name_of(test)})
        signal.setitimer(signal.ITIMER_REAL, self.timeout)

    def stopTest(self, test: Any) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        super().stopTest(test)
        event = {"done": self.index, "id": name_of(test), "status": self.status or "passed", "message": self.message}
        self.emit(event | {"seconds": round(time.time() - self.began, 3)})
        self.index += 1

    def tell(self, status: str, error: Any = None) -> None:
        """The worst that a test did is its status."""
        if self.status is None or RANK.index(status) > RANK.index(self.status):
            self.status = status
            if error:
                self.message = _described(error)

    def addError(self, test: Any, error: Any) -> None:
        self.tell("timeout" if issubclass(error[0], TestTimeout) else "error", error)

    def addFailure(self, test: Any, error: Any) -> None:
        self.tell("failed", error)

    def addSkip(self, test: Any, reason: Any) -> None:
        self.tell("skipped")
        self.message = str(reason)

    def addExpectedFailure(self, test: Any, error: Any) -> None:
        self.tell("xfailed")

    def addUnexpectedSuccess(self, test: Any) -> None:
        self.tell("failed")
        self.message = "unexpected success"

    def addSubTest(self, test: Any, subtest: Any, error: Any) -> None:
        if error is not None:
            self.tell("failed" if issubclass(error[0], AssertionError) else "error", error)


def _described(error: Any) -> str:
    """The exception, and the lines of the test and of where it was raised."""
    text = "".join(traceback.format_exception_only(error[0], error[1])).strip()[-2000:]
    frames = traceback.extract_tb(error[2])
    shown = [frame for frame in frames if "/test/" in frame.filename][-1:] + frames[-1:]
    places = (f"{Path(frame.filename).name}:{frame.lineno} `{(frame.line or '')[:120]}`" for frame in shown)
    return f"{text} @ {' < '.join(places)}"


def name_of(test: Any) -> str:
    """Class and method."""
    return f"{type(test).__name__}.{getattr(test, '_testMethodName', test)}"


def flatten(suite: Any) -> Iterator[Any]:
    """The tests of a suite and its suites."""
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flatten(item)
        else:
            yield item


def load(file: Path, candidate: str) -> Any:
    """The test file as a module. A name that the candidate lacks costs the tests that use it, not the file."""
    sys.argv = [str(file)]
    for again in range(60):
        spec: Any = importlib.util.spec_from_file_location(file.stem, file)
        module = sys.modules[file.stem] = importlib.util.module_from_spec(spec)
        stand_ins.importing = True
        try:
            with stand_ins.lenient_script(), stand_ins.known_ops(again > 0):
                spec.loader.exec_module(module)
            return module
        except (ImportError, AttributeError) as error:
            if not _supply(str(error), candidate):
                raise
        finally:
            stand_ins.importing = False
    raise ImportError(f"{file} asks for too much")


def _supply(error: str, candidate: str) -> bool:
    """Makes up the name that an error misses; whether it could."""
    imported = re.match(r"cannot import name '(\w+)' from '([\w.]+)'", error)
    asked = re.match(r"module '([\w.]+)' has no attribute '(\w+)'", error)
    if below := re.match(r"No module named '([\w.]+)'.* is not a package", error):
        sys.modules[below[1].rpartition(".")[0]].__path__ = []
        return True
    op = re.match(r"there is no op \w+\.ops\.(\w+)\.(\w+)", error)
    if op := op or re.match(r"\w+\.ops\.(\w+) has no attribute '(\w+)'", error):
        namespace = getattr(sys.modules[candidate].ops, op[1])  # type: ignore[attr-defined]
        setattr(namespace, op[2], stand_ins.Absent(f"torch.ops.{op[1]}.{op[2]}"))
        return True
    form = re.match(r"\w+\.ops\.(\w+)\.(\w+) has no overload '(\w+)'", error)
    if form := form or re.match(r"The underlying op of '(\w+)\.(\w+)' has no overload name '(\w+)'", error):
        packet = getattr(getattr(sys.modules[candidate].ops, form[1]), form[2])  # type: ignore[attr-defined]
        setattr(packet, form[3], stand_ins.Absent(f"torch.ops.{form[1]}.{form[2]}.{form[3]}"))
        return True
    if not imported and not asked:
        return False
    where, name = (imported[2], imported[1]) if imported else (asked[1], asked[2])  # type: ignore[index]
    module = sys.modules.get(where) or sys.modules.get(where.replace("torch", candidate, 1))
    if module is None:
        return False
    whole = f"{where}.{name}"
    setattr(module, name, stand_ins.fallback(where, name) if imported else stand_ins.Absent(whole))
    return True


def collect(module: Any, match: str) -> list[Any]:
    """The tests that unittest would find in the file, whichever module defines their class."""
    tests: list[Any] = []
    for name, value in sorted(vars(module).items()):
        is_case = isinstance(value, type) and issubclass(value, unittest.TestCase) and name == value.__name__
        if is_case and not hasattr(value, "stands_in"):
            tests += flatten(unittest.TestLoader().loadTestsFromTestCase(value))
    return [t for t in tests if re.search(match, name_of(t)) and "_ModuleImportFailure" not in type(t).__name__]


def run(tests: list[Any], result: Result, torch: Any) -> None:
    """Each test, with its class's fixtures, and with torch's default dtype restored after it."""
    current: Any = None
    for test in tests[result.index :]:
        if type(test) is not current:
            for owner, fixture in ((current, "tearDownClass"), (type(test), "setUpClass")):
                try:
                    if owner is not None:
                        getattr(owner, fixture)()
                except Exception:  # the tests will say so
                    pass
            current = type(test)
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            try:
                test.run(result)
            except TestTimeout:
                result.tell("timeout")
                result.stopTest(test)
        if torch.get_default_dtype() != torch.float32:
            torch.set_default_dtype(torch.float32)


def _leave_words_open() -> None:
    """Plain unittest, too, takes errors and warnings of any words."""
    for name in ("assertRaisesRegex", "assertWarnsRegex"):
        plain = getattr(unittest.TestCase, name)

        def anyhow(self: Any, kind: Any, words: Any, *args: Any, plain: Any = plain, **kwargs: Any) -> Any:
            return plain(self, kind, "", *args, **kwargs)

        setattr(unittest.TestCase, name, anyhow)


def _settle_hypothesis() -> None:
    """The same examples each time, and none too slow."""
    import hypothesis

    hypothesis.settings.register_profile(
        "same", derandomize=True, deadline=None, database=None, max_examples=10,
        suppress_health_check=list(hypothesis.HealthCheck),
    )  # fmt: skip
    hypothesis.settings.load_profile("same")


def _time_out(*_: object) -> None:
    raise TestTimeout("the test took too long")


def main() -> int:
    parser = argparse.ArgumentParser()
    for name in ("--module", "--file", "--log", "--borrow"):
        parser.add_argument(name, required=True)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--match", default="")
    options = parser.parse_args()
    log = open(options.log, "a", buffering=1)  # noqa: SIM115

    def emit(event: dict[str, Any]) -> None:
        log.write(json.dumps(event) + "\n")

    faulthandler.enable()
    signal.signal(signal.SIGALRM, _time_out)
    os.environ["PYTORCH_TEST_WITH_SLOW"] = "0"
    file = Path(options.file).resolve()
    os.environ |= ENVIRONMENT.get(file.name, {})
    _settle_hypothesis()
    if os.environ.get("PYTORCH_TESTS_LAX_MESSAGES") == "1":
        _leave_words_open()
    try:
        torch = stand_ins.install(options.module, Path(options.borrow))
        torch.set_num_threads(1)
        for folder in file.parents:
            sys.path.insert(1, str(folder))
            if folder.name == "test":
                break
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tests = collect(load(file, options.module), options.match)
    except BaseException as error:
        emit({"fatal": f"{type(error).__name__}: {error}"[:600], "where": traceback.format_exc(limit=-4)[-1500:]})
        return 3
    emit({"tests": len(tests)})
    run(tests, Result(emit, options.timeout, options.start), torch)
    emit({"end": True})
    log.flush()
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
