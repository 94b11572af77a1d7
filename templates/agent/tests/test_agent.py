"""Holds the agent to its promises without a model, and so without a key: uv run python -m unittest"""

import asyncio
import json
import unittest
from pathlib import Path
from unittest.mock import AsyncMock, patch

from bat.agent import AgentConfig, AgentTaskStatus

from src import graph

ROOT = Path(__file__).parent.parent


def answers(agent, message):
    """Everything that the agent says to one message, in order."""

    async def collect():
        run = {"configurable": {"thread_id": "test"}}
        return [result async for result in agent.astream(message, run)]

    return asyncio.run(collect())


class AgentTest(unittest.TestCase):
    def test_answers_a_message(self):
        with __CLIENT_PATCHES__:
            agent = graph.__CLASS__AgentGraph(AgentConfig.load(str(ROOT / "config.yaml")), graph.__CLASS__AgentState)
        agent.__FIRST_CLIENT__.ask = AsyncMock(return_value="Good day")
        last = answers(agent, "Hello")[-1]
        self.assertEqual(last.task_status, AgentTaskStatus.AGENT_TASK_STATUS_COMPLETED)
        self.assertEqual(last.content, "Good day")

    def test_card_says_what_the_agent_can_do(self):
        card = json.loads((ROOT / "agent.json").read_text(encoding="utf-8"))
        self.assertTrue(card["description"])
        self.assertTrue(card["skills"])


if __name__ == "__main__":
    unittest.main()
