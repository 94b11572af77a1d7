from .app import run

__all__ = ["run"]
