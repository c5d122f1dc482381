"""The pages that nobody writes by hand: one for every registered part, one for every kind, the configuration's keys, the
experiments and the notebooks.

MkDocs calls ``on_files`` and ``on_nav``. Everything on these pages is read off the parts' own records, so a new part
has its page as soon as its file is there.
"""

import re
import sys
from pathlib import Path

from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation, Section

HERE = Path(__file__).resolve().parent
FIGURE = HERE.parent / "experiments" / "results" / "quickstart.svg"  # of the home page, as of the README
sys.path[:0] = [str(HERE), str(HERE.parent)]

import evidence  # noqa: E402
import from_notebooks  # noqa: E402
import measured  # noqa: E402
import pages  # noqa: E402
import studied  # noqa: E402

from dmlplayground.base import registry  # noqa: E402


def on_files(files: Files, config) -> Files:
    for path, content in generated().items():
        files.append(File.generated(config, path, content=content))
    files.append(File.generated(config, FIGURE.name, abs_src_path=str(FIGURE)))
    return files


def generated() -> dict[str, str]:
    """Path of each page -> its Markdown; of each badge, its picture."""
    found = {"configuration.md": pages.of_configuration(), "experiments.md": pages.of_experiments()}
    found.update(from_notebooks.pages())
    found.update(evidence.badges())
    for plural in registry.HOMES:
        kind = registry.kind(plural)
        found[f"parts/{plural}/index.md"] = pages.of_kind(plural, kind)
        for name in kind.names():
            part = kind.get(name)
            content = pages.of_study(part) if plural == "studies" else pages.of_part(plural, kind, part)
            found[f"parts/{plural}/{name}.md"] = content
    return found


def on_page_markdown(markdown: str, page, config, files: Files) -> str:
    """``<!-- doubts -->`` and the like stand for what is read off the records."""
    return re.sub(r"<!-- (\w+) -->", lambda found: MADE[found[1]](), markdown)


MADE = {
    "costs": evidence.costs,
    "differences": pages.differences,
    "doubts": studied.doubts,
    "extras": pages.extras,
    "ratios": measured.ratios,
    "recommended": evidence.recommended,
}


def on_nav(nav: Navigation, config, files: Files) -> Navigation:
    """The kinds' index pages stand in the navigation below "Parts"; the parts' own are reached from there."""
    section = next(item for item in nav.items if isinstance(item, Section) and item.title == "Parts")
    for plural in registry.HOMES:
        file = files.get_file_from_path(f"parts/{plural}/index.md")
        if file and file.page:
            section.children.append(file.page)
    return nav
