"""Agents: a node's part of a job, which starts its workers and starts them again."""
