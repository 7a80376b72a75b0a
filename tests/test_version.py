"""Versions, and what the build is made of."""

import taeda


def test_versions_and_parts():
    assert taeda.version.__version__ == taeda.__version__ and taeda.version.cuda is None and not taeda.version.debug
    assert taeda.__version__ in taeda.__config__.show() and "oneDNN" in taeda.__config__.show()
    assert f"get_num_threads(): {taeda.get_num_threads()}" in taeda.__config__.parallel_info()
