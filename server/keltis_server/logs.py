"""Logs: one JSON object per line for machines, or one short line for people."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from aiohttp.http_exceptions import HttpProcessingError

# What every record has; the rest was given by the code that logged it.
_ORDINARY: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class LogFormat(StrEnum):
    """How logs are written."""

    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    """What is worth writing down."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class JsonLines(logging.Formatter):
    """Writes each record as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as JSON."""
        plain: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "from": record.name,
            "text": record.getMessage(),
        }
        plain |= {name: value for name, value in vars(record).items() if name not in _ORDINARY}
        if record.exc_info:
            plain["trace"] = self.formatException(record.exc_info)
        return json.dumps(plain, default=str, ensure_ascii=False)


class NoQuotes(logging.Filter):
    """Keeps what strangers sent out of the logs: a request that cannot be read may hold a token."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let a record pass without the words of the client that made the mistake."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, HttpProcessingError):
            record.msg, record.args = "a request could not be read: %s", (type(error).__name__,)
            record.exc_info = None
            record.levelno, record.levelname = logging.INFO, "INFO"
        return True


def set_up(form: LogFormat, level: LogLevel) -> None:
    """Write logs to the error output."""
    handler = logging.StreamHandler(sys.stderr)
    if form == LogFormat.JSON:
        handler.setFormatter(JsonLines())
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s", "%H:%M:%S"))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    logging.getLogger("aiohttp.server").addFilter(NoQuotes())
