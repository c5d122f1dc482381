"""Parts from outside the package: from a file that somebody names, from a script or a notebook, or from an installed package
with entry points of the group ``dmlplayground.parts``, each of which names a module that registers parts.

Such a part is what its file held when it was loaded, so it goes by the file's SHA-256. Trials, records and stores hold that
digest. A file is code: it runs when its user names it. What a store that somebody was handed names runs only if its user has
run that very file before, or names it.
"""

import contextlib
import importlib
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from . import files, resources
from .errors import UserError, warn

GROUP = "dmlplayground.parts"
KEPT = "parts"  # the folder of a store that keeps the files of its trials' parts
COMMAND = "command"  # the role of a file that a trial's command runs, and that registers no parts
KNOWN = "known-parts"  # the folder of the cache that holds the digests of files that this user has run


class Source(NamedTuple):
    """Where a part is from. One that was typed in has no file, and its digest is that of its code."""

    file: str
    sha256: str


#: By kind and key: the kind, the part, and where it is from.
Registered = dict[tuple[str, str], tuple[Any, Any, Source]]

_loaded: dict[str, Registered] = {}  # by a file's digest: what it has registered
_copies: dict[str, Path] = {}  # by digest: where a store has a file that is gone from its own place
_running: list[Path] = []  # files that are being loaded


def source_of(build: Any) -> Source | None:
    """Where a class or function from outside the package is from; None if it is one of ours."""
    build = getattr(build, "func", build)  # of a functools.partial
    if build.__module__.partition(".")[0] == "dmlplayground":
        return None
    module = sys.modules.get(build.__module__)
    file = getattr(module, "__file__", None)
    if file and Path(file).is_file():
        source = getattr(module, "__source__", None)
        return source or Source(str(Path(file).resolve()), files.digest(Path(file)))
    return Source("", sha256(_typed_in(build)).hexdigest())


def _typed_in(build: Any) -> bytes:
    import inspect  # here, as few need it

    with contextlib.suppress(OSError, TypeError):
        return inspect.getsource(build).encode()
    members = vars(build).values() if isinstance(build, type) else [build]
    return repr([_code(member.__code__) for member in members if hasattr(member, "__code__")]).encode()


def _code(code: types.CodeType) -> tuple[Any, ...]:
    constants = [_code(each) if isinstance(each, types.CodeType) else each for each in code.co_consts]
    return (code.co_code, code.co_names, constants)


def add(kind: Any, part: Any, source: Source) -> None:
    """Note that a part from outside has been registered: so its user has run it."""
    _loaded.setdefault(source.sha256, {})[kind.name, part.key] = (kind, part, source)
    with contextlib.suppress(OSError):  # then it has to be named again
        known = resources.cache() / KNOWN
        known.mkdir(parents=True, exist_ok=True)
        (known / source.sha256).touch()


def known(sources: Any) -> bool:
    """Whether these files are loaded already, or register nothing."""
    return all(each.get("role") == COMMAND or each.get("sha256") in _loaded for each in sources or ())


def registered(path: Path) -> list[tuple[str, str]]:
    """The kind and the key of every part that a file, which is loaded, has registered."""
    return list(_loaded[files.digest(path)])


def require_idle(what: str) -> None:
    """Refuse what would start over and over in a script that is loaded for the parts it has."""
    if _running:
        raise UserError(
            f'{_running[-1]} is loaded for its parts and would {what} again; put that below: if __name__ == "__main__":'
        )


def load(named: Any, store: Path | None = None) -> None:
    """Load the parts of these files, each a path, or a mapping with its ``file`` and ``sha256`` as records hold it. A file
    that is gone is looked for in the store; one that has changed is refused."""
    if isinstance(named, (str, Path)) or not isinstance(named, Iterable):
        raise UserError(f"parts must be a list of files, not {named!r}.")
    owners: dict[tuple[str, str], str] = {}
    for each in named:
        given = {"file": str(each)} if isinstance(each, (str, Path)) else each
        if not isinstance(given, Mapping) or not isinstance(given.get("file"), str):
            raise UserError(f"parts must be a list of files, not of {each!r}.")
        if given.get("role") == COMMAND:
            file_of(given, store)
            continue
        for kind, key in _load(given["file"], given.get("sha256"), store):
            if owners.setdefault((kind, key), given["file"]) != given["file"]:
                raise UserError(f"{owners[kind, key]} and {given['file']} both have a {kind} called {key}.")


def file_of(source: Mapping[str, str], store: Path | None = None) -> Path:
    """The file of a source, or its copy in the store where it is gone; one that has changed is refused."""
    path = Path(source["file"])
    if not path.is_file():
        copy = _copy(store, source["file"], source["sha256"])
        if copy is not None and copy.is_file():
            _copies[source["sha256"]] = copy
        path = _copies.get(source["sha256"], path)
    if not path.is_file():
        raise UserError(f"{path}, which the trial was made with, is gone.")
    if not _is(path, source["sha256"]):
        raise UserError(f"{path} has changed since the trial was made. Train a new trial with it.")
    return path


def _load(file: str, digest: str | None, store: Path | None) -> Registered:
    if digest is not None and digest in _loaded:
        return _put_in_place(digest)
    if not file:
        raise UserError("a part was typed in, in another program; put it into a file and name it in parts.")
    path = Path(file).expanduser()
    copy = _copy(store, file, digest)
    if copy is not None and not copy.is_file():
        copy = None
    if copy is not None and not path.is_file():
        path = copy
    try:
        content = files.read_bytes(path)
    except OSError as problem:
        raise UserError(f"cannot read the part {path}: {problem.strerror or problem}.") from None
    found = sha256(content).hexdigest()
    if digest not in (None, found):
        put_back = f", or put the old file back: {copy}" if copy else ""
        raise UserError(f"{path} has changed since the trial was made. Train a new trial with it{put_back}.")
    if found in _loaded:
        return _put_in_place(found)
    return _run(path, content, Source(str(Path(file).expanduser().absolute()), found))


def _run(path: Path, content: bytes, source: Source) -> Registered:
    """Run a file, which may be a copy of its source, and give what it has registered."""
    digest = source.sha256
    module = types.ModuleType(f"dmlplayground_parts.{digest[:12]}.{path.stem}")
    module.__file__, module.__dict__["__source__"] = str(path.resolve()), source
    sys.modules[module.__name__] = module
    _running.append(path)
    try:
        exec(compile(content, module.__file__, "exec"), module.__dict__)
    except UserError:
        raise
    except (Exception, SystemExit) as problem:
        why = f"{_place(problem, module.__file__)}{_said(problem)}"
        raise UserError(f"{path} cannot be loaded: {why}") from problem
    finally:
        _running.pop()
    if digest not in _loaded:
        raise UserError(f"{path} registers no part: it needs a decorator like @methods.KIND.register(...).")
    return _loaded[digest]


def _place(problem: BaseException, file: str) -> str:
    """The line of the file in which it went wrong."""
    if isinstance(problem, SyntaxError):
        return f"line {problem.lineno}: "
    import traceback  # here, as few need it

    frames = traceback.walk_tb(problem.__traceback__)
    lines = [line for frame, line in frames if frame.f_code.co_filename == file]
    return f"line {lines[-1]}: " if lines else ""


def _said(problem: BaseException) -> str:
    text = problem.msg if isinstance(problem, SyntaxError) else str(problem)
    return f"{type(problem).__name__}: {text}".splitlines()[0].rstrip(".: ") + "."


def _put_in_place(digest: str) -> Registered:
    """Make the parts of this version of a file the ones that their kinds know."""
    for kind, part, source in _loaded[digest].values():
        kind.put(part, source)
    return _loaded[digest]


# --- stores ----------------------------------------------------------------------------------------------------------


def located(content: Any, folder: Path) -> Any:
    """A configuration from a file in this folder: its ``parts`` are named from there."""
    parts = content.get("parts") if isinstance(content, Mapping) else None
    if not isinstance(parts, list):
        return content
    named = [str(folder / Path(each).expanduser()) if isinstance(each, str) else each for each in parts]
    return {**content, "parts": named}


def keep(sources: Iterable[Any], store: Path, typed_in: bool = False) -> None:
    """Keep a copy of these files in the store, for machines and times that do not have them. ``typed_in``: parts without
    a file will do, since no other process needs them."""
    for source in sources:
        copy = _copy(store, source["file"], source["sha256"])
        if copy is None:
            if typed_in:
                continue
            raise UserError(
                "a part was typed in, and other processes cannot have it; put it into a file and name it in parts."
            )
        if not copy.is_file() and Path(source["file"]).is_file():
            content = files.read_bytes(source["file"])
            if sha256(content).hexdigest() == source["sha256"]:
                with files.replacing(copy, "wb") as target:
                    target.write(content)


def recall(sources: Any, store: Path) -> None:
    """Load the parts that a record names, as they were when it was made, without being asked to run their files."""
    for source in sources or ():
        if source.get("role") == COMMAND:
            continue
        file, digest = source["file"], source["sha256"]
        if changed(source):
            warn(f"{file} has changed since it was used in {store}; what was used then counts here.")
        if digest in _loaded:
            _put_in_place(digest)
            continue
        places = (Path(file), _copy(store, file, digest))
        path = next((path for path in places if path and _is(path, digest)), None)
        if path is None:
            raise UserError(f"the part {file} has changed or is gone, and {store} has no copy of it.")
        if not (resources.cache() / KNOWN / digest).exists():
            raise UserError(
                f"the part {path} is a program that you have not run yet; name it to run it: --parts {path}"
            )
        _run(path, files.read_bytes(path), Source(file, digest))


def changed(source: Mapping[str, str]) -> bool:
    """Whether the file that a record names is another by now."""
    path = Path(source["file"])
    return bool(source["file"]) and path.is_file() and not _is(path, source["sha256"])


def _is(path: Path, digest: str) -> bool:
    return path.is_file() and files.digest(path) == digest


def _copy(store: Path | None, file: str, digest: str | None) -> Path | None:
    return store / KEPT / digest / Path(file).name if store and file and digest else None


# --- installed packages ----------------------------------------------------------------------------------------------


@cache
def installed() -> None:
    """Load the parts of installed packages, once. One that cannot be loaded is reported and left out."""
    for module in _entry_points():
        try:
            importlib.import_module(module)
        except Exception as problem:
            warn(f"the parts of the installed module {module} are left out: {_said(problem)}")


def _entry_points() -> Iterator[str]:
    """The modules that installed packages name. ``importlib.metadata`` does the same, but takes as long as a listing."""
    seen = set()
    for folder in map(Path, sys.path):
        with contextlib.suppress(OSError):
            for file in sorted(folder.glob("*.*-info/entry_points.txt")):
                _, found, rest = file.read_text(encoding="utf-8").partition(f"[{GROUP}]")
                for line in rest.partition("\n[")[0].splitlines() if found else ():
                    module = line.partition("=")[2].partition("#")[0].partition(":")[0].strip()
                    if module and module not in seen:
                        seen.add(module)
                        yield module
