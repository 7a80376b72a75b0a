"""References to objects that live on one worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from taeda.distributed.rpc import _agent as agents
from taeda.distributed.rpc import _references as references
from taeda.distributed.rpc import constants
from taeda.distributed.rpc._agent import Agent, handles
from taeda.distributed.rpc._calls import To, rpc_async, rpc_sync, run_call, this_agent, worker_of
from taeda.distributed.rpc._references import Dead, Id, Owned
from taeda.distributed.rpc._wire import Kind
from taeda.distributed.rpc._worker_info import WorkerInfo
from taeda.distributed.rpc.rref_proxy import RRefProxy
from taeda.futures import Future

__all__ = ["PyRRef", "RRef", "remote"]

T = TypeVar("T")
_UNSET = constants.UNSET_RPC_TIMEOUT


class RRef(Generic[T]):
    """A reference to ``value``, which this worker owns; `rpc.remote` makes one to an object elsewhere.

    A reference may be sent to other workers in calls. The object lives as long as one worker refers to it.

    Args:
        value: anything.
        type_hint: without meaning.

    Raises:
        RuntimeError: this process is no worker.
    """

    _fork: Id | None = None  # None on the owner
    _context: references.References | None = None

    def __init__(self, value: T, type_hint: Any = None) -> None:
        context = references.current()
        owned = Owned(context.new_id())
        owned.value.set_result(value)
        self._refer(context, owned.id, context.agent.worker, owned)

    def _refer(self, context: references.References, id: Id, owner: WorkerInfo, owned: Owned | None) -> None:
        self._context, self._id, self._owner, self._owned = context, id, owner, owned
        self._made: Future[Any] | None = None  # of a user: the owner knows of it

    @classmethod
    def _of_owner(cls, context: references.References, owned: Owned) -> RRef[Any]:
        made = cls.__new__(cls)
        made._refer(context, owned.id, context.agent.worker, owned)
        return made

    @classmethod
    def _of_user(cls, context: references.References, id: Id, fork: Id, owner: WorkerInfo) -> RRef[Any]:
        made = cls.__new__(cls)
        made._refer(context, id, owner, None)
        made._fork = fork
        context.users.add(made)
        return made

    def _delete(self) -> None:
        """Tells the owner that this reference is gone."""
        fork, self._fork = self._fork, (-1, -1)
        if self._context is not None and fork not in (None, (-1, -1)):
            self._context.users.discard(self)
            self._context.bury(Dead(self._id, fork, self._owner))  # type: ignore[arg-type]

    def __del__(self) -> None:
        if self._fork is not None:
            self._delete()

    # On its way to another worker.

    def _reduce_for_rpc(self) -> Any:
        context = references.current()
        if self._fork == (-1, -1):
            raise RuntimeError("taeda.distributed.rpc.RRef: this reference has been deleted and cannot be sent")
        fork = context.new_id()
        if self._owned is not None:
            context.own(self._id, fork, self._owned)
        else:
            context.passed_on[fork] = self
        return _arrive, (self._id, fork, self._owner.id, context.agent.worker.id)

    def __reduce__(self) -> Any:
        raise RuntimeError(
            "taeda.distributed.rpc.RRef: a reference can only be pickled on its way to another worker, as an argument "
            "or a result of a call"
        )

    # What it refers to.

    def is_owner(self) -> bool:
        """Whether the object lives here."""
        return self._owned is not None

    def owner(self) -> WorkerInfo:
        """The worker on which the object lives."""
        return self._owner

    def owner_name(self) -> str:
        """The name of that worker."""
        return self._owner.name

    def confirmed_by_owner(self) -> bool:
        """Whether the owner is known to know of this reference."""
        return self._owned is not None or self._made is None or (self._made.done() and self._made._error is None)

    def local_value(self) -> T:
        """The object, on its owner, once it is there.

        Raises:
            RuntimeError: it lives elsewhere.
        """
        if self._owned is None:
            raise RuntimeError(
                f"taeda.distributed.rpc.RRef.local_value: the object lives on {self._owner}, this is "
                f"{references.current().agent.worker}; to_here() copies it"
            )
        return self._owned.value.wait()

    def to_here(self, timeout: float = _UNSET) -> T:
        """The object, on its owner; elsewhere, a copy of it.

        Raises:
            RuntimeError: the owner did not answer within ``timeout`` seconds, or the object could not be made.
        """
        if self._owned is not None:
            return self._owned.value.wait()
        if self._fork == (-1, -1):
            raise RuntimeError("taeda.distributed.rpc.RRef.to_here: this reference has been deleted")
        self._raise_if_not_made()
        return references.current().agent.ask(self._owner, Kind.FETCH, self._id, timeout)

    def _raise_if_not_made(self) -> None:
        if self._made is not None and self._made.done() and self._made._error is not None:
            raise RuntimeError(
                f"taeda.distributed.rpc.RRef: the RRef creation on {self._owner} failed, or was not confirmed in time: "
                f"{self._made._error}"
            )

    def _get_future(self) -> Future[Any]:
        """Done when the owner knows of it."""
        if self._made is None:
            done: Future[Any] = Future()
            done.set_result(None)
            return done
        return self._made

    def rpc_sync(self, timeout: float = _UNSET) -> RRefProxy:
        """Whose methods are the object's, called on its owner; each waits for its result."""
        return RRefProxy(self, rpc_sync, timeout)

    def rpc_async(self, timeout: float = _UNSET) -> RRefProxy:
        """Likewise; each gives a future."""
        return RRefProxy(self, rpc_async, timeout)

    def remote(self, timeout: float = _UNSET) -> RRefProxy:
        """Likewise; each gives a reference to its result."""
        return RRefProxy(self, remote, timeout)

    def _get_type(self, timeout: float = _UNSET, blocking: bool = True) -> Any:
        """The type of the object; a future of it unless ``blocking``."""
        future = rpc_async(self._owner, _type_of, (self,), timeout=timeout)
        return future.wait() if blocking else future

    def backward(self, dist_autograd_ctx_id: int = -1, retain_graph: bool = False) -> None:
        """The backward pass from the object, a tensor: on the owner alone without a context of
        `taeda.distributed.autograd`, else of all workers.

        Raises:
            RuntimeError: the object is no tensor, or lives elsewhere and there is no context.
        """
        if self._owned is not None:
            _backward(self, dist_autograd_ctx_id, retain_graph)
        elif dist_autograd_ctx_id < 0:
            raise RuntimeError(
                f"taeda.distributed.rpc.RRef.backward: the object lives on {self._owner}; there, gradients need "
                "dist_autograd_ctx_id, the context of taeda.distributed.autograd"
            )
        else:
            rpc_sync(self._owner, _backward, (self, dist_autograd_ctx_id, retain_graph), timeout=0)

    def __repr__(self) -> str:
        if self._owned is None:
            return f"UserRRef(RRefId = {self._id}, ForkId = {self._fork}, owner = {self._owner})"
        value = self._owned.value
        return f"OwnerRRef({value._value if value.done() else '(not there yet)'})"


PyRRef = RRef


def _arrive(id: Id, fork: Id, owner: int, parent: int) -> RRef[Any]:
    """A reference that another worker sent."""
    context = references.current()
    agent = context.agent
    if owner == agent.worker.id:
        owned = context.own(id)
        if parent == owner:
            made = RRef._of_owner(context, owned)
            context.forget(id, fork)
            return made
        agent.call(agent.workers[parent], Kind.ADOPTED, fork)
        return RRef._of_owner(context, owned)
    user = RRef._of_user(context, id, fork, agent.workers[owner])
    if parent != owner:
        user._made = agent.call(user._owner, Kind.FORK, (id, fork))
        context.confirm(fork, user._made)
        user._made._when_done(lambda _: agent.call(agent.workers[parent], Kind.ADOPTED, fork))
    return user


def _type_of(reference: RRef[Any]) -> type:
    return type(reference.local_value())


def _backward(reference: RRef[Any], context: int, retain_graph: bool) -> None:
    from taeda import Tensor
    from taeda.distributed import autograd

    value = reference.local_value()
    if not isinstance(value, Tensor):
        raise RuntimeError(
            f"taeda.distributed.rpc.RRef.backward: a reference to a tensor is wanted; got one to {type(value).__name__}"
        )
    if context < 0:
        value.backward(retain_graph=retain_graph)
    else:
        autograd.backward(context, [value], retain_graph)


def remote(
    to: To, func: Callable[..., Any], args: Sequence[Any] | None = None, kwargs: dict[str, Any] | None = None,
    timeout: float = _UNSET,
) -> RRef[Any]:  # fmt: skip
    """Like `rpc_sync`, but the result stays where it is, and a reference to it is given at once."""
    agent, context = this_agent(), references.current()
    worker = worker_of(agent, to)
    id, fork = context.new_id(), context.new_id()
    call = (id, fork, func, tuple(args or ()), kwargs or {})
    if worker.id == agent.worker.id:
        made = RRef._of_owner(context, context.own(id, fork))
        sent = agent.call(worker, Kind.REMOTE, call, timeout)
    else:
        made = RRef._of_user(context, id, fork, worker)
        sent = agent.call(worker, Kind.REMOTE, call, timeout)
        made._made = sent
        context.confirm(fork, sent)
    return made


@handles(Kind.REMOTE)
def _make(agent: Agent, sender: WorkerInfo, call: Any) -> None:
    id, fork, *rest = call
    context = references.current()
    owned = context.own(id, fork)

    def make() -> None:
        try:
            result = run_call(agent, sender, rest)
        except BaseException as error:
            owned.value.set_exception(error)
        else:
            if isinstance(result, Future):
                result._when_done(lambda done: owned.value._finish(done._value, done._error))
            else:
                owned.value.set_result(result)
        if sender.id == agent.worker.id:
            context.forget(id, fork)

    agent.aside(make, agents.graphs.current())
