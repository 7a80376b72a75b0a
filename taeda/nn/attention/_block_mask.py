"""Masks of attention as functions, and which blocks of the scores they leave."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import taeda
from taeda import Tensor
from taeda.nn.attention._grid import call_on_grid, grid_indices
from taeda.nn.functional import pad

if TYPE_CHECKING:
    from taeda.types import Device

MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
ScoreMod = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]

DEFAULT_BLOCK_SIZE = 128
_TENSORS = (
    "kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices",
    "q_num_blocks", "q_indices", "full_q_num_blocks", "full_q_indices",
)  # fmt: skip
_ORDERS = ("dq_write_order", "dq_write_order_full", "dq_kv_order")


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """The mask that leaves every score."""
    return batch.new_ones((), dtype=taeda.bool)


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """The mask that leaves what all of the masks leave."""
    _check_masks("and_masks", mask_mods)

    def and_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_ones((), dtype=taeda.bool)
        for mask in mask_mods:
            result = result & mask(b, h, q_idx, kv_idx)
        return result

    return and_mask


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """The mask that leaves what any of the masks leaves."""
    _check_masks("or_masks", mask_mods)

    def or_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_zeros((), dtype=taeda.bool)
        for mask in mask_mods:
            result = result | mask(b, h, q_idx, kv_idx)
        return result

    return or_mask


def _check_masks(name: str, masks: tuple[Any, ...]) -> None:
    wrong = [type(mask).__name__ for mask in masks if not callable(mask)]
    if wrong:
        raise RuntimeError(f"taeda.nn.attention.flex_attention.{name}: masks are functions; got {', '.join(wrong)}")


def _sliced_mask_mod_error(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    raise RuntimeError(
        "taeda.nn.attention.flex_attention: a part of a BlockMask has no mask_mod, as the whole one's counts batches, "
        "heads and queries from elsewhere; set the part's mask_mod to a function that counts from its start"
    )


# Lists of blocks: for each row how many blocks it has, and all columns, those of the row first.


def _listed(dense: Tensor) -> tuple[Tensor, Tensor]:
    indices = dense.argsort(dim=-1, descending=True, stable=True)
    return dense.sum(-1).to(taeda.int32), indices.to(taeda.int32)


def _dense(count: Tensor, indices: Tensor) -> Tensor:
    """One where a row has a block, else zero; int32, the shape of ``indices``."""
    columns = indices.shape[-1]
    used = taeda.arange(columns, device=count.device) < count.unsqueeze(-1)
    indices = taeda.where(used, indices.to(taeda.int64), columns)  # the others into a column that is cut off
    dense = taeda.zeros(*indices.shape[:-1], columns + 1, dtype=taeda.int32, device=count.device)
    return dense.scatter(-1, indices, 1)[..., :columns]


def _transposed(count: Tensor | None, indices: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
    if count is None or indices is None:
        return None, None
    return _listed(_dense(count, indices).mT)


def _block_sizes(size: Any) -> tuple[int, int]:
    if isinstance(size, int):
        return size, size
    if len(size) != 2:
        raise ValueError(
            f"taeda.nn.attention.flex_attention: BLOCK_SIZE is an int or one for queries and one for keys; got {size}"
        )
    return size[0], size[1]


class BlockMask:
    """Which blocks of the scores of attention have anything in them, and the mask inside them.

    The scores (batch, head, query, key) are cut into blocks of ``BLOCK_SIZE``. For each row of blocks ``kv_num_blocks``
    (B, H, rows) says how many are masked in part, and ``kv_indices`` (B, H, rows, columns) which: the first so many.
    ``full_kv_num_blocks`` and ``full_kv_indices`` list in the same way the blocks that are left whole. The tensors
    with ``q`` list the rows of each column. All are int32; B and H may be 1 for all batches and heads.

    The blocks tell kernels what to skip. What is masked is for ``mask_mod(b, h, q_idx, kv_idx)`` to say, and
    ``flex_attention`` computes by it alone.

    Attributes:
        seq_lengths: how many queries and keys there are.
        dq_write_order, dq_write_order_full, dq_kv_order, dq_kv_order_spt: the order in which a kernel may add the
            blocks' parts of the queries' gradient; see ``create_block_mask``.

    Raises:
        RuntimeError: ``kv_indices`` has fewer than 2 dimensions.
        AssertionError: one of two tensors that belong together is missing.
    """

    seq_lengths: tuple[int, int]
    kv_num_blocks: Tensor
    kv_indices: Tensor
    full_kv_num_blocks: Tensor | None
    full_kv_indices: Tensor | None
    q_num_blocks: Tensor | None
    q_indices: Tensor | None
    full_q_num_blocks: Tensor | None
    full_q_indices: Tensor | None
    dq_write_order: Tensor | None
    dq_write_order_full: Tensor | None
    dq_kv_order: Tensor | None
    dq_kv_order_spt: bool | None
    BLOCK_SIZE: tuple[int, int]
    mask_mod: MaskMod

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None,
        q_num_blocks: Tensor | None,
        q_indices: Tensor | None,
        full_q_num_blocks: Tensor | None,
        full_q_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int] = (DEFAULT_BLOCK_SIZE, DEFAULT_BLOCK_SIZE),
        mask_mod: MaskMod = noop_mask,
        *,
        dq_write_order: Tensor | None = None,
        dq_write_order_full: Tensor | None = None,
        dq_kv_order: Tensor | None = None,
        dq_kv_order_spt: bool | None = None,
    ) -> None:
        _check_lists(kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices)
        if dq_write_order is None and dq_write_order_full is not None:
            raise ValueError("taeda.nn.attention.flex_attention.BlockMask: dq_write_order_full needs dq_write_order")
        self.seq_lengths = seq_lengths
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices
        self.dq_write_order, self.dq_write_order_full = dq_write_order, dq_write_order_full
        self.dq_kv_order, self.dq_kv_order_spt = dq_kv_order, dq_kv_order_spt
        self.BLOCK_SIZE = BLOCK_SIZE
        self.mask_mod = mask_mod

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = DEFAULT_BLOCK_SIZE,
        mask_mod: MaskMod | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
        *,
        dq_write_order: Tensor | None = None,
        dq_write_order_full: Tensor | None = None,
        dq_kv_order: Tensor | bool | None = None,
    ) -> BlockMask:
        """A mask from the columns of each row of blocks; the rows of each column are computed, if wanted.

        Without ``seq_lengths`` there are as many queries and keys as the blocks hold.
        """
        _check_lists(kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices)
        q_size, kv_size = _block_sizes(BLOCK_SIZE)
        partial: tuple[Tensor | None, Tensor | None] = (None, None)
        full = partial
        if compute_q_blocks:
            partial = _transposed(kv_num_blocks, kv_indices)
            full = _transposed(full_kv_num_blocks, full_kv_indices)
        return cls(
            seq_lengths or (kv_indices.shape[-2] * q_size, kv_indices.shape[-1] * kv_size),
            kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, *partial, *full, (q_size, kv_size),
            mask_mod or noop_mask,
            dq_write_order=dq_write_order,
            dq_write_order_full=dq_write_order_full,
            dq_kv_order=dq_kv_order if isinstance(dq_kv_order, Tensor) else None,
            dq_kv_order_spt=dq_kv_order if isinstance(dq_kv_order, bool) else None,
        )  # fmt: skip

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """All that the mask consists of, in the order of the constructor; pairs of sizes as two items or as one."""
        orders = (self.dq_write_order, self.dq_write_order_full, self.dq_kv_order, self.dq_kv_order_spt)
        lengths, sizes = (self.seq_lengths, self.BLOCK_SIZE) if flatten else ((self.seq_lengths,), (self.BLOCK_SIZE,))
        return (*lengths, *(getattr(self, name) for name in _TENSORS), *orders, *sizes, self.mask_mod)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the scores: (B, H, queries, keys)."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """How many scores there are."""
        return math.prod(self.shape)

    def sparsity(self) -> float:
        """The share in percent of scores that lie in no block; below 0 where blocks reach past the scores."""
        blocks = int(self.kv_num_blocks.sum())
        if self.full_kv_num_blocks is not None:
            blocks += int(self.full_kv_num_blocks.sum())
        return 100 * (1 - blocks * math.prod(_block_sizes(self.BLOCK_SIZE)) / max(self.numel(), 1))

    def to_dense(self) -> Tensor:
        """One for each block that has anything in it, else zero: int32 (B, H, rows, columns)."""
        dense = _dense(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is None or self.full_kv_indices is None:
            return dense
        return dense | _dense(self.full_kv_num_blocks, self.full_kv_indices)

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """A drawing: ``██`` where all blocks have something in them, ``░░`` where some have.

        Args:
            grid_size: how many rows and columns to draw at most; -1 for one for each block.
            limit: how many batches and heads to draw.
        """
        dense = self.to_dense()
        cells = (grid_size, grid_size) if isinstance(grid_size, int) else grid_size
        height, width = (1 if n == -1 else max(-(-size // n), 1) for size, n in zip(dense.shape[-2:], cells))
        batches = list(itertools.product(*map(range, dense.shape[:-2])))
        parts = [f"{at}\n{_drawing(dense[at].tolist(), height, width)}" for at in batches[:limit]]
        if len(batches) > limit:
            parts.append(f"... and {len(batches) - limit} more; to_string(limit=N) draws N, mask[batch, head] is one")
        return "\n".join(parts)

    def to(self, device: Any) -> BlockMask:
        """The same mask with its tensors on ``device``."""
        moved: dict[str, Any] = {name: _moved(getattr(self, name), device) for name in (*_TENSORS, *_ORDERS)}
        return type(self)(
            self.seq_lengths, BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=self.mask_mod,
            dq_kv_order_spt=self.dq_kv_order_spt, **moved,
        )  # fmt: skip

    def __getitem__(self, index: Any) -> BlockMask:
        """The mask of some batches, heads and rows of blocks; no dimension goes. Its ``mask_mod`` must be set anew.

        Args:
            index: for each of the three an int, slice, list or tensor of ints; missing ones mean all.

        Raises:
            IndexError: there are more indices than dimensions, or an int is out of range.
        """
        return self._part(_full_index(index, self.kv_num_blocks.shape), self.seq_lengths, _sliced_mask_mod_error)

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        """The same mask for fewer queries and keys.

        Raises:
            ValueError: there are more of them than the blocks hold.
        """
        q_size, kv_size = _block_sizes(self.BLOCK_SIZE)
        rows, columns = -(-new_q_len // q_size), -(-new_kv_len // kv_size)
        if rows > self.kv_indices.shape[-2] or columns > self.kv_indices.shape[-1]:
            raise ValueError(
                f"taeda.nn.attention.flex_attention.BlockMask: a mask of {self.seq_lengths} queries and keys is not "
                f"known for {(new_q_len, new_kv_len)}"
            )
        index = (slice(None),) * (self.kv_num_blocks.dim() - 1) + (slice(rows),)
        return self._part(index, (new_q_len, new_kv_len), self.mask_mod, columns)

    def _part(
        self, index: tuple[Any, ...], lengths: tuple[int, int], mask_mod: MaskMod, columns: int | None = None
    ) -> BlockMask:
        if self.dq_kv_order is not None or (self.dq_write_order is not None and self.dq_kv_order_spt is None):
            raise NotImplementedError(
                "taeda.nn.attention.flex_attention.BlockMask: a part of a mask whose dq_kv_order or dq_write_order was "
                "given has no known order; make the part with from_kv_blocks and its own order"
            )

        def part(count: Tensor | None, indices: Tensor | None) -> tuple[Any, Any]:
            if count is None or indices is None:
                return None, None
            count, indices = count[index], indices[index]
            return (count, indices) if columns is None else _listed(_dense(count, indices)[..., :columns])

        partial = part(self.kv_num_blocks, self.kv_indices)
        full = part(self.full_kv_num_blocks, self.full_kv_indices)
        result = self.from_kv_blocks(
            *partial, *full, self.BLOCK_SIZE, mask_mod, lengths, self.q_indices is not None,
            dq_kv_order=self.dq_kv_order_spt,
        )  # fmt: skip
        if self.dq_write_order is not None:
            set_dq_write_order(result, bool(self.dq_kv_order_spt))
        return result

    def __repr__(self) -> str:
        def described(value: Any) -> Any:
            return value.shape if isinstance(value, Tensor) else value

        name = getattr(self.mask_mod, "__name__", repr(self.mask_mod))
        fields = {
            **{name: described(getattr(self, name)) for name in _TENSORS},
            "BLOCK_SIZE": self.BLOCK_SIZE, "shape": self.shape, "sparsity": f"{self.sparsity():.2f}%", "mask_mod": name,
        }  # fmt: skip
        return "BlockMask(\n" + "".join(f"    {key}={value},\n" for key, value in fields.items()) + ")"

    def __str__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%,\n{self.to_string()})"


def _check_lists(count: Any, indices: Any, full_count: Any, full_indices: Any) -> None:
    if count is None or indices is None:
        raise AssertionError("taeda.nn.attention.flex_attention.BlockMask: kv_num_blocks and kv_indices are needed")
    if indices.dim() < 2:
        raise RuntimeError(
            "taeda.nn.attention.flex_attention.BlockMask: kv_indices has rows and columns of blocks; got shape "
            f"{tuple(indices.shape)}"
        )
    if (full_count is None) != (full_indices is None):
        raise AssertionError(
            "taeda.nn.attention.flex_attention.BlockMask: full_kv_num_blocks and full_kv_indices go together"
        )


def _moved(tensor: Tensor | None, device: Any) -> Tensor | None:
    return None if tensor is None else tensor.to(device)


def _drawing(dense: list[list[int]], height: int, width: int) -> str:
    """Lines of cells of so many blocks."""
    text = ""
    for top in range(0, len(dense), height):
        rows = dense[top : top + height]
        for left in range(0, len(rows[0]), width):
            blocks = [block for row in rows for block in row[left : left + width]]
            text += "██" if all(blocks) else "░░" if any(blocks) else "  "
        text += "\n"
    return text


def _full_index(index: Any, shape: Any) -> tuple[Any, ...]:
    """An index for each dimension that keeps it."""
    items = list(index) if isinstance(index, tuple) else [index]
    if any(item is ... for item in items):
        at = next(n for n, item in enumerate(items) if item is ...)
        items[at : at + 1] = [slice(None)] * (len(shape) - len(items) + 1)
    if len(items) > len(shape) or any(item is None for item in items):
        raise IndexError(
            f"taeda.nn.attention.flex_attention.BlockMask: an index is for its {len(shape)} dimensions; got {index}"
        )
    for n, (item, size) in enumerate(zip(items, shape)):
        if isinstance(item, int):
            if not -size <= item < size:
                raise IndexError(
                    f"taeda.nn.attention.flex_attention.BlockMask: index {item} of {size} in dimension {n}"
                )
            items[n] = slice(item % size, item % size + 1)
    return tuple(items)


def set_dq_write_order(mask: BlockMask, spt: bool) -> None:
    """Gives a mask the turn of each block among those of its row: last column first if ``spt``, else first first.

    ``dq_write_order[b, h, column, i]`` is that of the block in row ``q_indices[b, h, column, i]``.
    """
    dense = mask.to_dense()
    turn = dense.cumsum(-1) - dense
    if spt:
        turn = dense.sum(-1, keepdim=True) - 1 - turn
    turn = turn.mT

    def ordered(indices: Tensor | None) -> Tensor | None:
        return None if indices is None else turn.gather(-1, indices.to(taeda.int64)).to(taeda.int32)

    mask.dq_write_order, mask.dq_write_order_full = ordered(mask.q_indices), ordered(mask.full_q_indices)
    mask.dq_kv_order_spt = spt


# From functions


def _takes_score(mod_fn: Callable[..., Any], where: str) -> bool:
    """Whether a function is one of scores, by the number of its positional arguments without defaults."""
    params = inspect.signature(mod_fn).parameters.values()
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    count = sum(p.kind in positional and p.default is inspect.Parameter.empty for p in params)
    if count not in (4, 5):
        raise AssertionError(
            f"taeda.nn.attention.flex_attention.{where}: expected a function (b, h, q_idx, kv_idx) or (score, b, h, "
            f"q_idx, kv_idx); got one of {count} arguments"
        )
    return count == 5


def create_mask(
    mod_fn: ScoreMod | MaskMod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Device = None
) -> Tensor:
    """A function's mask as a tensor.

    Args:
        mod_fn: a mask ``(b, h, q_idx, kv_idx)``, or a function of scores ``(score, b, h, q_idx, kv_idx)``, which masks
            where it makes a score of zero -inf.
        B, H: how many batches and heads; None for one.
        Q_LEN, KV_LEN: how many queries and keys.

    Returns:
        (B, H, Q_LEN, KV_LEN), of bools where the function returns bools.

    Raises:
        AssertionError: the function takes neither 4 nor 5 arguments.
        ValueError: it returns something other than a tensor.
        RuntimeError: it reads a value, draws random numbers, or returns more than a scalar.
    """
    sizes = (1 if B is None else B, 1 if H is None else H, Q_LEN, KV_LEN)
    indices = grid_indices(sizes, device)
    if not _takes_score(mod_fn, "create_mask"):
        return call_on_grid(mod_fn, indices).expand(sizes).contiguous()
    score = taeda.zeros((1,) * len(sizes), device=device).expand(sizes)
    return ~call_on_grid(mod_fn, [score, *indices]).isneginf().expand(sizes)


def create_block_mask(
    mask_mod: MaskMod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Device = None,
    BLOCK_SIZE: int | tuple[int, int] = DEFAULT_BLOCK_SIZE,
    _compile: bool = False,
    separate_full_blocks: bool = True,
    compute_dq_write_order: bool = False,
    dq_kv_order: bool = True,
) -> BlockMask:
    """The blocks of a mask. The whole mask is made on the way: memory is B x H x Q_LEN x KV_LEN.

    Args:
        mask_mod: ``(b, h, q_idx, kv_idx)``, scalars; true where the query attends to the key.
        B, H: how many batches and heads; None for a mask that is the same for all.
        Q_LEN, KV_LEN: how many queries and keys.
        BLOCK_SIZE: of queries and of keys; one int serves both.
        _compile: changes nothing.
        separate_full_blocks: list blocks that are left whole apart from the others.
        compute_dq_write_order: give each block its turn in a deterministic sum of the queries' gradient.
        dq_kv_order: the turns go from the last key to the first, else from the first to the last.

    Raises:
        AssertionError: the function takes other arguments, or returns no bools.
        ValueError, RuntimeError: as ``create_mask``.
    """
    if _takes_score(mask_mod, "create_block_mask"):
        raise AssertionError("taeda.nn.attention.flex_attention.create_block_mask: a mask takes no score")
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    if mask.dtype != taeda.bool:
        raise AssertionError(
            f"taeda.nn.attention.flex_attention.create_block_mask: the mask must be bools; got {mask.dtype}"
        )
    q_size, kv_size = _block_sizes(BLOCK_SIZE)
    padded = pad(mask, (0, -KV_LEN % kv_size, 0, -Q_LEN % q_size))
    rows, columns = padded.shape[-2] // q_size, padded.shape[-1] // kv_size
    left = padded.reshape(*mask.shape[:2], rows, q_size, columns, kv_size).sum((-1, -3))
    full = (left == q_size * kv_size) & separate_full_blocks
    count, indices = _listed(((left > 0) & ~full).to(taeda.int32))
    full_count, full_indices = _listed(full.to(taeda.int32)) if separate_full_blocks else (None, None)
    result = BlockMask.from_kv_blocks(
        count,
        indices,
        full_count,
        full_indices,
        BLOCK_SIZE=(q_size, kv_size),
        mask_mod=mask_mod,
        seq_lengths=(Q_LEN, KV_LEN),
    )
    if compute_dq_write_order:
        set_dq_write_order(result, dq_kv_order)
    return result
