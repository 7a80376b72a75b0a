"""``python -m taeda.distributed.launch``: `taeda.distributed.run` as it was called before: the script gets its local
rank as the argument ``--local-rank``, unless ``--use-env`` is given."""

from __future__ import annotations

from typing import Any

from taeda.distributed.run import console, get_args_parser, run

__all__ = ["launch", "main", "parse_args"]


def parse_args(args: list[str] | None = None) -> Any:
    """The arguments as a namespace."""
    parser = get_args_parser()
    parser.add_argument(
        "--use-env", "--use_env", default=False, action="store_true",
        help="the script reads LOCAL_RANK instead of --local-rank",
    )  # fmt: skip
    return parser.parse_args(args)


def launch(args: Any) -> None:
    """Launches what `parse_args` gave."""
    if args.no_python and not args.use_env:
        raise ValueError("taeda.distributed.launch: --no-python needs --use-env: only a script is told its local rank")
    run(args)


def main(args: list[str] | None = None) -> None:
    """Launches; see `taeda.distributed.run.main`."""
    launch(parse_args(args))


if __name__ == "__main__":
    console(main)
