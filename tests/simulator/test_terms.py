"""The simulator's C++ says the field's words, in comments and names: of CUDA, compilers, sanitizers and vector clocks."""

import re

import pytest

from course_lib.cuda import runtime

INSTEAD = {  # what is not said, as a pattern: what is
    r"whoever|nobody|somebody|everybody": "the thread, the warp, the caller, the buffer",
    r"meets?|met|meetings?": "synchronise, arrive; warp operation",
    r"told|tells?|hears?|heard": "report, record, listen",
    r"turns?": "the scheduler, round robin; wavefront",
    r"walk(s|ed|ing)?": "iterate, pass",
    r"homes?": "region, address map",
    r"places?": "address, index, offset, location",
    r"neighbours?": "adjacent, next; vector width",
    r"stamps?": "clock",
    r"sweeps?": "lockstep",
    r"kin|family": "name them",
    r"mend(s|ed|ing)?": "restore, fix",
    r"pieces?": "part",
    r"notes?|noted": "record, shadow memory",
}
PATTERNS = {re.compile(rf"(?<![A-Za-z])({pattern})(?![A-Za-z])", re.I): term for pattern, term in INSTEAD.items()}
FILES = [path for folder in (runtime.RUNTIME, runtime.INCLUDE) for path in sorted(folder.rglob("*")) if path.is_file()]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_runtime_says_the_fields_words(path):
    found = [
        f"line {number}: {line.strip()!r}: say {term}"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for pattern, term in PATTERNS.items()
        if pattern.search(line)
    ]
    assert not found, "\n".join(found)
