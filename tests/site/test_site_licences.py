"""The site's files that others wrote: each belongs to a package, the text of whose licence lies beside it."""

import re

import pytest

from course_lib.site import engine, licences, npm

# What the course itself writes: pages and what they show, the modules of the page and of the engine, the lists of both.
OWN = re.compile(
    r"[^/]*\.html$|(notebooks|exercises|files|pictures|licences)/|_sources/|writing/|(exercises|edition)\.json$|searchindex\.js$"
    r"|sw\.js$|\.nojekyll$|_static/site/|_static/icon\.svg$|engine/(cases/|[a-z]+\.mjs$|[a-z]+\.json(\.xz)?$|simulator\.wasm\.xz$)"
)
WORDS = {
    "clang, wasm-ld, libc++, compiler-rt": ["LLVM Exceptions", "Apache License"],
    "wasi-libc, with musl": ["Permission is hereby granted", "Rich Felker", "cloudlibc", "Apache License"],
    "@codemirror/view": ["Marijn Haverbeke", "Permission is hereby granted"],
    "xz-decompress": ["Lasse Collin", "walloc", "Permission is hereby granted"],
    "furo": ["Pradyun Gedam", "Permission is hereby granted"],
}


@pytest.mark.parametrize("name", WORDS)
def test_a_text_is_that_of_its_package(name):
    pytest.importorskip("myst_nb", reason="Sphinx and its friends come with make test PEERS=1")
    if problem := engine.missing():
        pytest.skip(problem)
    (one,) = (one for one in licences.components() if one.name == name)
    assert all(word in "".join(one.texts.values()) for word in WORDS[name])


def test_another_text_is_refused(tmp_path, monkeypatch):
    lock = tmp_path / "licences.lock.json"
    lock.write_text(re.sub(r'"[0-9a-f]{64}"', f'"{0:064}"', licences.LOCK.read_text()))
    lock.with_name("clang.lock.json").write_bytes(engine.LOCK.read_bytes())
    monkeypatch.setattr(licences, "LOCK", lock)
    with pytest.raises(npm.SiteError, match="ziglang"):
        licences._compiler()
    pytest.importorskip("myst_nb", reason="Sphinx and its friends come with make test PEERS=1")
    with pytest.raises(npm.SiteError, match="furo is not the text"):
        licences._of_pypi("furo")


@pytest.mark.slow
def test_each_file_of_others_has_its_text(site):
    pytest.importorskip("myst_nb", reason="Sphinx and its friends come with make test PEERS=1")
    known = licences.components()
    files = [path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()]
    assert [name for name in files if not OWN.match(name) and not any(re.match(one.files, name) for one in known)] == []
    for one in known:
        assert any(re.match(one.files, name) for name in files), one.name
        assert (site / one.file).stat().st_size > 500, one.name
    page = (site / "licences.html").read_text()
    assert all(f'href="{one.file}"' in page for one in known)
    assert 'href="../licences.html"' in (site / "notebooks/glossary.html").read_text()
