"""The OpenAPI 3.1 document, made from the endpoints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from importlib import metadata
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from keltis_server.http.endpoints import API, Endpoint, Endpoints, Media
from keltis_server.http.problems import PROBLEM_JSON
from keltis_server.http.wire import FORMATS
from keltis_server.models.problems import ProblemOut

REFERENCE: Final = "#/components/schemas/{model}"
TOKEN: Final = "token"
PLACES: Final = ("path", "query")
TOLD_ELSEWHERE: Final = ("description", "title")

Schemas = Mapping[Any, dict[str, Any]]  # by model and mode


def document(parts: Sequence[Endpoints]) -> dict[str, Any]:
    """Return the document of the whole API."""
    endpoints = [endpoint for part in parts for endpoint in part.all]
    _check_names(endpoints)
    used: list[tuple[type[BaseModel], JsonSchemaMode]] = [(ProblemOut, "serialization")]
    for endpoint in endpoints:
        used += [(model, "validation") for model in endpoint.models.values()]
        if isinstance(endpoint.returns, type):
            used.append((endpoint.returns, "serialization"))
    schemas, definitions = models_json_schema(list(dict.fromkeys(used)), ref_template=REFERENCE)
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        operations = paths.setdefault(API + endpoint.path, {})
        operations[endpoint.method.lower()] = _operation(endpoint, schemas, definitions["$defs"])
    for name in _names_of_parameters(endpoints, schemas):
        definitions["$defs"].pop(name, None)  # they are told one by one
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "keltis-ladder",
            "version": metadata.version("keltis-ladder"),
            "description": "A ladder for AI players of the Keltis games. Answers are JSON, or "
            "msgpack for those who accept it. What goes wrong is told as problem+json.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": part.tag, "description": part.description} for part in parts],
        "paths": paths,
        "components": {
            "schemas": definitions["$defs"],
            "securitySchemes": {
                TOKEN: {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token of an author, from POST /api/v1/accounts.",
                }
            },
        },
    }


def _check_names(endpoints: Sequence[Endpoint]) -> None:
    """Raise if two operations have one name: programs made from the document would lack one."""
    counted = Counter(endpoint.name for endpoint in endpoints)
    twice = [name for name, count in counted.items() if count > 1]
    if twice:
        raise ValueError(f"several endpoints have one name: {', '.join(twice)}")


def _names_of_parameters(endpoints: Sequence[Endpoint], schemas: Schemas) -> set[str]:
    return {
        _name_of(schemas, endpoint.models[place])
        for endpoint in endpoints
        for place in PLACES
        if place in endpoint.models
    }


def _name_of(schemas: Schemas, model: type[BaseModel]) -> str:
    reference: str = schemas[model, "validation"]["$ref"]
    return reference.rpartition("/")[2]


def _operation(endpoint: Endpoint, schemas: Schemas, definitions: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "description": endpoint.description,
        "tags": [endpoint.tag],
        "parameters": _parameters(endpoint, schemas, definitions),
        "responses": _responses(endpoint, schemas),
        "security": [{TOKEN: []}] if endpoint.needs or endpoint.known else [{}, {TOKEN: []}],
    }
    if "body" in endpoint.models:
        schema = schemas[endpoint.models["body"], "validation"]
        operation["requestBody"] = {
            "required": True,
            "content": {form: {"schema": schema} for form in FORMATS},
        }
    elif endpoint.upload is not None:
        operation["requestBody"] = {
            "required": True,
            "description": endpoint.upload.description,
            "content": {form: {} for form in endpoint.upload.types},
        }
    return operation


def _parameters(
    endpoint: Endpoint, schemas: Schemas, definitions: dict[str, Any]
) -> list[dict[str, Any]]:
    found = []
    for place in PLACES:
        model = endpoint.models.get(place)
        if model is None:
            continue
        schema = definitions[_name_of(schemas, model)]
        required = schema.get("required", [])
        for field, described in schema.get("properties", {}).items():
            parameter: dict[str, Any] = {
                "name": field,
                "in": place,
                "required": place == "path" or field in required,
                "schema": _schema_of_parameter(described),
            }
            if "description" in described:
                parameter["description"] = described["description"]
            found.append(parameter)
    return found


def _schema_of_parameter(described: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a parameter may be; that it may be left out is said elsewhere."""
    schema = {name: value for name, value in described.items() if name not in TOLD_ELSEWHERE}
    if "anyOf" in schema:
        schema["anyOf"] = [each for each in schema["anyOf"] if each != {"type": "null"}]
        if len(schema["anyOf"]) == 1:
            schema |= schema.pop("anyOf")[0]
    if schema.get("default", ...) is None:
        del schema["default"]
    return schema


def _responses(endpoint: Endpoint, schemas: Schemas) -> dict[str, Any]:
    good: dict[str, Any] = {"description": endpoint.status.phrase}
    if isinstance(endpoint.returns, Media):
        good["description"] = endpoint.returns.description
        good["content"] = {form: {} for form in endpoint.returns.types}
    elif endpoint.returns is not None:
        schema = schemas[endpoint.returns, "serialization"]
        good["content"] = {form: {"schema": schema} for form in FORMATS}
    responses = {str(int(status)): good for status in (endpoint.status, *endpoint.also)}
    if endpoint.method == "GET":
        responses["304"] = {"description": "What was sent before is still true."}
    problem = {PROBLEM_JSON: {"schema": schemas[ProblemOut, "serialization"]}}
    for status in endpoint.failures():
        described: dict[str, Any] = {"description": HTTPStatus(status).phrase, "content": problem}
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            described["headers"] = {
                "Retry-After": {
                    "description": "Seconds until it may be tried again.",
                    "schema": {"type": "integer", "minimum": 1},
                }
            }
        responses[str(int(status))] = described
    return responses
