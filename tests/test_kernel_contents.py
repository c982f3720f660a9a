"""The headers of kernels/*.cu, and the table of contents that is made from them."""

import re

import pytest

from course_lib.cuda import contents, source

FILES = contents.files()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_file_says_what_it_promises(path):
    found = contents.header(path.read_text())
    assert len(found.title) > 15 and found.title[0].isupper() and found.title.endswith((".", ")"))
    assert [name for name in contents.FIELDS if not found.fields.get(name)] == []
    assert re.search(r"\bsm_\d\d\b", found.fields["Architectures"])
    assert re.search(r"\d\d", found.fields["Chapter"]) and re.search(r"\bbuilt\b", found.fields["Chapter"])
    assert '\nextern "C" int main' not in path.read_text()


def test_the_table_of_contents_is_what_the_headers_say():
    assert contents.README.read_text() == contents.contents(), "say: python -m course_lib.cuda.contents"


def test_every_kernel_stands_in_the_table():
    page = contents.contents()
    for path in FILES:
        for name in source.kernels(source.find(path)):
            assert f"`{name}`" in page


def test_a_header_is_read_field_by_field():
    found = contents.header(
        "// Twice x. (Somebody 1999)\n//\n// Promise: y = 2 x,\n//   always.\n// Bytes: 8 n.   FLOPs: n.\n"
        "// Chapter: 04, built.\nint x;"
    )
    assert found.title == "Twice x. (Somebody 1999)"
    assert found.fields == {"Promise": "y = 2 x, always.", "Bytes": "8 n.", "FLOPs": "n.", "Chapter": "04, built."}
