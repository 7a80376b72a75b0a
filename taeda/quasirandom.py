"""Quasirandom numbers: Sobol's sequences, plain and scrambled."""

from __future__ import annotations

import functools
from pathlib import Path

import taeda
from taeda import Tensor

__all__ = ["SobolEngine"]

_DATA = Path(__file__).with_name("quasirandom.bin")
_ODD = 2**18  # the polynomials are odd numbers below twice this


@functools.cache
def _directions() -> tuple[list[int], bytes]:
    """The primitive polynomials over GF(2) as numbers, ascending, and the bits of the initial direction numbers.

    Those of S. Joe and F. Y. Kuo, Constructing Sobol sequences with better two-dimensional projections, 2008 (their
    table new-joe-kuo-6.21201, BSD licence). The file holds one bit for each odd number, set for a polynomial, then for
    each polynomial of degree d the numbers m(1) .. m(d) in 0, 1 .. d - 1 bits: without the last one, which is set.
    """
    data = _DATA.read_bytes()
    marks = data[: _ODD // 8]
    polynomials = [2 * i + 1 for i in range(_ODD) if marks[i >> 3] >> (i & 7) & 1]
    return polynomials, data[_ODD // 8 :]


def _direction_numbers(dimension: int, bits: int) -> Tensor:
    """V, of shape (dimension, bits): the numbers whose combinations by exclusive or are the points."""
    polynomials, packed = _directions()
    at = 0
    rows = [[1] * bits]
    for polynomial in polynomials[: dimension - 1]:
        degree = polynomial.bit_length() - 1
        stream = int.from_bytes(packed[at >> 3 : (at >> 3) + 24], "little") >> (at & 7)
        at += degree * (degree - 1) // 2
        row: list[int] = []
        for i in range(bits):
            if i < degree:
                row.append((stream & ((1 << i) - 1)) << 1 | 1)
                stream >>= i
                continue
            value = row[i - degree] ^ row[i - degree] << degree
            for k in range(1, degree):
                if polynomial >> (degree - k) & 1:
                    value ^= row[i - k] << k
            row.append(value)
        rows.append(row)
    return taeda.tensor(rows[:dimension]) << taeda.arange(bits - 1, -1, -1)


class SobolEngine:
    """Points of a Sobol sequence in the unit cube, which fill it more evenly than random ones.

    Args:
        dimension: of the points, 1 to ``MAXDIM``.
        scramble: permute the sequence at random (a random linear transformation of the digits and a shift, Owen 1998),
            which keeps its evenness.
        seed: of the scrambling; the default generator serves without one.

    Raises:
        ValueError: ``dimension`` is out of its range.
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"SobolEngine: dimension must be 1 to {self.MAXDIM}; got {dimension}")
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        self.sobolstate = _direction_numbers(dimension, self.MAXBIT)
        self.shift = taeda.zeros(dimension, dtype=taeda.int64)
        if scramble:
            self._scramble()
        self.reset()

    def _scramble(self) -> None:
        generator = None
        if self.seed is not None:
            generator = taeda.Generator()
            generator.manual_seed(self.seed)
        bits, powers = self.MAXBIT, 1 << taeda.arange(self.MAXBIT)
        self.shift = taeda.randint(2, (self.dimension, bits), generator=generator) @ powers
        lower = taeda.randint(2, (self.dimension, bits, bits), generator=generator).tril()
        lower.diagonal(dim1=1, dim2=2).fill_(1)
        # Row i of a matrix gives bit bits - 1 - i of the product, from bits that count from the top likewise.
        digits = self.sobolstate[:, :, None] >> taeda.arange(bits - 1, -1, -1) & 1  # (dimension, number, digit)
        scrambled = (digits.double() @ lower.mT.double()).long() & 1
        self.sobolstate = scrambled @ powers.flip(0)

    def reset(self) -> SobolEngine:
        """Begins the sequence again; returns the engine."""
        self.quasi = self.shift.clone()
        self.num_generated = 0
        return self

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: taeda.dtype | None = None) -> Tensor:
        """The next ``n`` points, of shape ``(n, dimension)`` and of ``dtype`` (the default one if None)."""
        dtype = dtype or taeda.get_default_dtype()
        result = self._numbers(n).to(dtype) / 2**self.MAXBIT
        self.fast_forward(n)
        if out is None:
            return result
        return out.resize_(result.shape).copy_(result)

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: taeda.dtype | None = None) -> Tensor:
        """The next ``2**m`` points, after a power of two (or none) before them, so that they are balanced.

        Raises:
            ValueError: so many points after those drawn are no power of two.
        """
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                f"SobolEngine.draw_base2: {self.num_generated} points were drawn, and with {n} more they are {total}, "
                "which is no power of two; use draw, or reset before"
            )
        return self.draw(n, out=out, dtype=dtype)

    def fast_forward(self, n: int) -> SobolEngine:
        """Skips ``n`` points; returns the engine."""
        self.num_generated += n
        self.quasi = self._number(max(self.num_generated - 1, 0))
        return self

    def _number(self, index: int) -> Tensor:
        """The point ``index``, of shape (dimension,), times ``2**MAXBIT``."""
        gray, number = index ^ index >> 1, self.shift.clone()
        for bit in range(gray.bit_length()):
            if gray >> bit & 1:
                number ^= self.sobolstate[:, bit]
        return number

    def _numbers(self, count: int) -> Tensor:
        """The next points, of shape (count, dimension), times ``2**MAXBIT``: by the Gray code of their indices."""
        index = taeda.arange(self.num_generated, self.num_generated + count)[:, None]
        gray, numbers = index ^ index >> 1, self.shift.repeat(count, 1)
        for bit in range(int(self.num_generated + count).bit_length()):
            numbers ^= (gray >> bit & 1) * self.sobolstate[:, bit]
        return numbers

    def __repr__(self) -> str:
        parts = [f"dimension={self.dimension}"]
        if self.scramble:
            parts.append("scramble=True")
        if self.seed is not None:
            parts.append(f"seed={self.seed}")
        return f"SobolEngine({', '.join(parts)})"
