"""Makes `.venv` and installs the course into it: what `make` runs before anything else.

    python -m course_lib.environment [--check] [test] [peers] [browser] [cuda] [cuda12] [webgpu] [zig] [many] [serve] [site]

Promises: only the standard library is used, since nothing is installed yet; a second call with the same wishes finds
the stamp and installs nothing; whatever is missing is said in a sentence with the one command that brings it.
Limits: Linux, macOS and WSL. Finding a Python is the Makefile's part.
"""

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from course_lib import native, nvidia
from course_lib.paths import ROOT, VENV

STAMP = VENV / "course-installed.json"
OLDEST = (3, 11)
EXTRAS = ("test", "peers", "browser", "cuda", "cuda12", "webgpu", "zig", "many", "serve", "site")


def install_command(what: str) -> str:
    """The one command that brings `what` ("python", "venv" or "compiler") on this system."""
    sudo = "" if os.geteuid() == 0 else "sudo "
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if platform.system() == "Darwin":
        return {"compiler": "xcode-select --install"}.get(what, "brew install python@3.13")
    if shutil.which("apt-get"):
        packages = {"python": "python3 python3-venv", "venv": f"python{version}-venv", "compiler": "g++"}
        return f"{sudo}apt-get update && {sudo}apt-get install -y {packages[what]}"
    if shutil.which("dnf"):
        packages = {"python": "python3", "venv": "python3", "compiler": "gcc-c++"}
        return f"{sudo}dnf install -y {packages[what]}"
    names = {"python": "Python 3.11 or newer", "venv": "Python's venv module", "compiler": "g++ or clang++"}
    return f"(your system's package manager) install {names[what]}"


def no_compiler() -> str:
    """What it means that there is no C++ compiler, and how to get one."""
    return (
        "There is no C++ compiler: without one the models train on plain NumPy, only slower, and the CUDA kernels need one. "
        f"To get one: {install_command('compiler')} (or by pip: make lab COMPILER=zig)."
    )


def key() -> str:
    """What an installation was made from: a change of any of it calls for a new one."""
    digest = hashlib.sha256(str(ROOT).encode())
    for name in ("pyproject.toml", "constraints.txt"):
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def installed() -> set[str]:
    """The extras that `.venv` holds by its stamp; "course" stands for the course itself. Empty if out of date."""
    try:
        stamp = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return set()
    return set(stamp["extras"]) if stamp["key"] == key() else set()


def usable(venv: Path) -> bool:
    """Whether `venv` has a Python that runs, is new enough, and was made for the folder where it stands now."""
    try:
        question = f"import pip, sys; sys.exit(sys.version_info < {OLDEST})"
        run = subprocess.run([venv / "bin/python", "-c", question], capture_output=True)
        scripts = (venv / "bin/pip").read_text()[:300]
    except OSError:
        return False
    return run.returncode == 0 and f"{venv}/bin/python" in scripts


def make_venv() -> None:
    """Make `.venv`, or leave a usable one alone."""
    if usable(VENV):
        return
    print(f"Making {VENV.relative_to(ROOT)} with Python {platform.python_version()}.", flush=True)
    try:
        import ensurepip  # noqa: F401  (Debian and Ubuntu ship it apart)
        import venv
    except ImportError:
        sys.exit(f"This Python has no venv module. Install it, then say make again: {install_command('venv')}")
    if VENV.exists() and sys.prefix == str(VENV):  # the one to be replaced cannot replace itself
        os.execv(sys._base_executable, [sys._base_executable, "-m", "course_lib.environment", *sys.argv[1:]])
    try:
        venv.create(VENV, clear=True, with_pip=True, symlinks=True)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"Could not make {VENV}: {error}\nRemove that folder, see that the disk has room, and say make again.")


def pip_install(extras: set[str]) -> bool:
    """Install the course with `extras` at the tested versions; if these cannot be had, at the newest that fit."""
    wish = f".[{','.join(sorted(extras))}]" if extras else "."
    pip = [VENV / "bin/python", "-m", "pip", "--disable-pip-version-check", "install", "--editable", wish]
    if subprocess.run([*pip, "--constraint", "constraints.txt"], cwd=ROOT).returncode == 0:
        return True
    print("\nThe tested versions (constraints.txt) could not be installed; trying the newest that fit.\n", flush=True)
    return subprocess.run(pip, cwd=ROOT).returncode == 0


def gpu_extra() -> str | None:
    """The extra that brings this machine's GPU into reach, as far as that is certain: every Mac has one that WebGPU finds."""
    return nvidia.cupy_extra() or ("webgpu" if sys.platform == "darwin" else None)


def main(wishes: list[str]) -> int:
    """Bring `.venv` to hold the course and the extras in `wishes`; returns an exit status."""
    check = "--check" in wishes
    extras = {wish for wish in wishes if wish != "--check"}
    if unknown := extras - set(EXTRAS):
        print(f"Not known: {', '.join(sorted(unknown))}. Known are: {', '.join(EXTRAS)}.")
        return 2
    if check:
        return 0 if extras | {"course"} <= installed() else 1

    make_venv()
    already = installed()
    if gpu := gpu_extra():
        extras.add(gpu)
    print("Installing the course: one to three minutes and about 400 MB, this once.", flush=True)
    extras |= already - {"course"}
    if not pip_install(extras):
        print("\nThe installation failed; the reason stands above. It needs a network this once. Then say make again.")
        return 1
    teach_ipython()
    STAMP.write_text(json.dumps({"key": key(), "extras": sorted(extras | {"course"})}))
    if "zig" not in extras and native.find_compiler() is None:
        print(f"\n{no_compiler()}")
    else:
        build_loops()
    return 0


def teach_ipython(prefix: Path = VENV) -> None:
    """Have every IPython kernel of this environment load `%%exercise`, in any notebook and any editor."""
    folder = prefix / "etc/ipython"
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["c = get_config()  # noqa: F821", 'c.InteractiveShellApp.extensions.append("course_lib.coach.magic")']
    (folder / "ipython_config.py").write_text("\n".join(lines) + "\n")


def build_loops() -> None:
    """Compile the loops of the cpu device now, while somebody watches, rather than in silence at their first use."""
    print("Compiling the loops of the cpu device: some seconds, with zig a minute, this once.", flush=True)
    subprocess.run([VENV / "bin/python", "-c", "from course_lib.devices import ops; ops('cpu')"], cwd=ROOT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
