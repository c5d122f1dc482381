"""Who imports whom: DESIGN's arrows, read from the source."""

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import dmlplayground
from dmlplayground import metrics, protocols

ROOT = Path(dmlplayground.__file__).parent
#: The rooms, from what knows nobody up to what knows everybody: each knows those before it alone.
ROOMS = ("base", "parts", "studies", "trial", "sweeps", "reports", "serving", "cli")
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


def room(module: str) -> str:
    """The folder of the package that it stands in; the package itself and ``__main__`` stand in none."""
    return module.split(".")[1] if module.count(".") > 1 or module.split(".")[-1] in ROOMS else ""


def package(module: str) -> str:
    """The package that it belongs to, a level below the room's: ``parts.methods``, ``trial.store``."""
    return ".".join(module.replace("cli.commands", "cli").split(".")[1:3])


def arrows_between(unit: Callable[[str], str]) -> dict[str, set[str]]:
    """Which units know which others."""
    found: dict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        for other in imported(module):
            if other in MODULES and unit(other) != unit(module):
                found[unit(module)].add(unit(other))
    return found


@pytest.fixture(scope="module")
def packages() -> dict[str, set[str]]:
    return arrows_between(package)


def test_every_folder_is_a_room_and_nothing_else_is_there():
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders - {"_files"} == set(ROOMS)
    assert {path.name for path in ROOT.glob("*.py")} == {"__init__.py", "__main__.py"}


def test_every_room_knows_lower_ones_alone():
    found = arrows_between(room)
    wrong = {name: found[name] - {"", *ROOMS[:place]} for place, name in enumerate(ROOMS)}
    assert {name: others for name, others in wrong.items() if others} == {}


def test_nothing_imports_in_a_circle(packages):
    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for other in packages[waiting.pop()] - seen:
                seen.add(other)
                waiting.append(other)
        return seen

    assert [name for name in list(packages) if name in reached(name)] == []


def test_a_parts_file_knows_what_its_kind_shares_and_no_other_part():
    """A folder of a kind holds its parts; their helpers stand in ``shared/``, which knows none of them."""
    kinds = {path.name for path in (ROOT / "parts").iterdir() if (path / "shared").is_dir()}
    wrong = []
    for module in MODULES:
        if module.startswith("dmlplayground.parts.") and ".shared" in module:
            own = module.partition(".shared")[0] + "."
            known = {
                one.removeprefix(own).partition(".")[0] for one in imported(module) if one.startswith(own)
            }
            wrong += [f"{module}: {one}" for one in sorted(known - {"shared"})]
    assert kinds and wrong == []


def test_the_store_knows_the_base_alone(packages):
    assert {one for one in packages["trial.store"] if not one.startswith("base.")} <= {""}  # its version


def test_reports_read_the_store_alone(packages):
    known = set().union(*(others for name, others in packages.items() if name.startswith("reports.")))
    assert not known & {"trial.training", "parts.data", "parts.backbones"}


def test_templates_know_the_base_alone(packages):
    assert {one for one in packages["cli.templates"] if not one.startswith("base.")} == set()


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
        places_of(
            re.compile("|".join(names)), "parts/protocols/", "studies/published/", "trial/store/__init__.py"
        )
        == []
    )


def test_metrics_are_named_by_their_table_alone():
    names = "|".join(
        re.escape(name).replace("@K", r"@(K|-?\d+)").replace("@k", r"@(k|-?\d+)") for name in metrics.names()
    )
    assert places_of(re.compile(names), "parts/metrics/", "studies/published/") == []


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


@pytest.mark.parametrize("name", [name for name in ROOMS if name != "cli"])
def test_an_import_inside_a_function_saves_time_or_says_why(name):
    """Commands are left out: each imports what it needs when it runs."""
    without_reason = []
    for module, path in MODULES.items():
        if room(module) == name:
            lines = path.read_text(encoding="utf-8").splitlines()
            for node in statements(module)[1]:
                told = any("#" in line for line in lines[node.lineno - 1 : node.end_lineno])
                if not told and not any(slow(other, set()) for other in names(module, node)):
                    without_reason.append(f"{module}, line {node.lineno}: {ast.unparse(node)}")
    assert without_reason == []
