"""`training runs annotate`."""

from __future__ import annotations

import click

from akka_optimize.cli.app import App
from akka_optimize.cli.group import command
from akka_optimize.errors import WrongUsage
from akka_optimize.output.views.run import RUN


@command(
    view=RUN,
    examples="""
        # What was found out since
        akka-optimize training runs annotate first --comment 'rows 40 to 60 are mislabelled'

        # The label that tables show for its configuration; an empty one clears it
        akka-optimize training runs annotate first --config-name 'rank 8'
        akka-optimize training runs annotate first --config-name ''
    """,
)
@click.argument("run")
@click.option("--comment", metavar="string", help="What to add to the run's comments, with the date")
@click.option("--config-name", metavar="string", help="Label of the run's configuration, for tables; '' clears it")
@click.option("--description", metavar="string", help="Free text about the run; '' clears it")
@click.pass_obj
def annotate(app: App, run: str, comment: str | None, config_name: str | None, description: str | None) -> None:
    """Add a dated comment to a run, or change its description or its label.

    What was said before stays among the run's events, in the catalog and in the record's summary.json. A run's name
    and its purpose never change.
    """
    if comment is None and config_name is None and description is None:
        raise WrongUsage("there is nothing to add", hint="give --comment, --description or --config-name")
    app.emit(app.trainer.annotate_run(run, comment=comment, description=description, config_name=config_name))
