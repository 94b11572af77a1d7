"""What the agent does with a message: its steps, and what it knows while it takes them."""

from typing import Optional, Self

from bat.agent import AgentGraph, AgentState, AgentTaskResult, AgentTaskStatus
from langgraph.graph import END, START
from typing_extensions import override

__CLIENT_IMPORTS__


class __CLASS__AgentState(AgentState):
    """What is known about the message that is being answered."""

    query: str
    response: Optional[str] = None

    @classmethod
    @override
    def from_query(cls, query: str) -> Self:
        return cls(query=query)

    @override
    def to_task_result(self) -> AgentTaskResult:
        if self.response:
            return AgentTaskResult(AgentTaskStatus.AGENT_TASK_STATUS_COMPLETED, self.response)
        return AgentTaskResult(AgentTaskStatus.AGENT_TASK_STATUS_WORKING, "Thinking")


class __CLASS__AgentGraph(AgentGraph):
    """The steps from a message to its answer."""

    @override
    def setup(self, config) -> None:
        __CLIENT_ATTRIBUTES__
        self.graph_builder.add_node("answer", self._answer)
        self.graph_builder.add_edge(START, "answer")
        self.graph_builder.add_edge("answer", END)

    async def _answer(self, state: __CLASS__AgentState) -> dict:
        return {"response": await self.__FIRST_CLIENT__.ask(state.query)}
