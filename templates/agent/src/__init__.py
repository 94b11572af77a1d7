from .graph import __CLASS__AgentGraph, __CLASS__AgentState

__all__ = ["__CLASS__AgentGraph", "__CLASS__AgentState"]
