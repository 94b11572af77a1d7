"""Starts the agent: `uv run .`"""

from bat.agent import AgentApplication

from src.graph import __CLASS__AgentGraph, __CLASS__AgentState

if __name__ == "__main__":
    AgentApplication(
        AgentGraphType=__CLASS__AgentGraph,
        AgentStateType=__CLASS__AgentState,
        # Spans hide at least this, whatever config.yaml says: none, content, names or full.
        telemetry_privacy_floor="__PRIVACY__",
    ).run()
