"""``python -m taeda.onnx.reader``: which of ONNX's ops are forwarded by name, which are not, and why."""

from __future__ import annotations

from taeda.onnx.reader import everything as everything
from taeda.onnx.reader import forwarding
from taeda.onnx.reader.forwarding import newest_schemas
from taeda.onnx.reader.table import OPS


def main() -> None:
    """Prints the table."""
    forwarded, skipped = [], []
    for schema in newest_schemas():
        found, why = forwarding.decide(schema)
        if found is not None:
            forwarded.append(f"{schema.name}: {found}")
        else:
            entry = OPS.get(("", schema.name))
            function = schema.has_function or schema.has_context_dependent_function
            by = f"{entry.function.__module__}.{entry.function.__name__}" if entry else \
                "ONNX's own definition" if function else "nothing"  # fmt: skip
            skipped.append(f"{schema.name}: {why}; done by {by}")
    print(f"forwarded: {len(forwarded)}", *forwarded, f"skipped: {len(skipped)}", *skipped, sep="\n")


if __name__ == "__main__":
    main()
