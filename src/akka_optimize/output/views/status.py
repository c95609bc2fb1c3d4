"""How the services are shown."""

from __future__ import annotations

from akka_optimize.output.view import Column, Field, View

STATUS = View(
    name="service",
    plural="services",
    fields=(
        Field("name", "trainer or optimize"),
        Field("address", "where it was looked for"),
        Field("source", "where that address came from"),
        Field("region", "region that it was asked for"),
        Field("answers", "whether anything answered"),
        Field("milliseconds", "how long its answer took, with the connection"),
        Field("version", "its release, where it tells"),
        Field("message", "what it said, or why there was no answer"),
    ),
    columns=(
        Column("SERVICE", "name"),
        Column("ADDRESS", "address"),
        Column("FROM", "source"),
        Column("ANSWERS", lambda service: "yes" if service.answers else "no"),
        Column("MS", "milliseconds"),
        Column("VERSION", "version"),
        Column("REGION", "region"),
        Column("SAID", "message"),
    ),
)
