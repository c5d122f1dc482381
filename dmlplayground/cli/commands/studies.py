"""What is said of a study: its experiments, settings and tables."""

from ...base import layout

EXAMPLE = "studies musgrave2020"


def about_one(name: str) -> list[str]:
    """A study's grids and searches, its settings, and its tables."""
    from ...base import resources
    from ...studies import published

    study = published.get(name)
    more = [
        layout.prose(study.warning),
        _names("Its experiments (dmlplayground sweep NAME):", resources.experiment_names(study.key)),
        _names("Its searches (dmlplayground tune NAME):", resources.search_names(study.key)),
        _settings(study.key),
        *_tables(study.key),
    ]
    return list(filter(None, more))


def _names(heading: str, names: list[str]) -> str:
    return "\n  ".join([heading, *names]) if names else ""


def _settings(study: str) -> str:
    """The rows of its recipe."""
    from ...trial import hyperparams

    rows = sorted({name.row for name in hyperparams.names() if name.study == study})
    heading = f"Rows with settings (dmlplayground train METHOD --hyperparams {study}):\n"
    return heading + layout.fill(", ".join(rows), "  ") if rows else ""


def _tables(study: str) -> list[str]:
    from ...studies import published

    listed = [
        f"  {title}:\n" + layout.columns([("    " + first, *rest) for first, *rest in rows])
        for title, rows in published.tables(study)
    ]
    return ["Published: shares in percent, '?' marks doubtful values.", *listed] if listed else []
