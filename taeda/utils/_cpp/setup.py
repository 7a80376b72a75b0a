"""setuptools' command that builds extensions: compiled side by side, and only what changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setuptools import Extension
from setuptools.command.build_ext import build_ext

from taeda.utils._cpp import compile as building
from taeda.utils._cpp import places


class BuildExtension(build_ext):
    """``cmdclass={"build_ext": BuildExtension}`` in a ``setup.py`` with ``CppExtension``s.

    Sources are compiled ``MAX_JOBS`` at a time. Of ``extra_compile_args``, a dict's ``"cxx"`` are taken.
    """

    @classmethod
    def with_options(cls, **options: Any) -> type[BuildExtension]:
        """The class with some of its options set: ``use_ninja`` (which is not needed), ``no_python_abi_suffix``."""

        class WithOptions(cls):  # type: ignore[valid-type,misc]
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                super().__init__(*args, **{**kwargs, **options})

        return WithOptions

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.use_ninja = kwargs.pop("use_ninja", False)
        self.no_python_abi_suffix = kwargs.pop("no_python_abi_suffix", False)
        super().__init__(*args, **kwargs)

    def build_extensions(self) -> None:
        """Builds all extensions of the package."""
        places.check_compiler()
        if hasattr(self.compiler, "src_extensions"):
            self.compiler.src_extensions += [".cxx", ".c++", ".CPP"]
        for extension in self.extensions:
            self._complete(extension)
        self.compiler.compile = self._compile
        super().build_extensions()

    def get_ext_filename(self, ext_name: str) -> str:
        """The file of an extension; without the version of Python where the options say so."""
        name = str(super().get_ext_filename(ext_name))
        if not self.no_python_abi_suffix:
            return name
        parts = name.split(".")
        return ".".join([*parts[:-2], parts[-1]]) if len(parts) > 2 else name

    def _complete(self, extension: Extension) -> None:
        given: Any = extension.extra_compile_args or []
        if isinstance(given, dict):
            if given.get("nvcc") and any(str(s).endswith(".cu") for s in extension.sources):
                raise RuntimeError(
                    f"{extension.name}: it has CUDA's sources, and this build of Taeda no CUDA: build the others as a "
                    "CppExtension where torch.cuda.is_available() is False"
                )
            given = list(given.get("cxx", []))
        name = extension.name.split(".")[-1]
        extension.extra_compile_args = [
            *places.with_standard(list(given)), *places.DEFINES, "-DTORCH_API_INCLUDE_EXTENSION_H",
            f"-DTORCH_EXTENSION_NAME={name}",
        ]  # fmt: skip

    def _compile(self, sources: list[str], output_dir: str | None = None, macros: Any = None, include_dirs: Any = None,
                 debug: int = 0, extra_preargs: Any = None, extra_postargs: Any = None, depends: Any = None
                 ) -> list[str]:  # fmt: skip
        """In place of the compiler's own, which compiles one after another."""
        compiler: Any = self.compiler
        macros, objects, after, before, build = compiler._setup_compile(
            output_dir, macros, include_dirs, sources, depends, extra_postargs
        )
        flags = compiler._get_cc_args(before, debug, extra_preargs)
        flags = [flag for flag in flags if flag != "-c"]
        jobs = []
        for made in objects:
            if made in build:
                source, suffix = build[made]
                command = compiler.compiler_so if suffix in (".c", ".m") else self._cxx()
                jobs.append(building.compilation([*command, *flags], Path(source), Path(made), after))
        building.run(jobs, verbose=bool(self.verbose))
        return list(objects)

    def _cxx(self) -> list[str]:
        compiler: Any = self.compiler
        chosen = getattr(compiler, "compiler_so_cxx", None)
        if chosen:
            return list(chosen)
        return [places.compiler(), *compiler.compiler_so[1:]]
