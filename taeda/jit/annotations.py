"""Names of types for annotations."""

from taeda._jit_internal import Any as Any
from taeda._jit_internal import BroadcastingList1 as BroadcastingList1
from taeda._jit_internal import BroadcastingList2 as BroadcastingList2
from taeda._jit_internal import BroadcastingList3 as BroadcastingList3
from taeda._jit_internal import Dict as Dict
from taeda._jit_internal import Future as Future
from taeda._jit_internal import List as List
from taeda._jit_internal import Optional as Optional
from taeda._jit_internal import Tuple as Tuple
from taeda._jit_internal import Union as Union
