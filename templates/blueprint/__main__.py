"""Starts one agent of this blueprint: `uv run . AGENT`"""

import importlib
import os
import sys
from pathlib import Path


def _agents():
    return sorted(card.parent.name for card in Path.cwd().glob("*/agent.json"))


def main():
    agents = _agents()
    name = sys.argv[1] if len(sys.argv) > 1 else None
    if name not in agents:
        known = ", ".join(agents) or "none yet, add one with: bat add agent NAME"
        print(f"Usage: uv run . AGENT\nAgents: {known}")
        sys.exit(1)
    del sys.argv[1]
    if "CONFIG_PATH" not in os.environ and not Path("config.yaml").exists():
        os.environ["CONFIG_PATH"] = f"{name}/config.yaml"
    # Imported here, so that only the agent that was asked for is loaded.
    importlib.import_module(name).run()


if __name__ == "__main__":
    main()
