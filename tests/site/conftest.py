"""The built site, one for all tests: kept in .cache as `course site build` does, so that a second run finds it."""

import pytest
from site_visit import Served, Visit

from course_lib.site import engine


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """built(exercises) -> a folder with the engine and their cases, to run in Node; skips where it cannot be made."""

    def make(exercises):
        if problem := engine.missing():
            pytest.skip(problem)
        try:
            engine.fetch_clang()
        except engine.EngineError as error:
            pytest.skip(str(error))
        return engine.build(tmp_path_factory.mktemp("site"), exercises)

    return make


@pytest.fixture(scope="session")
def site():
    if problem := engine.missing():
        pytest.skip(problem)
    build = pytest.importorskip("course_lib.site.build", reason="Sphinx and its friends come with make test PEERS=1")
    return build.build()


@pytest.fixture(scope="session")
def served(site, tmp_path_factory):
    made = Served(site, tmp_path_factory.mktemp("served"))
    yield made
    made.close()


@pytest.fixture
def visit(chromium, served):
    visits = []

    def begin(**settings) -> Visit:
        visits.append(Visit(chromium, settings.pop("served", served), **settings))
        return visits[-1]

    yield begin
    for one in visits:
        one.close()
