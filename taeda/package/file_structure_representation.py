"""What files a package holds, as a tree."""

from __future__ import annotations

from taeda.package.glob_group import GlobGroup, GlobPattern


class Directory:
    """A file or folder of a package.

    Attributes:
        name: its own name.
        is_dir: whether it is a folder.
        children: what is in it, by name.
    """

    def __init__(self, name: str, is_dir: bool) -> None:
        self.name = name
        self.is_dir = is_dir
        self.children: dict[str, Directory] = {}

    def _add_file(self, file_path: str) -> None:
        """Adds the file at a path below this folder, with the folders on the way."""
        *folders, file = file_path.split("/")
        place = self
        for folder in folders:
            place = place.children.setdefault(folder, Directory(folder, True))
        if file:
            place.children[file] = Directory(file, False)

    def has_file(self, filename: str) -> bool:
        """Whether there is a file or folder at a path below this one."""
        place: Directory | None = self
        for part in filename.split("/"):
            place = place.children.get(part) if place is not None else None
        return place is not None

    def __str__(self) -> str:
        return "\n".join([f"─── {self.name}", *self._lines("    "), ""])

    def _lines(self, indent: str) -> list[str]:
        """A line for each file below, folders first."""
        lines = []
        inner = sorted(self.children.values(), key=lambda child: (not child.is_dir, child.name))
        for child in inner:
            last = child is inner[-1]
            lines.append(f"{indent}{'└' if last else '├'}── {child.name}")
            lines += child._lines(indent + ("    " if last else "│   "))
        return lines


def _create_directory_from_file_list(
    filename: str, file_list: list[str], include: GlobPattern = "**", exclude: GlobPattern = ()
) -> Directory:
    """The tree of those files that the patterns choose, under the name of the package."""
    root = Directory(filename, True)
    chosen = GlobGroup(include, exclude=exclude, separator="/")
    for file in file_list:
        if chosen.matches(file):
            root._add_file(file)
    return root
