"""Streams and events of the CPU, where all that was called is done."""

import pytest

import taeda


def test_the_stream_of_the_cpu() -> None:
    with taeda.Stream() as stream:
        assert stream.query() and stream.device == taeda.device("cpu") and not stream.is_capturing()
        stream.synchronize()
        stream.wait_stream(taeda.Stream("cpu"))
    assert stream == taeda.Stream() and len({stream, taeda.Stream()}) == 1 and stream != 0
    assert "device_type=cpu" in repr(stream)


def test_events_of_the_cpu() -> None:
    event = taeda.Event(enable_timing=True)
    assert event.query() and "event_flag=1" in repr(event)
    event.wait(taeda.Stream())
    event.synchronize()
    taeda.Stream().wait_event(event)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: taeda.Stream("cuda"), RuntimeError),
        (lambda: taeda.Event("nowhere"), RuntimeError),
        (lambda: taeda.Event().record(), RuntimeError),
        (lambda: taeda.Stream().record_event(), RuntimeError),
        (lambda: taeda.Event().elapsed_time(taeda.Event()), ValueError),
        (lambda: taeda.Event(enable_timing=True).elapsed_time(taeda.Event(enable_timing=True)), RuntimeError),
    ],
)
def test_what_the_cpu_has_not(call, error) -> None:
    with pytest.raises(error, match=r"^taeda\."):
        call()
