"""The transformer (Vaswani et al., 2017)."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda.backends import mha
from taeda.nn import functional as F
from taeda.nn import init
from taeda.nn._functional.attention import as_float_mask
from taeda.nn.modules.activation import GELU, ReLU
from taeda.nn.modules.attention import MultiheadAttention
from taeda.nn.modules.container import ModuleList
from taeda.nn.modules.dropout import Dropout
from taeda.nn.modules.linear import Linear
from taeda.nn.modules.module import Module
from taeda.nn.modules.normalization import LayerNorm
from taeda.types import Device, _dtype

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]

Activation = str | Callable[[Tensor], Tensor]


def _get_activation_fn(activation: Activation) -> Callable[[Tensor], Tensor]:
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"taeda.nn.Transformer: activation must be 'relu', 'gelu' or a function; got {activation!r}")
    return F.relu if activation == "relu" else F.gelu


def _copies(layer: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


def _causal_mask(size: int, device: Any, dtype: Any) -> Tensor:
    return taeda.triu(taeda.full((size, size), -math.inf, dtype=dtype, device=device), diagonal=1)


def _is_causal(mask: Tensor | None, given: bool | None, size: int | None) -> bool:
    """Whether to treat the mask as causal: as the caller says, or else by looking at it."""
    if given is not None or mask is None:
        return given is True
    causal = _causal_mask(mask.size(-2) if size is None else size, mask.device, mask.dtype)
    return mask.size() == causal.size() and bool(taeda.all(taeda.eq(mask, causal)))


class _Layer(Module):
    """What the layers of encoder and decoder share: attentions, a feed-forward network, and a norm for each of them."""

    _attentions: tuple[str, ...]
    self_attn: MultiheadAttention
    multihead_attn: MultiheadAttention
    norm1: LayerNorm
    norm2: LayerNorm
    norm3: LayerNorm
    dropout1: Dropout
    dropout2: Dropout
    dropout3: Dropout

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        factory: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        for name in self._attentions:
            setattr(self, name, MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, **factory))
        self.linear1 = Linear(d_model, dim_feedforward, **factory)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **factory)
        self.norm_first = norm_first
        blocks = range(1, len(self._attentions) + 2)
        for i in blocks:
            setattr(self, f"norm{i}", LayerNorm(d_model, eps=layer_norm_eps, **factory))
        for i in blocks:
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = _get_activation_fn(activation)
        # PyTorch's layers ask for it, also those that it loads from a file written here.
        is_relu, is_gelu = self.activation is F.relu, self.activation is F.gelu
        self.activation_relu_or_gelu = 1 if is_relu else 2 if is_gelu else 0

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "activation" not in self.__dict__:
            self.activation = F.relu

    @staticmethod
    def _attended(
        attention: Module, x: Tensor, memory: Tensor, mask: Tensor | None, padding: Tensor | None, is_causal: bool
    ) -> Tensor:
        return attention(
            x, memory, memory, attn_mask=mask, key_padding_mask=padding, is_causal=is_causal, need_weights=False
        )[0]

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        return self.dropout1(self._attended(self.self_attn, x, x, attn_mask, key_padding_mask, is_causal))

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward network, each with a residual connection and a layer norm.

    Args:
        d_model: features of input and output.
        dim_feedforward: width of the feed-forward network.
        activation: 'relu', 'gelu' or a function.
        batch_first: inputs are (N, L, d_model) instead of (L, N, d_model).
        norm_first: norms stand before attention and feed-forward instead of after.
    """

    _attentions = ("self_attn",)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """``src`` is (L, N, d_model); masks as in `MultiheadAttention`; ``is_causal`` says ``src_mask`` is causal."""
        src_key_padding_mask = as_float_mask(
            src_key_padding_mask, "src_key_padding_mask", src_mask, "src_mask", src.dtype
        )
        src_mask = as_float_mask(src_mask, "src_mask", None, "", src.dtype)
        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), src_mask, src_key_padding_mask, is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, src_mask, src_key_padding_mask, is_causal))
        return self.norm2(x + self._ff_block(x))

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout2(self._feed_forward(x))


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to a memory, and a feed-forward network, each with a residual connection and a norm.

    The arguments are those of `TransformerEncoderLayer`.
    """

    _attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """``tgt`` is (L, N, d_model), ``memory`` (S, N, d_model); masks as in `MultiheadAttention`."""
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory_mask, memory_key_padding_mask, memory_is_causal)
        x = tgt
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *own)
            x = x + self._mha_block(self.norm2(x), memory, *other)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *own))
        x = self.norm2(x + self._mha_block(x, memory, *other))
        return self.norm3(x + self._ff_block(x))

    def _mha_block(
        self,
        x: Tensor,
        mem: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
        return self.dropout2(self._attended(self.multihead_attn, x, mem, attn_mask, key_padding_mask, is_causal))

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout3(self._feed_forward(x))


def _length(x: Tensor, layer: Any) -> int:
    """Of the sequences in ``x``, as ``layer`` takes them; 0 where each has its own."""
    if x.is_nested:
        return 0
    batch_first = getattr(getattr(layer, "self_attn", None), "batch_first", False)
    return x.size(1 if x.dim() == 3 and batch_first else 0)


def _why_not_dropped(layer: Module) -> str:
    """What keeps an encoder of such layers from dropping padding; empty if nothing does."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "it is no TransformerEncoderLayer"
    attention = layer.self_attn
    known = layer.activation in (F.relu, F.gelu) or isinstance(layer.activation, (ReLU, GELU))
    obstacles = {
        "norm_first is True": layer.norm_first,
        "batch_first is False": not attention.batch_first,
        "its keys and values have sizes of their own": not attention._qkv_same_embed_dim,
        "it has no bias": attention.in_proj_bias is None,
        "its activation is neither relu nor gelu": not known,
        "its norms differ in eps": layer.norm1.eps != layer.norm2.eps,
        "its number of heads is odd": attention.num_heads % 2 == 1,
    }
    return next((words for words, holds in obstacles.items() if holds), "")


class TransformerEncoder(Module):
    """``num_layers`` copies of a layer, and a norm at the end if given.

    In evaluation, where no gradient is asked for and ``src_key_padding_mask`` is the only mask, padding at the end of
    the sequences is dropped: its positions are zero before the final norm. Not so with ``enable_nested_tensor=False``,
    with other layers than standard ones, or after ``taeda.backends.mha.set_fastpath_enabled(False)``;
    ``mask_check=False`` says that padding is always at the end.
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check
        obstacle = _why_not_dropped(encoder_layer)
        self.use_nested_tensor = enable_nested_tensor and not obstacle
        if enable_nested_tensor and obstacle:
            warnings.warn(
                f"TransformerEncoder: enable_nested_tensor=True has no effect: encoder_layer: {obstacle}", stacklevel=2
            )

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """``src`` is (L, N, d_model); whether ``mask`` is causal is found out unless ``is_causal`` says it."""
        src_key_padding_mask = as_float_mask(src_key_padding_mask, "src_key_padding_mask", mask, "mask", src.dtype)
        mask = as_float_mask(mask, "mask", None, "", src.dtype)
        causal = _is_causal(mask, is_causal, _length(src, self.layers[0]))
        x = src
        for layer in self.layers:
            x = layer(x, src_mask=mask, is_causal=causal, src_key_padding_mask=src_key_padding_mask)
        if src_key_padding_mask is not None and mask is None and self._drops_padding(src, src_key_padding_mask):
            x = x.masked_fill((src_key_padding_mask != 0).unsqueeze(-1), 0.0)
        return x if self.norm is None else self.norm(x)

    def _drops_padding(self, src: Tensor, padding: Tensor) -> bool:
        """Whether padded positions give zeros; ``padding`` is (N, L), zero where a position counts."""
        layer = self.layers[0]
        if not getattr(self, "use_nested_tensor", False) or layer.training or src.dim() != 3:
            return False
        if not mha.get_fastpath_enabled() or taeda.is_autocast_enabled():
            return False
        tensors = (src, *layer.parameters())
        if taeda.overrides.has_torch_function(tensors):
            return False
        if taeda.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
            return False
        dropped = padding != 0
        return not self.mask_check or not bool((dropped[:, :-1] & ~dropped[:, 1:]).any())


class TransformerDecoder(Module):
    """``num_layers`` copies of a layer, and a norm at the end if given."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """As `TransformerDecoderLayer.forward`; whether ``tgt_mask`` is causal is found out unless said."""
        causal = _is_causal(tgt_mask, tgt_is_causal, _length(tgt, self.layers[0]))
        x = tgt
        for layer in self.layers:
            x = layer(
                x,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return x if self.norm is None else self.norm(x)


class Transformer(Module):
    """Encoder and decoder. Matrices start as in `taeda.nn.init.xavier_uniform_`.

    The arguments are those of the layers; ``custom_encoder`` and ``custom_decoder`` replace the whole halves.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        common = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        if custom_encoder is None:
            layer = TransformerEncoderLayer(*common, **factory)
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        self.encoder = custom_encoder
        if custom_decoder is None:
            decoder_layer = TransformerDecoderLayer(*common, **factory)
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
            custom_decoder = TransformerDecoder(decoder_layer, num_decoder_layers, norm)
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def _reset_parameters(self) -> None:
        for param in self.parameters():
            if param.dim() > 1:
                init.xavier_uniform_(param)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """``src`` (S, N, d_model) and ``tgt`` (T, N, d_model) to (T, N, d_model); masks as in `MultiheadAttention`.

        Raises:
            RuntimeError: batch sizes disagree, or a number of features is not ``d_model``.
        """
        batch_dim = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch_dim) != tgt.size(batch_dim):
            raise RuntimeError(
                f"taeda.nn.Transformer: src and tgt must have the same batch size; got {tuple(src.shape)} and "
                f"{tuple(tgt.shape)}"
            )
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError(
                f"taeda.nn.Transformer: src and tgt must have {self.d_model} features; got {tuple(src.shape)} and "
                f"{tuple(tgt.shape)}"
            )
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Device = None, dtype: _dtype | None = None) -> Tensor:
        """The causal mask (sz, sz): -inf above the diagonal, 0 elsewhere."""
        return _causal_mask(sz, device, dtype)
