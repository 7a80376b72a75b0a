"""Names of threads, which the system shows."""

from __future__ import annotations

import threading

import taeda.multiprocessing as mp


def test_a_thread_has_a_name_of_its_own():
    before, seen = mp._get_thread_name(), []

    def run():
        mp._set_thread_name("a name of more than fifteen bytes")
        seen.append(mp._get_thread_name())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == ["a name of more "]
    assert mp._get_thread_name() == before
