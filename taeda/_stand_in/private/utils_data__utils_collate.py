"""What collate functions of programs say."""

__all__ = ["default_collate_err_msg_format"]

default_collate_err_msg_format = "default_collate takes tensors, NumPy arrays, numbers, dicts and lists; got {}"
