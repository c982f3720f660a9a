"""course_lib.native: what is built once is not built again, what must be built again is, and failures are sentences."""

import ctypes
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from course_lib import native
from course_lib.native import building, files, thread_count
from course_lib.native import compiler as compilers

SOURCE = '#include "number.h"\nextern "C" int number() { return NUMBER + EXTRA; }\n'
FLAGS = ("-DEXTRA=0",)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A cache and sources of the test's own, and a count of how often the compiler ran."""
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "cache"))
    if native.find_compiler() is None:
        pytest.skip("there is no C++ compiler here")
    (tmp_path / "number.cpp").write_text(SOURCE)
    (tmp_path / "number.h").write_text("#define NUMBER 7\n")
    runs = []
    compile_once = building._compile
    monkeypatch.setattr(building, "_compile", lambda *args: runs.append(args[0]) or compile_once(*args))
    return tmp_path, runs


def number(folder: Path, flags=FLAGS, compiler=None) -> int:
    files = [folder / "number.cpp"], flags, [folder / "number.h"]
    path = native.build("number", *files, compiler=compiler)
    assert path == native.build("number", *files, compiler=compiler)
    return ctypes.CDLL(str(path)).number()


def test_what_is_built_is_found_again(home):
    folder, runs = home
    assert number(folder) == number(folder) == 7
    assert len(runs) == 1


def test_sources_flags_and_included_files_are_part_of_the_key(home):
    folder, runs = home
    assert number(folder, ("-DEXTRA=1",)) == 8
    (folder / "number.h").write_text("#define NUMBER 20\n")
    assert number(folder, ("-DEXTRA=1",)) == 21
    (folder / "number.cpp").write_text(SOURCE.replace("NUMBER +", "NUMBER -"))
    assert number(folder, ("-DEXTRA=1",)) == 19
    (folder / "number.h").write_text("#define NUMBER 7\n")
    (folder / "number.cpp").write_text(SOURCE)
    assert number(folder, ("-DEXTRA=1",)) == 8
    assert len(runs) == 3  # the last one was the first one


def test_a_file_that_is_written_again_at_once_is_read_again(tmp_path):
    file = tmp_path / "header.h"
    for number in range(300):  # of one length, several within a tick of the file system's clock
        file.write_text(f"int a{number:03d};")
        seen = files.as_it_is(file)
        assert files.digest(seen) == hashlib.sha256(file.read_bytes()).hexdigest()
        assert files.words((seen,)) == {"int", f"a{number:03d}"}
    then = os.stat(file)
    time.sleep(0.15)
    before = files.as_it_is(file)
    assert files.as_it_is(file) == before, "a settled file is read once"
    file.write_text("int b000;")
    os.utime(file, ns=(then.st_atime_ns, then.st_mtime_ns))  # as cp -p would
    time.sleep(0.15)
    assert files.as_it_is(file) != before


def test_another_compiler_or_version_builds_anew(home):
    folder, runs = home
    number(folder)
    found = native.find_compiler()
    number(folder, compiler=native.Compiler(found.words, found.kind, found.version + " patched"))
    assert len(runs) == 2


def test_the_processor_counts_only_for_native_code(home, monkeypatch):
    folder, runs = home
    for line in ("one processor", "another processor"):
        monkeypatch.setattr(building, "processor", lambda line=line: line)
        number(folder, FLAGS)
        number(folder, (*FLAGS, "-march=native"))
    assert len(runs) == 3


@pytest.mark.parametrize("damage", ["cut", "altered", "no checksum", "gone"])
def test_a_damaged_entry_is_built_again(home, damage):
    folder, runs = home
    path = native.build("number", [folder / "number.cpp"], FLAGS)
    whole = path.read_bytes()
    if damage == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    elif damage == "altered":
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    elif damage == "gone":
        path.unlink()
    else:
        path.with_suffix(".sha256").unlink()
    assert native.load("number", [folder / "number.cpp"], FLAGS).number() == 7
    assert len(runs) == 2
    assert not list(path.parent.parent.glob(".*")), "temporary folders are left"


def test_an_entry_that_does_not_open_is_built_once_more(home):
    folder, runs = home
    path = native.build("number", [folder / "number.cpp"], FLAGS)
    path.write_bytes(b"not a library, but with a checksum that fits")
    building._checksum(path).write_text(building.hashlib.sha256(path.read_bytes()).hexdigest())
    assert native.load("number", [folder / "number.cpp"], FLAGS).number() == 7
    assert len(runs) == 2


def test_two_processes_at_once(home):
    folder, _ = home
    program = (
        f"from course_lib import native; from pathlib import Path; folder = Path({str(folder)!r}); "
        "print(native.load('number', [folder / 'number.cpp'], ('-DEXTRA=1',)).number())"
    )
    running = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate()[0] for process in running] == ["8\n"] * 3
    entries = [path.name for path in native.cache_folder().iterdir()]
    assert len(entries) == 1, entries


def test_a_broken_source_is_an_error_with_the_compilers_log(home):
    folder, _ = home
    (folder / "number.cpp").write_text("int number() { return unknown_name; }\n")
    with pytest.raises(native.CompileError, match=r"could not compile number: .*unknown_name") as caught:
        native.build("number", [folder / "number.cpp"])
    assert "number.cpp:1" in caught.value.log
    assert not list(native.cache_folder().iterdir())


def test_what_a_killed_build_left_is_removed_when_it_is_old(home):
    folder, _ = home
    old, young = native.cache_folder() / ".number-old", native.cache_folder() / ".number-young"
    for leftover in (old, young):
        (leftover / "made").mkdir(parents=True)
    os.utime(old, (0, 0))
    native.build("number", [folder / "number.cpp"], FLAGS)
    assert not old.exists() and young.exists()


@pytest.mark.parametrize("kind", ["gcc", "clang", "zig"])
def test_each_kind_of_compiler(home, monkeypatch, kind):
    folder, _ = home
    if kind == "zig":  # its first build takes a minute: keep what it makes
        monkeypatch.setenv("ZIG_GLOBAL_CACHE_DIR", str(Path(__file__).parent.parent / ".cache" / "zig"))
        monkeypatch.setenv("ZIG_LOCAL_CACHE_DIR", str(Path(__file__).parent.parent / ".cache" / "zig"))
    monkeypatch.setenv("COURSE_COMPILER", kind)
    found = native.find_compiler()
    if found is None:
        pytest.skip(f"{kind} is not installed here")
    assert found.kind == kind and found.version
    assert number(folder, (*FLAGS, "-march=native")) == 7


def test_no_compiler_on_the_path_is_a_sentence(home, monkeypatch):
    folder, _ = home
    monkeypatch.setattr(compilers, "_zig_words", lambda: ["zig", "c++"])
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.delenv("COURSE_COMPILER", raising=False)
    assert native.find_compiler() is None
    with pytest.raises(native.NoCompiler, match="apt install g"):
        native.build("number", [folder / "number.cpp"])


def test_cxx_is_asked_first_and_passed_over_if_it_does_not_answer(home, monkeypatch):
    first = native.find_compiler()
    monkeypatch.delenv("COURSE_COMPILER", raising=False)
    monkeypatch.setenv("CXX", f"{first.words[0]} -DFROM_CXX=1")
    assert native.find_compiler().command == [first.words[0], "-DFROM_CXX=1"]
    monkeypatch.setenv("CXX", "/no/such/compiler")
    assert native.find_compiler() is not None


def test_a_compiler_can_be_forbidden_and_a_misspelt_choice_is_refused(monkeypatch):
    monkeypatch.setenv("COURSE_COMPILER", "none")
    assert native.find_compiler() is None
    with pytest.raises(native.NoCompiler, match="COURSE_COMPILER=none"):
        native.build("number", [])
    monkeypatch.setenv("COURSE_COMPILER", "msvc")
    with pytest.raises(ValueError, match="'msvc'"):
        native.find_compiler()


def test_threads_follow_the_environment(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    assert native.threads() == 3 and native.candidates() == [3]
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert native.threads() >= 1


def test_where_nobody_follows_no_number_of_threads_is_tried(monkeypatch):
    monkeypatch.setattr(thread_count, "_followers", [])
    monkeypatch.setattr(thread_count, "_choice", None)
    monkeypatch.setattr(thread_count, "candidates", lambda: [2, 1])
    told = []
    with native.step():
        pass
    assert native.on_trial() is None
    native.follow(told.append)
    for _ in range(2):
        with native.step():
            pass
    assert native.on_trial() == 1 and told == [native.threads(), 1]


def chosen(choice: native.Choice, seconds: dict[int, float], steps: int) -> int:
    """The number of threads after so many steps, each of which takes what `seconds` says of the number it ran with."""
    for _ in range(steps):
        choice.record(seconds[choice.count])
    return choice.count


def test_the_fastest_number_of_threads_is_chosen_and_chosen_again_when_the_machine_gets_busy():
    quiet, busy = {4: 0.1, 2: 0.15, 1: 0.25}, {4: 0.8, 2: 0.5, 1: 0.35}
    choice = native.Choice([4, 2, 1])
    assert choice.count == 4
    assert chosen(choice, quiet, 20) == 4
    assert chosen(choice, busy, 40) == 1
    assert chosen(choice, quiet, 200) == 4  # tried again, since cores were left idle


def test_where_steps_take_seconds_idle_cores_are_tried_after_a_minute_not_after_a_hundred_steps():
    choice = native.Choice([2, 1])
    assert chosen(choice, {2: 6.0, 1: 3.0}, 10) == 1
    assert chosen(choice, {2: 1.5, 1: 3.0}, 30) == 2


def test_a_single_slow_step_changes_nothing():
    choice = native.Choice([2, 1])
    chosen(choice, {2: 0.1, 1: 0.2}, 20)
    choice.record(9.0)
    assert chosen(choice, {2: 0.1, 1: 0.2}, 1) == 2 and choice.promised == pytest.approx(0.1)


def test_the_first_step_counts_for_nothing():
    choice = native.Choice([2, 1])
    choice.record(60.0)
    assert chosen(choice, {2: 0.1, 1: 0.2}, 20) == 2


def test_one_core_leaves_no_choice():
    assert chosen(native.Choice([1]), {1: 0.1}, 50) == 1


def test_warnings_are_kept_beside_the_library(home):
    folder, _ = home
    (folder / "number.cpp").write_text('extern "C" int number() { int n; return n; }\n')
    library = native.build("number", [folder / "number.cpp"], (*FLAGS, "-Wuninitialized"))
    assert "uninitialized" in native.messages(library)
    assert native.messages(library.with_name("another.so")) == ""


@pytest.mark.skipif(not shutil.which("clang++"), reason="clang++ is not installed")
def test_a_text_may_be_rewritten_between_front_end_and_optimiser(home, monkeypatch):
    folder, _ = home
    monkeypatch.setenv("COURSE_COMPILER", "clang")
    seen = []

    def other_number(text):
        seen.append(text)
        return text.replace("ret i32 7", "ret i32 8")

    plain = native.build("number", [folder / "number.cpp"], FLAGS)
    rewritten = native.build("number", [folder / "number.cpp"], FLAGS, rewrite=other_number)
    assert plain != rewritten
    assert [ctypes.CDLL(str(library)).number() for library in (plain, rewritten)] == [7, 8]
    assert rewritten == native.build("number", [folder / "number.cpp"], FLAGS, rewrite=other_number)
    assert len(seen) == 1 and "define" in seen[0]


@pytest.mark.parametrize("kind", ["gcc", "clang"])
def test_a_header_is_read_once_for_many_sources(home, monkeypatch, kind):
    monkeypatch.setenv("COURSE_COMPILER", kind)
    if native.find_compiler() is None:
        pytest.skip(f"there is no {kind} here")
    folder, _ = home
    header = folder / "number.h"
    text = (
        "#ifndef NUMBER_H\n#define NUMBER_H\nconstexpr int NUMBER = %s;\n#ifdef TWICE\n#define MORE\n#endif\n#endif\n"
    )
    header.write_text(text % "7")
    made, run = [], building._run

    def counted(name, out, *rest):
        made.extend([out.suffix] if out.suffix in (".gch", ".pch") else [])
        return run(name, out, *rest)

    monkeypatch.setattr(building, "_run", counted)

    def of(addend: int, flags=FLAGS) -> int:
        source = folder / f"plus{addend}.cpp"
        source.write_text(SOURCE.replace("EXTRA;", f"EXTRA + {addend};"))
        path = native.build("number", [source], flags, [header], header=[header])
        return ctypes.CDLL(str(path)).number()

    assert (of(0), of(1), of(2, ("-DEXTRA=5", f"-I{folder}"))) == (7, 8, 14)
    assert len(made) == 1, "EXTRA is nothing to the header, which does not mention it"
    assert of(1, (*FLAGS, "-DTWICE")) == 8 and len(made) == 2
    for entry in folder.glob("cache/**/number.h.[gp]ch"):
        entry.write_bytes(entry.read_bytes()[:100])
    building._known.clear()
    assert of(3) == 10 and len(made) == 3, "a damaged one is made again"
    os.utime(header, (1, 1))
    assert of(4) == 11, "clang would not take the old one now"
    header.write_text(text % "70")
    assert of(5) == 75
    for entry in folder.glob("cache/**/number.h.[gp]ch"):
        entry.write_bytes(b"nothing")
    assert of(6) == 76, "one that is damaged while it is in use is passed over"
    for entry in folder.glob("cache/**/number.h.[gp]ch"):
        entry.unlink()
    assert of(7) == 77
