"""``taeda.explain``: the hops of a call, from its Python name to the kernel."""

from taeda._explain.describe import UnknownName as UnknownName
from taeda._explain.describe import describe as describe
from taeda._explain.describe import explain as explain
from taeda._explain.describe import explain_calls as explain_calls
