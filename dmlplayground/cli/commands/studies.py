"""What is said of a study: its experiments, settings and tables."""

from ...base import layout
from ..listing import below

EXAMPLE = "studies musgrave2020"


def about_one(name: str) -> list[str]:
    """A study's grids and searches, its settings, and its tables."""
    from ...base import resources
    from ...studies import published

    study = published.get(name)
    experiments = [[found] for found in resources.experiment_names(study.key)]
    searches = [[found] for found in resources.search_names(study.key)]
    return [
        *filter(None, [layout.prose(study.warning)]),
        *below("Its experiments (dmlplayground sweep NAME):", experiments),
        *below("Its searches (dmlplayground tune NAME):", searches),
        *_settings(study.key),
        *_tables(study.key),
    ]


def _settings(study: str) -> list[str]:
    """The rows of its recipe."""
    from ...trial import hyperparams

    rows = sorted({name.row for name in hyperparams.names() if name.study == study})
    heading = f"Rows with settings (dmlplayground train METHOD --hyperparams {study}):\n"
    return [heading + layout.fill(", ".join(rows), "  ")] if rows else []


def _tables(study: str) -> list[str]:
    from ...studies import published

    tables = published.tables(study)
    listed = [one for title, rows in tables for one in below(f"  {title}:", rows, indent=4 * " ")]
    return ["Published: shares in percent, '?' marks doubtful values.", *listed] if listed else []
