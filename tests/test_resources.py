"""The YAML files are found by name, by file name and by path."""

import pytest

from dmlplayground.base import resources
from dmlplayground.base.errors import UserError


@pytest.fixture
def grids(tmp_path, monkeypatch):
    folder = tmp_path / "experiments"
    for name in ("quickstart", "tables/cub", "margin_0.5"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.yaml").write_text("")
    (folder / "README.md").write_text("")
    monkeypatch.setattr(resources, "experiments", lambda: folder)
    monkeypatch.chdir(tmp_path.parent)
    return folder


def test_folders_exist():
    assert (resources.experiments() / "README.md").is_file()
    assert (resources.hyperparams() / "README.md").is_file()


def test_names(grids):
    assert resources.experiment_names() == ["margin_0.5", "quickstart", "tables/cub"]


@pytest.mark.parametrize(
    "name", ["quickstart", "quickstart.yaml", "experiments/quickstart.yaml", "experiments/quickstart"]
)
def test_every_way_to_write_a_name(grids, name):
    assert resources.find_experiment(name) == grids / "quickstart.yaml"


def test_folders_and_dots_in_a_name(grids):
    assert resources.find_experiment("tables/cub") == grids / "tables/cub.yaml"
    assert resources.find_experiment("margin_0.5") == grids / "margin_0.5.yaml"


def test_the_last_part_of_a_name_is_enough_where_one_has_it(grids):
    assert resources.find_experiment("cub") == grids / "tables/cub.yaml"
    (grids / "figures").mkdir()
    (grids / "figures/cub.yaml").write_text("")
    with pytest.raises(UserError, match="several experiments called cub: figures/cub, tables/cub"):
        resources.find_experiment("cub")


def test_searches_have_a_folder_of_their_own(grids):
    (grids / "tables/search").mkdir()
    (grids / "tables/search/rates.yaml").write_text("")
    assert resources.search_names() == ["tables/search/rates"]
    assert "tables/search/rates" not in resources.experiment_names()
    assert resources.find_search("rates") == grids / "tables/search/rates.yaml"


def test_file_of_the_users_own_comes_first(grids, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quickstart.yaml").write_text("")
    assert resources.find_experiment("quickstart.yaml").resolve() == tmp_path / "quickstart.yaml"
    assert resources.find_experiment("quickstart") == grids / "quickstart.yaml"


@pytest.mark.parametrize("name", ["quikstart", "", ".", "tables", "absent/quickstart.yaml", "../quickstart"])
def test_unknown_name_lists_the_known_ones(grids, name):
    with pytest.raises(UserError, match="Known: margin_0.5, quickstart, tables/cub"):
        resources.find_experiment(name)
