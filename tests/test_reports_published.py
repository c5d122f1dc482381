"""Published numbers: beside the trials whose conditions all agree with theirs, and nowhere else."""

import pytest
import reports_fixture as fixture

from dmlplayground import config, hyperparams, reports
from dmlplayground.reports import tables
from dmlplayground.studies import published
from dmlplayground.sweeps import grid

CUB = {"data": "cub200", "backbone": "inception_bn", "epochs": 25}


def find(method, metric="R@1", runs=10, outcome="best", **changes):
    quote = published.find(fixture.configuration(method, **{**CUB, **changes}), runs, outcome).get(metric)
    return quote and quote.value


@pytest.mark.parametrize(
    ("method", "changes", "value"),
    [
        ("npairs", {}, 53.7),
        ("npairs", {"backbone": "resnet50_v2"}, 56.1),
        ("npairs", {"data": "sop"}, 61.24),
        ("triplet_semihard", {"data": "cars196", "epochs": 60}, 60.94),
        (
            "proxy_softmax",
            {"data": "cars196", "embed_dim": 2048, "batch_size": 75, "epochs": 30, "evaluation__distance": "hamming"},
            76.98,
        ),
        (
            "dreml",
            {
                "backbone": "resnet18_v2", "embed_dim": 12, "epochs": 12, "ensemble__members": 12,
                "evaluation__distance": "cosine",
            },
            59.0,
        ),
        ("margin", {"batch_size": 120, "epochs": 20}, 51.3),  # the batch that the text claims
    ],
)  # fmt: skip
def test_the_tables_of_the_study(method, changes, value):
    assert find(method, **changes) == value


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"backbone": "efficientnet_lite0"}, "backbone inception_bn there, efficientnet_lite0 here"),
        ({"embed_dim": 100}, "embed_dim 64 there, 100 here"),
        ({"batch_size": 96}, "batch_size 128 or 120 there, 96 here"),
        ({"epochs": 1}, "epochs 25 there, 1 here"),
        ({"protocol__name": "validated"}, "protocol paper there, validated here"),
        ({"ensemble__members": 3}, "ensemble.members 1 there, 3 here"),
        ({"evaluation__distance": "cosine"}, "evaluation.distance euclidean there, cosine here"),
        ({"transform__name": "plain"}, "transform paper or released there, plain here"),
    ],
)
def test_one_condition_that_does_not_agree_is_enough_and_is_named(changes, said):
    assert find("npairs", **changes) is None
    quote, differences = published.differences(fixture.configuration("npairs", **{**CUB, **changes}), 10)
    assert quote.conditions["data.name"] == "cub200"
    assert differences == [said]


def test_a_mean_of_fewer_runs_is_not_set_beside_it():
    assert find("angular", epochs=30, runs=9) is None
    assert find("angular", epochs=30, runs=10) == 53.2
    _, differences = published.differences(fixture.configuration("angular", **{**CUB, "epochs": 30}), 9)
    assert differences == ["10 runs there, 9 here"]


@pytest.mark.parametrize(
    ("method", "changes"), [("npairs", {"data": "glyphs"}), ("ranked_list", {"data": "sop"}), ("another", {})]
)
def test_nothing_is_near_where_nothing_was_published(method, changes):
    given = fixture.configuration(method, **{**CUB, **changes})
    assert not published.find(given, 10, "best")
    assert published.differences(given, 10) is None


def test_what_the_audit_met():
    """53.7 beside a validated trial of one epoch, and the ensembles of 12 beside one of 48."""
    assert find("npairs", epochs=1, protocol__name="validated") is None
    dreml = {"embed_dim": 12, "epochs": 12, "evaluation__distance": "cosine"}
    assert find("dreml", **dreml, ensemble__members=12) == 55.4
    assert find("dreml", **dreml, ensemble__members=48) is None


def test_curves_hold_the_values_of_curves():
    at = fixture.configuration("proxy_triplet", **{**CUB, "batch_size": 32, "epochs": 20})
    assert published.curve(at, 1, "batch_size")["R@1"].value == 42.6
    assert published.find(at, 10, "best")["R@1"].value == 50.5  # the table's
    wide = fixture.configuration("npairs", **{**CUB, "embed_dim": 512})
    assert published.curve(wide, 1, "embed_dim")["R@1"].value == 60.38
    assert not published.curve(wide, 1, "batch_size")


def test_the_recipes_of_the_study_agree_with_its_tables():
    """A trial with the study's settings is one that its numbers are of."""
    known = {
        (quote.conditions["method.name"], quote.conditions["data.name"])
        for quote in published.quotes()
        if not quote.axis
    }
    for name in hyperparams.names():
        if name.study == "fehervari2019" and (name.row, name.data) in known:
            given = config.trial(hyperparams.load(name.row, dataset=name.data)).mapping()
            assert published.find(given, 10, "best"), name


def of_the_reality_check(row, data="cub200", *changes):
    name = hyperparams.resolve("musgrave2020", row, data)
    given = {"method": hyperparams.read(name).method, "data": data, "hyperparams": str(name)}
    return config.trial(given, changes).mapping()


@pytest.mark.parametrize(
    ("row", "data", "joined", "apart"),  # P@1, RP and MAP@R of tables 4 to 6
    [
        ("margin", "cub200", (63.6, 33.94, 23.09), (54.78, 28.86, 18.11)),
        ("margin_per_class", "cub200", (64.37, 34.59, 23.71), (55.56, 29.32, 18.51)),
        ("multi_similarity", "cub200", (65.04, 35.4, 24.7), (57.6, 30.84, 20.15)),
        ("multi_similarity_with_miner", "cub200", (67.73, 37.37, 26.52), (59.41, 31.93, 21.01)),
        ("multi_similarity_with_miner", "cars196", (83.67, 37.08, 27.01), (71.8, 29.44, 18.86)),
        ("multi_similarity_with_miner", "sop", (75.09, 49.51, 46.55), (71.25, 45.19, 42.1)),
        ("snr_contrastive", "cub200", (66.44, 36.56, 25.75), (58.06, 31.21, 20.43)),
        ("normalized_softmax", "sop", (75.67, 50.01, 47.13), (71.65, 45.32, 42.35)),
    ],
)
def test_a_row_of_the_reality_check_stands_beside_its_recipe(row, data, joined, apart):
    given = of_the_reality_check(row, data)
    for outcome, values in (("joined", joined), ("separate", apart)):
        found = published.find(given, 10, outcome)
        assert tuple(found[metric].value for metric in ("R@1", "RP", "MAP@R")) == values


def test_every_recipe_of_the_reality_check_has_one_row_of_its_tables():
    for name in hyperparams.names():
        if name.study == "musgrave2020" and name.data in ("cub200", "cars196", "sop"):
            found = published.matching(of_the_reality_check(name.row, name.data), 10)
            assert [quote.outcome for quote in found] == ["joined", "separate"], name


@pytest.mark.parametrize(
    "change",
    [
        "protocol.folds=10", "protocol.only=1", "protocol.criterion=R@1", "mining=hard", "memory.size=1024",
        "regularizers=[{name: zero_mean}]", "data.boxes=true", "data.partial=true", "optimizer.name=adam",
        "freeze_batchnorm=false", "batch_size=64", "epochs=50", "ensemble.members=2", "embed_dim=64", "backbone=resnet50_v1b",
    ],
)  # fmt: skip
def test_another_setting_is_not_the_reality_check(change):
    assert published.find(of_the_reality_check("contrastive"), 10, "joined")
    other = of_the_reality_check("contrastive", "cub200", change)
    assert not published.find(other, 10, "joined")
    _, said = published.differences(other, 10)
    assert len(said) == 1


def test_products_by_the_official_lists_are_not_the_reality_checks():
    assert published.find(of_the_reality_check("triplet", "sop"), 10, "joined")
    assert not published.find(of_the_reality_check("triplet", "sop", "data.division=official"), 10, "joined")


def test_margin_with_negatives_drawn_by_distance_is_not_the_reality_check():
    assert not published.find(of_the_reality_check("margin", "cub200", "mining=null"), 10, "joined")


def test_every_row_of_training_strategies_stands_beside_its_recipe():
    """R@1 beside the best of every epoch, the spectrum beside that of the training embeddings."""
    for name in hyperparams.names():
        if name.study == "roth2020":
            given = config.trial(hyperparams.load(name.row, dataset=name.data, study="roth2020")).mapping()
            assert list(published.find(given, 5, "maximum")) == ["R@1"], name
            assert "rho_spectrum@2" in published.find(given, 5, "training"), name
            assert not published.find(given, 5, "best")
            assert not published.find(given, 4, "maximum")


def test_rows_of_training_strategies():
    given = hyperparams.load("margin_b1.2_distance", dataset="cub200", study="roth2020")
    mapping = config.trial(given).mapping()
    assert published.find(mapping, 5, "maximum")["R@1"].value == 63.09
    of_training = {key: one.value for key, one in published.find(mapping, 5, "training").items()}
    assert of_training == {
        "rho_spectrum@2": 0.179, "density_intra": 0.374, "density_inter": 0.957, "density_ratio": 0.39
    }  # fmt: skip


def test_every_study_says_where_its_numbers_are_from():
    for key in published.names():
        study = published.get(key)
        assert study.year and study.title and study.warning
    assert {quote.study for quote in published.quotes()} == set(published.names())
    rows = [quote for quote in published.quotes() if quote.study == "musgrave2020"]
    assert len(rows) == 15 * 3 * 2 + 3 * 3 + 3 * 3  # tables 4 to 6, 1 and 2
    assert len([quote for quote in published.quotes() if quote.study == "roth2020"]) == 2 * (23 * 3 - 2)


@pytest.mark.parametrize("study", published.names())
def test_the_tables_of_a_study_hold_its_numbers_once_each(study):
    quoted = [
        str(score)
        for quote in published.quotes()
        if quote.study == study and not quote.axis
        for score in quote.scores.values()
    ]
    printed = []
    for table in published.tables(study):
        first = next(place for place, text in enumerate(table.rows[1]) if any(map(str.isdigit, text[:1])))
        assert len({row[:first] for row in table.rows}) == len(table.rows)  # no two rows have one name
        printed += [text for row in table.rows[1:] for text in row[first:] if text != "-"]
    assert quoted and sorted(printed) == sorted(quoted)


def test_a_table_has_the_shape_of_the_study():
    titles = {table.title: table.rows for table in published.tables("musgrave2020")}
    headings, _, contrastive, *_ = titles["table 4, cub200, inception_bn_caffe"]
    assert headings[:5] == ("row", "method", "joined P@1", "joined RP", "joined MAP@R")
    assert contrastive[:3] == ("Contrastive", "contrastive", "68.13 ± 0.31")
    assert ("sop", "googlenet", "81.2?") in titles["table 2, Random, no training"]


def test_networks_before_training():
    """Tables 1, 2 and 5 of the Reality Check; a trained one is none of them."""
    tables_of_networks = [
        ("table1", "cars196", "resnet50_v1b", "best", {"R@1": 43.5}),
        ("table2", "sop", "googlenet", "best", {"NMI": 81.2}),
        (
            "table5_cars196",
            "cars196",
            "inception_bn_caffe",
            "separate",
            {"R@1": 43.27, "RP": 13.37, "MAP@R": 5.64},
        ),
    ]
    for table, data, network, outcome, expected in tables_of_networks:
        (trial,) = [
            trial
            for trial in grid.load(f"musgrave2020/{table}")[0].trials()
            if (trial.data["name"], trial.backbone["name"], trial.epochs) == (data, network, 0)
        ]
        found = published.find(trial.mapping(), 1, outcome)
        assert {metric: quoted.value for metric, quoted in found.items()} == expected
        assert not published.find({**trial.mapping(), "epochs": 1}, 1, outcome)


def test_columns_with_the_difference_and_the_source():
    records = [fixture.record("npairs", s, 0.5, **CUB) for s in range(3)]
    table = reports.leaderboard(records)[0]
    names = [column.name for column in table.columns]
    row = dict(zip(names, table.rows[-1].values))
    assert row["R@1 published"].value == 53.7
    assert tables.text(row["R@1 published"]) == "53.7?"  # a single run, says the study's own log
    gap = table.rows[-1].values[names.index("R@1 published") + 1]
    assert gap.value == pytest.approx(row["R@1 best"].mean - 53.7)
    assert any("quoted" in note and "table 2" in note for note in table.notes)
    assert any("single run" in note for note in table.notes)


def test_the_clusterings_agreement_is_compared_by_the_mean_that_the_study_used():
    names = [
        column.name for column in reports.leaderboard([fixture.record("npairs", 0, 0.5, **CUB)])[0].columns
    ]
    assert "NMI_geometric published" in names
    assert "NMI published" not in names


def test_the_page_says_what_differs():
    records = [fixture.record("npairs", s, 0.5, **{**CUB, "epochs": 3}) for s in range(3)]
    table = reports.leaderboard(records)[0]
    assert not any("published" in column.name for column in table.columns)
    assert any("epochs 25 there, 3 here" in note for note in table.notes)


def test_no_column_where_nothing_was_published():
    names = [column.name for column in reports.leaderboard(fixture.grid())[0].columns]
    assert not any("published" in name for name in names)
