"""Runs a test file in a process of its own, which is started anew behind a test that ends it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent


class Options(NamedTuple):
    """How to run."""

    module: str = "taeda"
    match: str = ""
    timeout: float = 60  # seconds for a test
    strict_messages: bool = False  # the texts of errors and warnings must be PyTorch's


class Outcome:
    """What came of a file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.tests: dict[str, Any] = {}
        self.total: int | None = None
        self.fatal = ""
        self.seconds = 0.0

    def counts(self) -> Counter[str]:
        """How many tests ended in which way."""
        return Counter(test["status"] for test in self.tests.values())


class _Run:
    """The processes of one file."""

    def __init__(self, file: str, sources: Path, options: Options, folder: Path) -> None:
        self.outcome = Outcome(file)
        self.options = options
        self.folder = folder
        self.log = folder / "log"
        self.log.touch()
        self.read = 0
        self.next = 0
        self.borrow = sources / "torch" / "testing" / "_internal"
        self.command = [sys.executable, str(HERE / "worker.py"), "--module", options.module, "--file",
                        str(sources / "test" / file), "--borrow", str(self.borrow),
                        "--log", str(self.log), "--timeout", str(options.timeout),
                        "--match", options.match]  # fmt: skip

    def whole(self) -> Outcome:
        began = time.time()
        while self._once():
            pass
        self.outcome.seconds = time.time() - began
        return self.outcome

    def _once(self) -> bool:
        """Runs tests from the next one on; whether some are left."""
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        environment["PYTHONPATH"] = os.pathsep.join([str(HERE / "children"), str(HERE), str(HERE.parent.parent)])
        environment["PYTORCH_TESTS_MODULE"] = self.options.module
        environment["PYTORCH_TESTS_FILE"] = self.command[self.command.index("--file") + 1]
        environment["PYTORCH_TESTS_BORROW"] = str(self.borrow)
        environment["PYTORCH_TESTS_LAX_MESSAGES"] = str(int(not self.options.strict_messages))
        process = subprocess.Popen(
            [*self.command, "--start", str(self.next)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=environment, cwd=self.folder, start_new_session=True,
        )  # fmt: skip
        hung = self._wait(process)
        running, ended = self._take_events()
        if ended or self.outcome.fatal or self.outcome.total is None:
            if not ended and not self.outcome.fatal:
                self.outcome.fatal = f"the process ended with {process.returncode} before its first test"
            return False
        if running is None:  # between two tests
            running = {"start": self.next, "id": f"?{self.next}"}
        status, message = ("timeout", "killed") if hung else ("crash", f"exit status {process.returncode}")
        self.outcome.tests[running["id"]] = {"status": status, "message": message, "seconds": 0}
        self.next = running["start"] + 1
        return self.next < self.outcome.total

    def _wait(self, process: subprocess.Popen[bytes]) -> bool:
        """Waits for the process; one that has been silent for too long is ended, which the result says."""
        last, size = time.time(), self.log.stat().st_size
        while process.poll() is None:
            time.sleep(0.1)
            if (now := self.log.stat().st_size) != size:
                last, size = time.time(), now
            if time.time() - last > self.options.timeout * 1.5 + 60:
                os.killpg(process.pid, signal.SIGKILL)  # only the session that was started here
                process.wait()
                return True
        return False

    def _take_events(self) -> tuple[Any, bool]:
        """Reads what the process said; the test that it left unfinished, and whether it came to the end."""
        running, ended = None, False
        text = self.log.read_text()
        for line in text[self.read :].splitlines():
            event = json.loads(line)
            if "tests" in event:
                self.outcome.total = event["tests"]
            elif "fatal" in event:
                self.outcome.fatal = f"{event['fatal']}\n{event['where']}"
            elif "start" in event:
                running = event
            elif "done" in event:
                self.outcome.tests[event["id"]] = {key: event[key] for key in ("status", "message", "seconds")}
                running, self.next = None, event["done"] + 1
            else:
                ended = True
        self.read = len(text)
        return running, ended


def run_file(file: str, sources: Path, options: Options) -> Outcome:
    """Runs one file."""
    if not (sources / "test" / file).exists():
        outcome = Outcome(file)
        outcome.fatal = f"there is no {sources / 'test' / file}"
        return outcome
    with tempfile.TemporaryDirectory() as folder:
        return _Run(file, sources, options, Path(folder)).whole()
