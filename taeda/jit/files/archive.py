"""The zip archive of a compiled program: the records of a checkpoint, of which text may be compressed."""

from __future__ import annotations

from taeda._serialization.archive import ArchiveWriter, Damaged
from taeda._serialization.deflated import DeflatedReader

FORMAT_VERSION = 10  # ops have the meaning that they have now: readers convert nothing
_NEWEST_VERSION = FORMAT_VERSION


class ProgramReader(DeflatedReader):
    """Finds and checks the records of an archive with a program.

    Raises:
        RuntimeError: the archive is damaged, encrypted, or holds no program.
    """

    def _check_kind(self) -> None:
        if not self.has("constants.pkl"):
            raise RuntimeError(
                "taeda.jit.load: this archive holds no program; if it is a checkpoint, open it with taeda.load"
            )

    def check_version(self) -> int:
        """The version of the format.

        Raises:
            RuntimeError: it is none that is known.
        """
        text = self.read("version") if self.has("version") else self.read(".data/version")
        digits = text.strip()
        if not digits.isdigit() or not 1 <= int(digits[:9]) <= _NEWEST_VERSION:
            raise RuntimeError(
                f"taeda.jit.load: the archive says that its version is {digits[:20]!r}; known are 1 to "
                f"{_NEWEST_VERSION}. It is damaged, or of a PyTorch later than 2.13"
            )
        return int(digits)

    def text(self, name: str) -> str:
        """A record as text."""
        try:
            return self.read(name).decode()
        except UnicodeDecodeError as error:
            raise Damaged(f"record {name!r} is no text ({error})") from error


class ProgramWriter(ArchiveWriter):
    """Writes the records of an archive with a program."""

    def __init__(self, file: object, folder: str) -> None:
        super().__init__(file, folder, True, FORMAT_VERSION)  # type: ignore[arg-type]
