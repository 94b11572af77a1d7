from bat.chat_model_client import ChatModelClient, ChatModelClientConfig


class __CLIENT__(ChatModelClient):
    """Asks the model that config.yaml names."""

    SYSTEM_INSTRUCTIONS = "You are a helpful assistant. Answer briefly and in plain text."

    def __init__(self, tools):
        super().__init__(
            system_instructions=self.SYSTEM_INSTRUCTIONS,
            chat_model_config=ChatModelClientConfig.load(client_name="__CLIENT__"),
            tools=tools,
            # output_schema=Answer,  # a pydantic class: the model then answers with an instance of it
        )

    async def ask(self, query: str) -> str:
        """The model's answer to one message."""
        return (await self.ainvoke(query)).text
