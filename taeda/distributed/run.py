"""``taedarun``, ``python -m taeda.distributed.run``: runs a script as several processes, on one machine or many.

Each process is told its rank by variables (RANK, LOCAL_RANK, WORLD_SIZE, ...), from which
``init_process_group()`` takes it. When one fails, the others end, and all start again up to ``--max-restarts`` times.
"""

from __future__ import annotations

import os
import sys
from argparse import REMAINDER, ArgumentParser, Namespace
from collections.abc import Callable
from importlib import metadata
from typing import Any

from taeda.distributed.elastic.multiprocessing import DefaultLogsSpecs, LogsSpecs, SignalException, Std
from taeda.distributed.elastic.multiprocessing.errors import ChildFailedError, record
from taeda.distributed.elastic.rendezvous import RendezvousError
from taeda.distributed.elastic.rendezvous.utils import _parse_rendezvous_config
from taeda.distributed.elastic.utils import macros
from taeda.distributed.elastic.utils.logging import get_logger
from taeda.distributed.launcher.api import LaunchConfig, elastic_launch

__all__ = ["config_from_args", "determine_local_world_size", "get_args_parser", "main", "parse_args", "run"]

logger = get_logger(__name__)


def get_args_parser() -> ArgumentParser:
    """The parser of the launcher's arguments; each may also be given by a variable as in PET_NNODES."""
    parser = ArgumentParser(description=__doc__)

    def add(name: str, default: Any = None, **kwargs: Any) -> None:
        names = [*(["-" + kwargs.pop("short")] if "short" in kwargs else []), f"--{name}"]
        if "-" in name:
            names.append(f"--{name.replace('-', '_')}")
        given = os.environ.get(f"PET_{name.upper().replace('-', '_')}", default)
        if kwargs.get("action") == "store_true":
            given = given in (True, "1")
        parser.add_argument(*names, default=given, **kwargs)

    add("nnodes", "1:1", help="number of nodes, or MIN:MAX")
    add("nproc-per-node", "1", help="workers on each node: a number, or auto, cpu, gpu")
    add("rdzv-backend", "static", help="how nodes meet: static (ranks are given) or c10d (nodes come and go)")
    add("rdzv-endpoint", "", help="where nodes meet: HOST:PORT")
    add("rdzv-id", "none", help="the job's name, the same on all nodes")
    add("rdzv-conf", "", help="more about how nodes meet: KEY=VALUE,KEY=VALUE")
    add("standalone", False, action="store_true", help="one node, at a free port")
    add("max-restarts", 0, type=int, help="how often to start all workers again when one fails")
    add("monitor-interval", 0.1, type=float, help="seconds between two looks at the workers")
    add("start-method", "spawn", choices=["spawn", "fork", "forkserver"], help="of workers that run a function")
    add("event-log-handler", "null", help="where events go")
    add("role", "default", help="name of the workers' role")
    add("module", False, short="m", action="store_true", help="the script is a module's name, as for python -m")
    add("no-python", False, action="store_true", help="the script is a program")
    add("run-path", False, action="store_true", help="run the script by runpy.run_path")
    add("log-dir", None, help="folder for what workers print")
    add("redirects", "0", short="r", help="streams that go to files: 1 stdout, 2 stderr, 3 both, or as in 0:1,1:3")
    add("tee", "0", short="t", help="streams that go to files and the console, as for --redirects")
    add("local-ranks-filter", "", help="workers whose output the console shows, as in 0,2; all by default")
    add("duplicate-stdout-filters", "", help="lines of stdout with one of these words also go to a file for all")
    add("duplicate-stderr-filters", "", help="the same for stderr")
    add("node-rank", 0, type=int, help="this node's rank (static only)")
    add("master-addr", "127.0.0.1", help="address of the node of rank 0 (static only)")
    add("master-port", 29500, type=int, help="port there (static only)")
    add("local-addr", None, help="this node's address; found out by default")
    add("logs-specs", None, help="a class for logs, by its name in the entry points torchrun.logs_specs")
    add("numa-binding", None, choices=["node", "socket", "exclusive", "core-complex"], help="accepted")
    add("signals-to-handle", "SIGTERM,SIGINT,SIGHUP,SIGQUIT", help="signals that end the workers first")
    add("shutdown-timeout", None, type=int, help="seconds that workers get to end before SIGKILL; 30 by default")
    add("virtual-local-rank", False, action="store_true", help="every worker is told the local rank 0")
    parser.add_argument("training_script", help="the script, and its arguments")
    parser.add_argument("training_script_args", nargs=REMAINDER)
    return parser


def parse_args(args: list[str] | None) -> Namespace:
    """The arguments as a namespace."""
    return get_args_parser().parse_args(args)


def parse_min_max_nnodes(nnodes: str) -> tuple[int, int]:
    """``"2"`` or ``"1:4"`` as two numbers.

    Raises:
        RuntimeError: it is neither.
    """
    parts = nnodes.split(":")
    if len(parts) > 2 or not all(part.isdigit() for part in parts):
        raise RuntimeError(f"taeda.distributed.run: --nnodes is wanted as NUMBER or MIN:MAX; got {nnodes!r}")
    return int(parts[0]), int(parts[-1])


def determine_local_world_size(nproc_per_node: str) -> int:
    """How many workers ``"4"``, ``"cpu"``, ``"gpu"`` or ``"auto"`` (GPUs if there are any) mean on this machine.

    Raises:
        ValueError: it is none of these, or there are no GPUs.
    """
    text = str(nproc_per_node)
    if text.isdigit():
        return int(text)
    if text == "cpu":
        return os.cpu_count() or 1
    if text in ("gpu", "auto", "cuda"):
        from taeda import cuda

        if cuda.is_available():
            return cuda.device_count()
        if text == "auto":
            return os.cpu_count() or 1
        raise ValueError("taeda.distributed.run: --nproc-per-node gpu: there is no GPU")
    raise ValueError(f"taeda.distributed.run: --nproc-per-node is wanted as a number, auto, cpu or gpu; got {text!r}")


def get_rdzv_endpoint(args: Namespace) -> str:
    """Where nodes meet."""
    if args.rdzv_backend == "static" and not args.rdzv_endpoint:
        return f"{args.master_addr}:{args.master_port}"
    return str(args.rdzv_endpoint)


def get_use_env(args: Namespace) -> bool:
    """Whether the script reads its local rank from LOCAL_RANK only."""
    return bool(getattr(args, "use_env", True))


def _get_logs_specs_class(name: str | None) -> Any:
    if name in (None, "default"):
        return DefaultLogsSpecs
    for found in metadata.entry_points(group="torchrun.logs_specs", name=str(name)):
        return found.load()
    raise ValueError(f"taeda.distributed.run: there is no entry point {name!r} in the group torchrun.logs_specs")


def _words(text: str) -> list[str] | None:
    """Split at commas; a double comma stands for one."""
    parts = [part.replace("\0", ",").strip() for part in text.replace(",,", "\0").split(",")]
    return [part for part in parts if part] or None


def config_from_args(args: Namespace) -> tuple[LaunchConfig, Callable[..., Any] | str, list[str]]:
    """What `launch_agent` takes: how to launch, what, and its arguments.

    Raises:
        ValueError, RuntimeError: an argument makes no sense.
    """
    least, most = parse_min_max_nnodes(args.nnodes)
    if not 0 < least <= most or args.max_restarts < 0:
        raise ValueError(
            "taeda.distributed.run: 1 <= MIN <= MAX nodes and --max-restarts from 0 on are wanted; got --nnodes "
            f"{args.nnodes} and --max-restarts {args.max_restarts}"
        )
    count = determine_local_world_size(args.nproc_per_node)
    if "OMP_NUM_THREADS" not in os.environ and count > 1:
        os.environ["OMP_NUM_THREADS"] = "1"  # the workers share the cores
    settings = _parse_rendezvous_config(args.rdzv_conf)
    if args.rdzv_backend == "static":
        settings["rank"] = args.node_rank
    shown = {int(one) for one in args.local_ranks_filter.split(",")} if args.local_ranks_filter else None
    logs: LogsSpecs = _get_logs_specs_class(args.logs_specs)(
        log_dir=args.log_dir, redirects=Std.from_str(args.redirects), tee=Std.from_str(args.tee),
        local_ranks_filter=shown,
    )  # fmt: skip
    config = LaunchConfig(
        min_nodes=least, max_nodes=most, nproc_per_node=count, run_id=args.rdzv_id, role=args.role,
        rdzv_endpoint=get_rdzv_endpoint(args), rdzv_backend=args.rdzv_backend, rdzv_configs=settings,
        max_restarts=args.max_restarts, monitor_interval=args.monitor_interval, start_method=args.start_method,
        log_line_prefix_template=os.environ.get("TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE"), local_addr=args.local_addr,
        logs_specs=logs, event_log_handler=args.event_log_handler, signals_to_handle=args.signals_to_handle,
        duplicate_stdout_filters=_words(args.duplicate_stdout_filters),
        duplicate_stderr_filters=_words(args.duplicate_stderr_filters),
        virtual_local_rank=args.virtual_local_rank, shutdown_timeout=args.shutdown_timeout,
    )  # fmt: skip
    return config, *_command(args)


def _command(args: Namespace) -> tuple[Callable[..., Any] | str, list[str]]:
    """What a worker runs, and with which arguments."""
    if args.run_path:
        return run_script_path, [args.training_script, *args.training_script_args]
    words: list[str] = []
    program: str = args.training_script
    if not args.no_python:
        program = os.environ.get("PYTHON_EXEC", sys.executable)
        words = ["-u", *(["-m"] if args.module else []), args.training_script]
    elif args.module:
        raise ValueError("taeda.distributed.run: --no-python and --module do not go together")
    if not get_use_env(args):
        words.append(f"--local-rank={macros.local_rank}")
    return program, [*words, *args.training_script_args]


def run_script_path(training_script: str, *training_script_args: str) -> None:
    """Runs a script in this process, as its main module."""
    import runpy

    sys.argv = [training_script, *training_script_args]
    runpy.run_path(sys.argv[0], run_name="__main__")


def run(args: Namespace) -> None:
    """Launches what `parse_args` gave.

    Raises:
        ChildFailedError: a worker failed, for the last time.
    """
    if args.standalone:
        import uuid

        args.rdzv_backend, args.rdzv_endpoint, args.rdzv_id = "c10d", "localhost:0", str(uuid.uuid4())
    config, command, words = config_from_args(args)
    elastic_launch(config, command)(*words)


@record
def main(args: list[str] | None = None) -> None:
    """Launches by the arguments, those of the command line by default.

    Raises:
        ChildFailedError: a worker failed, for the last time.
    """
    run(parse_args(args))


def console(function: Callable[[], None] = main) -> None:
    """`main` as a program: errors without the launcher's own stack; ends with 1, or as the signal would have it."""
    try:
        function()
    except ChildFailedError as error:
        sys.exit(str(error))
    except SignalException as end:
        print(f"taeda.distributed.run: ended by {end.sigval.name}; so have the workers", file=sys.stderr)
        sys.exit(128 + end.sigval)
    except (RendezvousError, RuntimeError, ValueError) as error:
        sys.exit(f"taeda.distributed.run: {error}")


if __name__ == "__main__":
    console()
