"""Writing errors to the file that the launcher reads."""

from __future__ import annotations

import faulthandler
import json
import logging
import os
import sys
import time
import traceback
from typing import Any

__all__ = ["ErrorHandler"]

VARIABLE = "TORCHELASTIC_ERROR_FILE"
log = logging.getLogger(__name__)


class ErrorHandler:
    """Writes an exception as JSON: ``{"message": {"message": ..., "extraInfo": {"py_callstack", "timestamp"}}}``."""

    def _get_error_file_path(self) -> str | None:
        return os.environ.get(VARIABLE)

    def initialize(self) -> None:
        """Has Python print its stack when a signal such as SIGSEGV ends the process."""
        try:
            faulthandler.enable(all_threads=True)
        except (OSError, ValueError, AttributeError, RuntimeError):
            log.debug("no fault handler: stderr is no file")

    def record_exception(self, e: BaseException) -> None:
        """Writes ``e`` and its traceback to the error file, if one is named and holds nothing yet."""
        path = self._get_error_file_path()
        if not path:
            log.warning("%s is not set: the exception is not written to a file", VARIABLE)
            return
        stack = "".join(traceback.format_exception(type(e), e, e.__traceback__))
        info = {"py_callstack": stack, "timestamp": str(int(time.time()))}
        self._write({"message": {"message": f"{type(e).__name__}: {e}", "extraInfo": info}}, path)

    def override_error_code_in_rootcause_data(
        self, rootcause_error_file: str, rootcause_error: dict[str, Any], error_code: int = 0
    ) -> None:
        """Puts the exit code into a failure's data, if its message has a place for it."""
        if isinstance(rootcause_error.get("message"), dict):
            rootcause_error["message"]["errorCode"] = error_code

    def dump_error_file(self, rootcause_error_file: str, error_code: int = 0) -> None:
        """Writes a worker's error file as one's own, with the exit code where that is not 0."""
        with open(rootcause_error_file, encoding="utf-8") as file:
            data = json.load(file)
        if error_code:
            self.override_error_code_in_rootcause_data(rootcause_error_file, data, error_code)
        path = self._get_error_file_path()
        if not path:
            log.info("a worker failed: %s", json.dumps(data))
            return
        if os.path.exists(path):
            os.remove(path)
        self._write(data, path)

    def _write(self, data: dict[str, Any], path: str) -> None:
        try:
            if os.path.exists(path) and os.path.getsize(path):
                return  # the first failure is the cause
            with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
                json.dump(data, file)
        except OSError as error:
            print(f"taeda.distributed.elastic: {path} cannot be written: {error}", file=sys.stderr)


def record_uncaught() -> None:
    """From now on an exception that ends this process is written to the error file, too, unless `record` did."""
    show = sys.excepthook

    def write_and_show(kind: type[BaseException], value: BaseException, trace: Any) -> None:
        if issubclass(kind, Exception) and os.environ.get(VARIABLE):
            ErrorHandler().record_exception(value)
        show(kind, value, trace)

    sys.excepthook = write_and_show
