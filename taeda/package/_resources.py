"""Files of a package for ``importlib.resources``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.resources.abc import ResourceReader
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from taeda.package.package_importer import PackageImporter


class PackageResourceReader(ResourceReader):
    """What stands beside the modules of one package of an importer.

    Args:
        importer: of the file.
        fullname: the package.
    """

    def __init__(self, importer: PackageImporter, fullname: str) -> None:
        self._importer, self._package = importer, fullname
        self._folder = fullname.replace(".", "/") + "/"

    def open_resource(self, resource: str) -> BytesIO:
        """The file, open for reading."""
        return BytesIO(self._importer.load_binary(self._package, resource))

    def resource_path(self, resource: str) -> str:
        """Where the file is, in a package that was unpacked; FileNotFoundError in one that was not."""
        folder = getattr(self._importer.zip_reader, "directory", None)
        if folder is None:
            raise FileNotFoundError(f"{self._folder}{resource} is within an archive; open it with open_resource")
        return os.path.join(folder, self._folder + resource)

    def is_resource(self, name: str) -> bool:
        """Whether there is a file of that name, which is no folder."""
        return self._importer.zip_reader.has_record(self._folder + name)

    def contents(self) -> Iterator[str]:
        """The names of files and folders."""
        below = (n.removeprefix(self._folder) for n in self._importer.zip_reader.get_all_records()
                 if n.startswith(self._folder))  # fmt: skip
        yield from dict.fromkeys(name.partition("/")[0] for name in below)
