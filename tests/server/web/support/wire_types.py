"""What the API sends to our pages, as types for the check of their scripts.

``python -m tests.server.web.support.wire_types`` writes them anew from the models of the server.
A test compares the file with the models, so that the two cannot come apart.
"""

from __future__ import annotations

import json
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from keltis_server.http.parameters import Page
from keltis_server.models.accounts import AccountOut, OpenedOut
from keltis_server.models.audit import BotAuditOut
from keltis_server.models.bots import BotOut, FaultOut, StepOut, TimesOut, VersionOut
from keltis_server.models.frames import FramesOut
from keltis_server.models.leaderboards import LeaderboardOut
from keltis_server.models.lobby import PlayedOut, RunningOut
from keltis_server.models.matches import MatchOut
from keltis_server.models.problems import ProblemOut
from keltis_server.models.reports import ReportOut
from tests.places import ROOT

FILE: Final = ROOT / "server/types/wire.d.ts"
HEAD: Final = """\
// What the HTTP API sends, as far as our pages ask for it.
// Written by `python -m tests.server.web.support.wire_types` from the server's models: do not edit.
"""
# What our scripts read: answers that they ask for, and models inside of live messages.
MODELS: Final[tuple[type[BaseModel], ...]] = (
    AccountOut,
    BotAuditOut,
    BotOut,
    FaultOut,
    FramesOut,
    LeaderboardOut,
    MatchOut,
    OpenedOut,
    PlayedOut,
    RunningOut,
    Page[FaultOut],
    Page[StepOut],
    ProblemOut,
    ReportOut,
    TimesOut,
    VersionOut,
)
# Where a model says "any text" or "any map", and we know which.
NARROWER: Final = {
    ("FindingOut", "mark"): '"ok" | "warning" | "failed"',
    ("FrameOut", "kind"): '"frame"',
    ("FramesOut", "view"): "Views.View",
    ("MatchOut", "variant"): "Views.Variant",
    ("PlayedOut", "variant"): "Views.Variant",
    ("RunningOut", "variant"): "Views.Variant",
}
PLAIN: Final = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}

Schema = dict[str, Any]


def wire_types() -> str:
    """Return the models as declarations of TypeScript."""
    _, found = models_json_schema([(model, "serialization") for model in MODELS])
    models: dict[str, Schema] = found["$defs"]
    parts = [_declared(_name(name), models[name]) for name in sorted(models)]
    return f"{HEAD}\ndeclare namespace Wire {{\n" + "\n\n".join(parts) + "\n}\n"


def _name(name: str) -> str:
    """Return a name that TypeScript takes: of ``Page[T]`` ``PageOfT``."""
    return name.replace("Page_", "PageOf").strip("_")


def _declared(name: str, model: Schema) -> str:
    if "enum" in model:
        return f"  type {name} = {_union([json.dumps(each) for each in model['enum']])};"
    fields = [
        f"    {field}: {NARROWER.get((name, field)) or _type(schema)};"
        for field, schema in model["properties"].items()
    ]
    return "\n".join([f"  interface {name} {{", *fields, "  }"])


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return _name(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return _union([_type(each) for each in schema["anyOf"]])
    kind = schema.get("type")
    if kind == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(_type(each) for each in schema['prefixItems'])}]"
        inner = _type(schema["items"])
        return f"({inner})[]" if "anyOf" in schema["items"] else f"{inner}[]"
    if kind == "object":
        return f"Record<string, {_type(schema.get('additionalProperties') or {})}>"
    return PLAIN[kind] if kind else "unknown"


def _union(types: list[str]) -> str:
    return " | ".join(types)


if __name__ == "__main__":
    FILE.write_text(wire_types(), encoding="utf-8")
