"""Who imports whom: DESIGN's arrows, read from the source."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import dmlplayground
from dmlplayground import metrics, protocols

ROOT = Path(dmlplayground.__file__).parent
LEAVES = {"array_files", "errors", "files", "options", "optional", "parts", "seeds", "signals", "threads"}
PARTS = {
    "augmentations",
    "backbones",
    "data",
    "methods",
    "metrics",
    "mining",
    "optimizers",
    "protocols",
    "regularizers",
    "samplers",
    "schedules",
    "transforms",
}
ABOVE = {"config", "fitting", "hyperparams", "training", "sweeps", "reports", "cli", "live", "trained"}
MODULES = {
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
}


def names(module: str, node: ast.stmt) -> Iterator[str]:
    """The modules that an import statement of a module names."""
    package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        source = ".".join([*base, *([node.module] if node.module else [])])
        for alias in node.names:
            whole = f"{source}.{alias.name}"
            yield whole if whole in MODULES else source


def imported(module: str) -> Iterator[str]:
    """The modules that a module imports, in its functions too; what is for type checkers alone does not count."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    ignored = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) not in ignored:
            yield from names(module, node)


def unit(module: str) -> str:
    """The package or module directly in ``dmlplayground`` that it belongs to."""
    return module.split(".")[1] if "." in module else "dmlplayground"


@pytest.fixture(scope="module")
def arrows() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        for other in imported(module):
            if other in MODULES and unit(other) != unit(module):
                found[unit(module)].add(unit(other))
    return found


def test_nothing_imports_in_a_circle(arrows):
    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for other in arrows[waiting.pop()] - seen:
                seen.add(other)
                waiting.append(other)
        return seen

    assert [name for name in list(arrows) if name in reached(name)] == []


#: Every package and module of ours, from what knows nobody up to what knows everybody: each knows lower rows alone.
LAYERS = (
    LEAVES,
    {"compat", "download", "graph", "layout", "metrics", "opencv", "optimizers", "resources", "samplers"}
    | {"schedules", "templates"},
    {"augmentations", "dmlplayground", "mining", "protocols", "regularizers"},
    {"devices", "methods", "store", "transforms"},
    {"config", "data"},
    {"backbones", "hyperparams", "reports"},
    {"live", "training"},
    {"fitting", "sweeps", "trained"},
    {"doctor"},
    {"cli"},
    {"__main__"},
)


def test_every_package_has_its_layer_and_knows_lower_ones_alone(arrows):
    layer = {name: number for number, names in enumerate(LAYERS) for name in names}
    assert {unit(module) for module in MODULES} == set(layer)
    upward = {
        name: {other for other in others if layer[other] >= layer[name]}
        for name, others in arrows.items()
        if name not in LEAVES
    }
    assert {name: others for name, others in upward.items() if others} == {}


def test_leaves_know_only_leaves(arrows):
    assert {name: arrows[name] - LEAVES for name in LEAVES if arrows[name] - LEAVES} == {}


def test_parts_know_nothing_above_them(arrows):
    # Backbones read the schema of the head that they build.
    allowed = {"backbones": {"config"}}
    wrong = {name: (arrows[name] & ABOVE) - allowed.get(name, set()) for name in PARTS}
    assert {name: others for name, others in wrong.items() if others} == {}


def test_the_store_knows_nobody(arrows):
    assert arrows["store"] - LEAVES <= {"dmlplayground"}  # its version


def test_what_measures_and_trains_knows_no_report(arrows):
    for name in ("metrics", "training", "config", "store", "protocols"):
        assert not arrows[name] & {"reports", "sweeps", "cli"}, name


def test_reports_read_the_store_alone(arrows):
    assert not arrows["reports"] & {"training", "sweeps", "data", "backbones", "cli"}


def test_nobody_knows_the_command_line(arrows):
    assert [name for name, others in arrows.items() if "cli" in others and name != "__main__"] == []


def quoted(path: Path) -> set[str]:
    """The strings of a module or a script that are a literal by themselves."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".js":
        return {match[2] for match in re.finditer(r"""(["'`])(.*?)\1""", text)}
    return {
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def places_of(names: re.Pattern, *homes: str) -> list[str]:
    """Where such names stand as literals, but for their homes."""
    files = (path.relative_to(ROOT) for suffix in ("*.py", "*.js") for path in ROOT.rglob(suffix))
    return [
        f"{file}: {name}"
        for file in files
        if not file.as_posix().startswith(homes)
        for name in sorted(filter(names.fullmatch, quoted(ROOT / file)))
    ]


def test_results_are_named_by_protocols_alone():
    facts = [protocols.get(name) for name in protocols.names()]
    names = {protocols.UNTRAINED, protocols.VALIDATION}
    names |= {name for one in facts for name in (*one.results, *one.labels.values())}
    # Published tables name the result that they go with; the store keeps weights of the best and the last epoch.
    assert (
        places_of(re.compile("|".join(names)), "protocols/", "reports/published/", "store/__init__.py") == []
    )


def test_metrics_are_named_by_their_table_alone():
    names = "|".join(
        re.escape(name).replace("@K", r"@(K|-?\d+)").replace("@k", r"@(k|-?\d+)") for name in metrics.names()
    )
    # The page of the Reality Check's argument is about that study's own figures.
    assert places_of(re.compile(names), "metrics/", "reports/published/", "reports/argument.py") == []


def test_the_live_page_knows_stores_and_reports_alone(arrows):
    assert not arrows["live"] & {"training", "sweeps", "data", "backbones", "trained"}


def test_templates_know_only_leaves(arrows):
    assert arrows["templates"] <= LEAVES


# --- imports inside functions -------------------------------------------------------------------------------------------

#: What takes long to load, or need not be installed.
SLOW = {
    *("PIL", "cv2", "gluoncv", "matplotlib", "mxnet", "numba", "numpy", "scipy", "sklearn", "torch", "tqdm"),
    *("mlflow", "onnx", "optuna", "pyarrow", "ray", "starlette", "tensorboard", "uvicorn", "wandb", "http"),
}


def statements(module: str) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """A module's imports outside of functions, and inside."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    kinds = (ast.Import, ast.ImportFrom)
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    inside = {id(inner): inner for node in functions for inner in ast.walk(node) if isinstance(inner, kinds)}
    outside = [node for node in tree.body if isinstance(node, kinds)]
    return outside, list(inside.values())


def slow(module: str, seen: set[str]) -> bool:
    """Whether loading a module of ours loads what takes long."""
    if module in seen or module not in MODULES:
        return module.partition(".")[0] in SLOW
    seen.add(module)
    outside, _ = statements(module)
    return any(slow(other, seen) for node in outside for other in names(module, node))


@pytest.mark.parametrize("package", sorted({unit(module) for module in MODULES} - {"cli"}))
def test_an_import_inside_a_function_saves_time_or_says_why(package):
    """Commands are left out: each imports what it needs when it runs."""
    without_reason = []
    for module, path in MODULES.items():
        if unit(module) == package:
            lines = path.read_text(encoding="utf-8").splitlines()
            for node in statements(module)[1]:
                told = any("#" in line for line in lines[node.lineno - 1 : node.end_lineno])
                if not told and not any(slow(other, set()) for other in names(module, node)):
                    without_reason.append(f"{module}, line {node.lineno}: {ast.unparse(node)}")
    assert without_reason == []
