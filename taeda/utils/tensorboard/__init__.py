"""Logging for TensorBoard, which needs to be installed to look at the files, not to write them."""

from taeda.utils.tensorboard.writer import FileWriter as FileWriter
from taeda.utils.tensorboard.writer import SummaryWriter as SummaryWriter
