"""Pruning of whole channels: rows of weights leave the model, with what reads them."""

from taeda.ao.pruning._experimental.pruner.base_structured_sparsifier import BaseStructuredSparsifier
from taeda.ao.pruning._experimental.pruner.FPGM_pruner import FPGMPruner
from taeda.ao.pruning._experimental.pruner.lstm_saliency_pruner import LSTMSaliencyPruner
from taeda.ao.pruning._experimental.pruner.parametrization import BiasHook, FakeStructuredSparsity
from taeda.ao.pruning._experimental.pruner.saliency_pruner import SaliencyPruner

__all__ = [
    "BaseStructuredSparsifier", "BiasHook", "FPGMPruner", "FakeStructuredSparsity", "LSTMSaliencyPruner",
    "SaliencyPruner",
]  # fmt: skip
