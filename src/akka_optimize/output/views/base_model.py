"""How a base model is shown."""

from __future__ import annotations

from akka_optimize.output.view import Column, Field, View

BASE_MODEL = View(
    name="base model",
    plural="models",
    fields=(
        Field("modelId", "its ID, 16 hex digits"),
        Field("repository", "the name that a descriptor's baseModel gives"),
        Field("revision", "sha256 of its weights"),
        Field("status", "ready, preparing or not-selected"),
        Field("engine", "what trains it"),
        Field("methods", "training methods it admits"),
        Field("precisions", "number formats it admits"),
        Field("parameters", "how many numbers it has"),
        Field("contextLength", "tokens of the longest row it reads"),
        Field("license", "the licence of its weights, by SPDX identifier"),
        Field("description", "what it is"),
    ),
    columns=(
        Column("ID", "modelId"),
        Column("REPOSITORY", "repository"),
        Column("STATUS", "status"),
        Column("METHODS", "methods"),
        Column("PARAMETERS", "parameters"),
        Column("CONTEXT", "contextLength"),
    ),
    block=(
        Column("Base model", "repository"),
        Column("ID", "modelId"),
        Column("Revision", "revision"),
        Column("Status", "status"),
        Column("Engine", "engine"),
        Column("Methods", "methods"),
        Column("Precisions", "precisions"),
        Column("Parameters", "parameters"),
        Column("Context", "contextLength"),
        Column("Licence", "license"),
        Column("Description", "description"),
    ),
)
