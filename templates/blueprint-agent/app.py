"""Builds and runs the agent. `__main__.py` of the blueprint imports it when this agent is asked for."""

from bat.agent import AgentApplication

from .src.graph import __CLASS__AgentGraph, __CLASS__AgentState


def run() -> None:
    AgentApplication(
        AgentGraphType=__CLASS__AgentGraph,
        AgentStateType=__CLASS__AgentState,
        # Spans hide at least this, whatever config.yaml says: none, content, names or full.
        telemetry_privacy_floor="__PRIVACY__",
    ).run()
