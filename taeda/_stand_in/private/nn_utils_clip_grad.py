"""By the names of before."""

from taeda.nn.utils.clip_grad import clip_grads_with_norm_, get_total_norm

__all__ = ["_clip_grads_with_norm_", "_get_total_norm"]

_clip_grads_with_norm_, _get_total_norm = clip_grads_with_norm_, get_total_norm
