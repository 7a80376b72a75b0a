"""What PyTorch keeps in ``torch._jit_internal``."""

from taeda._main.script_marks import Any as Any
from taeda._main.script_marks import BroadcastingList1 as BroadcastingList1
from taeda._main.script_marks import BroadcastingList2 as BroadcastingList2
from taeda._main.script_marks import BroadcastingList3 as BroadcastingList3
from taeda._main.script_marks import BroadcastingList4 as BroadcastingList4
from taeda._main.script_marks import BroadcastingList5 as BroadcastingList5
from taeda._main.script_marks import BroadcastingList6 as BroadcastingList6
from taeda._main.script_marks import Dict as Dict
from taeda._main.script_marks import Final as Final
from taeda._main.script_marks import Future as Future
from taeda._main.script_marks import List as List
from taeda._main.script_marks import Optional as Optional
from taeda._main.script_marks import Tuple as Tuple
from taeda._main.script_marks import Union as Union
from taeda._main.script_marks import _copy_to_script_wrapper as _copy_to_script_wrapper
from taeda._main.script_marks import _disable_emit_hooks as _disable_emit_hooks
from taeda._main.script_marks import _drop as _drop
from taeda._main.script_marks import _overload as _overload
from taeda._main.script_marks import _overload_method as _overload_method
from taeda._main.script_marks import boolean_dispatch as boolean_dispatch
from taeda._main.script_marks import export as export
from taeda._main.script_marks import get_callable_argument_names as get_callable_argument_names
from taeda._main.script_marks import ignore as ignore
from taeda._main.script_marks import is_scripting as is_scripting
from taeda._main.script_marks import unused as unused
