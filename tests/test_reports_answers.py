"""The first screen: what it says of clear, close, single and disappointing results."""

import re

import pytest
import reports_fixture as fixture

from dmlplayground import reports
from dmlplayground.reports.grouping import arenas


def answers(records):
    found = reports.answers.of_arena(arenas(records)[0])
    return {answer.question.split(" ")[0]: answer for answer in found}


def runs(method, level, seeds=4, noise=0.003, **changes):
    return [fixture.record(method, seed, level, noise, **changes) for seed in range(seeds)]


def test_a_clear_winner():
    said = answers(runs("margin", 0.5) + runs("npairs", 0.4) + runs("angular", 0.3))
    assert said["Best"].answer == "margin"
    assert said["Is"].answer == "Yes"
    assert "ahead of npairs (95 % interval +" in said["Is"].details[0]
    assert any(detail.startswith("untrained network: 5.00") for detail in said["Best"].details)


def test_level_methods_are_named():
    said = answers(runs("margin", 0.5, noise=0.02) + runs("npairs", 0.5, noise=0.02) + runs("angular", 0.2))
    assert said["Is"].answer.startswith("No: level with ")
    assert "angular" not in said["Is"].answer


def test_the_network_as_it_came_is_no_rival():
    trained = runs("contrastive", 0.5, noise=0.02)
    before = runs("contrastive", 0.5, status="running", epochs=0, head={"reduction": "components"})
    for record, other in zip(before, trained):
        record.status, record.results = "finished", other.results
    said = answers(runs("margin", 0.5, noise=0.02) + before + runs("angular", 0.2))
    assert said["Best"].answer == "margin"
    assert said["Is"].answer == "Yes"
    assert "no training" not in str(said)
    assert answers(before)["Best"].answer.startswith("no training")


def test_the_interval_of_two_runs_does_not_contradict_the_verdict():
    """By Student's t of two runs alone the best mean could lie anywhere, and the lead would look like none."""
    records = [
        fixture.record(method, seed, level, noise=0.0)
        for method, level in (
            ("margin", 0.152),
            ("npairs", 0.095),
            ("angular", 0.05),
            ("lifted_structure", 0.02),
        )
        for seed in range(2)
    ]
    for record in records:  # a little apart
        for result in record.results.values():
            result["metrics"] = {key: value + 0.005 * record.seed for key, value in result["metrics"].items()}
    said = answers(records)
    assert said["Is"].answer == "Yes"
    low = float(re.search(r"interval \+([\d.]+) to", said["Is"].details[0])[1])
    assert 0 < low < 5.7
    assert "interval" not in str(said["Best"].details)


@pytest.mark.parametrize(
    ("seeds", "verdict"), [((1, 1), "there are only single runs"), ((3, 1), "the others are single runs")]
)
def test_single_runs_decide_nothing(seeds, verdict):
    said = answers(runs("margin", 0.5, seeds[0]) + runs("npairs", 0.3, seeds[1]))
    assert said["Is"].answer == f"Unknown: {verdict}"


def test_one_method_has_nothing_to_be_compared_with():
    assert "no other method" in answers(runs("margin", 0.5))["Is"].answer


def test_training_that_did_not_help_is_told():
    said = answers(runs("margin", 0.03, noise=0.0005))
    assert any("no better than the untrained network" in detail for detail in said["Best"].details)


def test_methods_meet_at_their_best_settings():
    said = answers(runs("margin", 0.3) + runs("margin", 0.5, embed_dim=128) + runs("npairs", 0.4))
    assert said["Best"].answer == "margin, embed_dim 128"
    assert "npairs" in said["Is"].details[0]


def test_the_winner_is_held_against_its_own_next_setting_too():
    said = answers(runs("margin", 0.3) + runs("margin", 0.5, embed_dim=128) + runs("npairs", 0.4))
    assert said["Is"].details[1].endswith(", its next setting")
    assert "ahead of margin, embed_dim 64 (95 % interval +" in said["Is"].details[1]
    alone = answers(runs("margin", 0.3) + runs("margin", 0.5, embed_dim=128))
    assert len(alone["Is"].details) == 1 and "its next setting" in alone["Is"].details[0]


def test_another_leader_after_the_last_epoch_is_named():
    records = runs("margin", 0.5) + runs("npairs", 0.4)
    for record in records[:4]:  # margin falls back at the end
        record.results["last"] = {**record.results["last"], "metrics": {"R@1": 0.1, "NMI": 0.1}}
    assert any("after the last epoch npairs leads" in detail for detail in answers(records)["Is"].details)


def test_the_gap_to_the_published():
    said = answers(runs("npairs", 0.5, data="cub200", backbone="inception_bn", epochs=25))
    measured = (
        sum(100 * r.results["best"]["metrics"]["R@1"] for r in runs("npairs", 0.5, data="cub200", epochs=25))
        / 4
    )
    assert said["How"].answer.endswith("points for npairs")
    shown = float(said["How"].answer.split(" ")[0].replace("−", "-"))
    assert shown == pytest.approx(measured - 53.7, abs=0.006)
    assert answers(runs("npairs", 0.5))["How"].answer == "No published number has the same conditions"


def test_what_it_cost_and_what_is_as_good_for_less():
    records = runs("margin", 0.5, noise=0.02) + runs("npairs", 0.5, noise=0.02)
    winner = answers(records)["Best"].answer
    for record in records:
        record.seconds = 7200.0 if record.config["method"]["name"] == winner else 30.0
    cost = answers(records)["What"]
    assert cost.answer == "2.0 h a trial"
    assert cost.details[0].startswith("not significantly worse, and faster: ") and cost.details[0].endswith(
        "30.0 s"
    )
    assert cost.details[1] == "8 trials in all: 8.0 h"


def test_nothing_finished_nothing_said():
    assert answers([fixture.record("margin", 0, status="failed")]) == {}


def test_the_optimism_of_the_best_is_told():
    found = arenas(fixture.grid())
    (best, *_) = reports.answers.of_arena(found[0], found)
    (line,) = [detail for detail in best.details if detail.startswith("optimism")]
    assert "against its last epoch" in line and "against its validated folds" in line
    (alone, *_) = reports.answers.of_arena(found[0])
    assert not any("validated" in detail for detail in alone.details)
    (validated, *_) = reports.answers.of_arena(found[1], found)
    assert not any(detail.startswith("optimism") for detail in validated.details)
