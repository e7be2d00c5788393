"""AgentDojo's values as plain JSON values."""

import datetime
import enum
from collections.abc import Iterable, Mapping


def plain(value):
    """The value as JSON has it. What JSON cannot say is an error, not a guess."""
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(mode="json"))
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=repr)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is no JSON value")


def definitions(functions: Iterable) -> list[dict]:
    """Functions as tools/list has them."""
    return [
        {"name": f.name, "description": f.description, "inputSchema": f.parameters.model_json_schema()}
        for f in functions
    ]
