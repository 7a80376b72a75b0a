"""How the nodes of a job find each other, agree on their ranks, and do so again when nodes come and go.

The backends are ``static`` (ranks are given), and ``c10d`` (nodes come as they like, over a store).
"""

from __future__ import annotations

from taeda.distributed.elastic.rendezvous.api import RendezvousClosedError as RendezvousClosedError
from taeda.distributed.elastic.rendezvous.api import RendezvousConnectionError as RendezvousConnectionError
from taeda.distributed.elastic.rendezvous.api import RendezvousError as RendezvousError
from taeda.distributed.elastic.rendezvous.api import RendezvousGracefulExitError as RendezvousGracefulExitError
from taeda.distributed.elastic.rendezvous.api import RendezvousHandler as RendezvousHandler
from taeda.distributed.elastic.rendezvous.api import RendezvousHandlerCreator as RendezvousHandlerCreator
from taeda.distributed.elastic.rendezvous.api import RendezvousHandlerRegistry as RendezvousHandlerRegistry
from taeda.distributed.elastic.rendezvous.api import RendezvousInfo as RendezvousInfo
from taeda.distributed.elastic.rendezvous.api import RendezvousParameters as RendezvousParameters
from taeda.distributed.elastic.rendezvous.api import RendezvousStateError as RendezvousStateError
from taeda.distributed.elastic.rendezvous.api import RendezvousStoreInfo as RendezvousStoreInfo
from taeda.distributed.elastic.rendezvous.api import RendezvousTimeoutError as RendezvousTimeoutError
from taeda.distributed.elastic.rendezvous.api import rendezvous_handler_registry as rendezvous_handler_registry
