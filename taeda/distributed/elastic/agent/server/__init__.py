"""Agents, one on each node."""

from __future__ import annotations

from taeda.distributed.elastic.agent.server.api import ElasticAgent as ElasticAgent
from taeda.distributed.elastic.agent.server.api import RunResult as RunResult
from taeda.distributed.elastic.agent.server.api import SimpleElasticAgent as SimpleElasticAgent
from taeda.distributed.elastic.agent.server.api import Worker as Worker
from taeda.distributed.elastic.agent.server.api import WorkerGroup as WorkerGroup
from taeda.distributed.elastic.agent.server.api import WorkerSpec as WorkerSpec
from taeda.distributed.elastic.agent.server.api import WorkerState as WorkerState
