"""Names of types for annotations."""

from taeda._main.script_marks import Any as Any
from taeda._main.script_marks import BroadcastingList1 as BroadcastingList1
from taeda._main.script_marks import BroadcastingList2 as BroadcastingList2
from taeda._main.script_marks import BroadcastingList3 as BroadcastingList3
from taeda._main.script_marks import Dict as Dict
from taeda._main.script_marks import Future as Future
from taeda._main.script_marks import List as List
from taeda._main.script_marks import Optional as Optional
from taeda._main.script_marks import Tuple as Tuple
from taeda._main.script_marks import Union as Union
