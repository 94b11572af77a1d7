from bat.chat_model_client import ChatModelClient, ChatModelClientConfig
from pydantic import BaseModel, Field


class Answer(BaseModel):
    """What the model is to fill in."""

    answer: str = Field(description="The answer, in plain text")
    confident: bool = Field(description="Whether the model is sure of it")


class __CLIENT__(ChatModelClient):
    """Asks the model that config.yaml names for an Answer instead of a text."""

    SYSTEM_INSTRUCTIONS = "You are a helpful assistant. Answer briefly, and say whether you are sure."

    def __init__(self, tools):
        super().__init__(
            system_instructions=self.SYSTEM_INSTRUCTIONS,
            chat_model_config=ChatModelClientConfig.load(client_name="__CLIENT__"),
            tools=tools,
            output_schema=Answer,
        )

    async def ask(self, query: str) -> str:
        """The answer's text; use `ainvoke` for the whole Answer."""
        answer = await self.ainvoke(query)
        return answer.answer if answer.confident else f"{answer.answer} (not sure)"
