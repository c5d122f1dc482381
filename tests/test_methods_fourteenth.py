"""A method is one file: dropped into the package, with its reference beside the others, it is tested like the
rest.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from dmlplayground.trial import conformance

pytestmark = pytest.mark.slow

METHOD = '''
from dmlplayground.parts.graph import pairwise
from dmlplayground.parts.methods.shared.base import KIND, Loss


@KIND.register(
    title="Pull and push", year=2006, paper="Hadsell, Chopra and LeCun, CVPR 2006",
    sampler={"name": "blocks", "per_class": 2}, head={"normalize": True}, defaults={"batch_size": 32},
)
class PullAndPush(Loss):
    """L = mean over pairs of |x - y|^2 within a class and of [margin - |x - y|]+^2 across.

    margin: how far apart images of two classes should be.
    """

    def __init__(self, num_classes, embed_dim, *, margin: float = 1.0):
        super().__init__(num_classes, embed_dim)
        self.margin = margin

    def hybrid_forward(self, F, embeddings, labels):
        same, positive = pairwise.positive_pairs(F, labels)
        distances = pairwise.distances(F, embeddings)
        far = F.square(F.relu(self.margin - distances)) * (1 - same)
        return F.mean(F.square(distances) * positive + far)
'''

REFERENCE = """
from reference._arithmetic import distance


def value(embeddings, labels, parameters=None, *, margin=1.0):
    total = 0.0
    for i, (x, a) in enumerate(zip(embeddings, labels)):
        for j, (y, b) in enumerate(zip(embeddings, labels)):
            if i != j:
                total += distance(x, y) ** 2 if a == b else max(0.0, margin - distance(x, y)) ** 2
    return total / len(labels) ** 2
"""

RUN = """
import sys
import dmlplayground.parts.methods, pytest
sys.path.insert(0, sys.argv[3])
import reference
dmlplayground.parts.methods.__path__.append(sys.argv[1])
reference.__path__.append(sys.argv[2])
tests = sys.argv[3] + "/test_methods.py"
sys.exit(pytest.main([tests, "-q", "-p", "no:cacheprovider", "-k", "pull_and_push or reference"]))
"""


def run(folder: Path, reference: str) -> subprocess.CompletedProcess:
    for name, text in (("methods", METHOD), ("references", reference)):
        (folder / name).mkdir()
        (folder / name / "pull_and_push.py").write_text(text)
    arguments = [str(folder / "methods"), str(folder / "references"), str(Path(__file__).parent)]
    command = [sys.executable, "-c", RUN, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1])


def test_a_fourteenth_method_is_found_by_every_test(tmp_path):
    done = run(tmp_path, REFERENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = int(done.stdout.split(" passed")[0].split()[-1])
    assert passed >= len(conformance.checks_of("methods")) > 20


def test_a_fourteenth_method_that_is_not_its_reference_fails(tmp_path):
    done = run(tmp_path, REFERENCE.replace("** 2 if", "if"))
    assert done.returncode == 1, done.stdout + done.stderr
    for test in (
        "value_is_that_of_the_reference",
        "value_on_points_placed_by_hand",
        "slopes_of_the_reference",
    ):
        assert f"{test}-pull_and_push]" in done.stdout
