"""What the launcher's parts share."""

from __future__ import annotations

from taeda.distributed.elastic.utils.api import get_env_variable_or_raise as get_env_variable_or_raise
from taeda.distributed.elastic.utils.api import get_socket_with_port as get_socket_with_port
from taeda.distributed.elastic.utils.api import macros as macros
