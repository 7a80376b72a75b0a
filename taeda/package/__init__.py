"""Packages: models in one file with the Python code they need.

`PackageExporter` writes them, `PackageImporter` runs what is in them apart from what the process has imported. The
files are PyTorch's: they go both ways.
"""

from __future__ import annotations

from taeda.package.analyze.is_from_package import is_from_package
from taeda.package.file_structure_representation import Directory
from taeda.package.glob_group import GlobGroup
from taeda.package.importer import Importer, ObjMismatchError, ObjNotFoundError, OrderedImporter, sys_importer
from taeda.package.package_exporter import EmptyMatchError, PackageExporter, PackagingError
from taeda.package.package_importer import PackageImporter

__all__ = [
    "Directory",
    "EmptyMatchError",
    "GlobGroup",
    "Importer",
    "ObjMismatchError",
    "ObjNotFoundError",
    "OrderedImporter",
    "PackageExporter",
    "PackageImporter",
    "PackagingError",
    "is_from_package",
    "sys_importer",
]
