"""What the engine of the web edition is built from: the package's checksum, and the cases that it judges by."""

import base64
import hashlib

import numpy as np
import pytest

from course_lib.coach import catalogue
from course_lib.site import engine, exported_cases


def test_another_package_is_refused():
    good = "sha512-" + base64.b64encode(hashlib.sha512(b"clang").digest()).decode()
    engine.check(b"clang", good, "clang.tgz")
    with pytest.raises(engine.EngineError, match=r"clang\.tgz has the checksum"):
        engine.check(b"another", good, "clang.tgz")


def test_a_case_holds_what_the_reference_gives():
    data = exported_cases.export("reverse")
    exercise = catalogue.load("reverse")
    cases = list(exercise.cases(np.random.default_rng(exported_cases.SEED)))
    assert [case["label"] for case in data["cases"]] == [case.label for case in cases]
    for case, exported in zip(cases, data["cases"], strict=True):
        (result,) = exported["results"]
        expected = np.frombuffer(base64.b64decode(result["expected"]), result["dtype"])
        np.testing.assert_array_equal(expected, exercise.reference(*case.inputs))


def test_structures_with_pointers_are_said_to_be_unjudged():
    assert "pointers" in exported_cases.export("adamw_step")["unjudged"]
