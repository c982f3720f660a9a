"""`course doctor`: what this machine has, what the course will use, and one sentence for each thing missing.

Promises: under half a minute, never fails, whatever is installed or broken: what could crash is asked in a child process.
"""

import importlib.util
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from course_lib import environment, guard, native, nvidia
from course_lib.paths import ROOT, pip_command

ENOUGH_MEMORY = 4.0  # GB: JupyterLab, a notebook and a training run together stay under 3

ASK_CUPY = "import cupy; print(cupy.__version__); cupy.arange(3).sum().item()"
ASK_WEBGPU = (
    "from course_lib.devices.webgpu import adapter; why = adapter.problem();"
    "print(why or adapter.adapter_name(), '' if why else adapter.in_software(), sep='|')"
)
ASK_MPI = (
    "from mpi4py import MPI; from course_lib.parallel import launch;"
    "print(MPI.Get_library_version().split(',')[0].strip(), 'with', launch.mpiexec() or 'no launcher mpiexec')"
)


@dataclass(frozen=True)
class Fact:
    """One thing looked at. missing: a sentence with what to do, or nothing if all is well."""

    name: str
    found: str
    missing: str = ""


def python() -> Fact:
    found = f"{platform.python_version()} in {sys.prefix}"
    if sys.version_info < environment.OLDEST:
        return Fact("Python", found, f"The course needs Python 3.11 or newer: {environment.install_command('python')}")
    return Fact("Python", found)


def system() -> Fact:
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        name = f"macOS {platform.mac_ver()[0]}" if platform.system() == "Darwin" else platform.system()
    wsl = ", in WSL" if "microsoft" in platform.release().lower() else ""
    return Fact("system", f"{name} on {platform.machine()}{wsl}")


def cores() -> Fact:
    return Fact("cores", f"{os.cpu_count()}, of which the course uses {native.threads()}")


def memory_bytes() -> int:
    """Memory that this process may use: the machine's, or the container's if that is less."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(total, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):  # no container, or "max"
        return total


def memory() -> Fact:
    size = memory_bytes() / 1e9
    advice = (
        "" if size >= ENOUGH_MEMORY else "Memory is short: train micro and small, one at a time, with little else open."
    )
    return Fact("memory", f"{size:.1f} GB", advice)


def compiler() -> Fact:
    try:
        found = native.find_compiler()
    except ValueError as error:
        return Fact("C++ compiler", "none", str(error))
    if found is None:
        return Fact("C++ compiler", "none", environment.no_compiler())
    return Fact("C++ compiler", f"{' '.join(found.command)}: {found.version}")


def blas() -> Fact:
    import numpy as np

    about = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return Fact(
        "NumPy", f"{np.__version__} with {about.get('name', 'an unknown BLAS')} {about.get('version', '')}".strip()
    )


def ask(package: str, question: str) -> tuple[bool, str]:
    """Run `question` in a child process, where a faulty driver can do no harm: (answered, its last line)."""
    if importlib.util.find_spec(package) is None:
        return False, "not installed"
    try:
        child = subprocess.run([sys.executable, "-c", question], capture_output=True, text=True, timeout=60, cwd=ROOT)
    except subprocess.TimeoutExpired:
        return False, "did not answer within a minute"
    said = (child.stdout if child.returncode == 0 else child.stderr).strip().splitlines()
    return child.returncode == 0, said[-1] if said else f"ended with exit status {child.returncode}"


def nvidia_gpu() -> Fact:
    found = nvidia.gpu()
    if found is None:
        return Fact("NVIDIA GPU", "none", "There is no NVIDIA GPU (or no driver): kernels run on the CPU instead.")
    return Fact("NVIDIA GPU", f"{found.name}, driver for CUDA {found.cuda[0]}.{found.cuda[1]}")


def cupy() -> Fact:
    extra = nvidia.cupy_extra()
    answered, said = ask("cupy", ASK_CUPY)
    if answered:
        return Fact("CuPy", said)
    if extra is None:
        return Fact("CuPy", said if said == "not installed" else "installed, without a GPU to use")
    return Fact("CuPy", said, f"CuPy does not work with your GPU: {pip_command(extra)}")


def webgpu() -> Fact:
    answered, said = ask("wgpu", ASK_WEBGPU)
    if said == "not installed":
        why = f"WebGPU trains on a GPU of any make, and chapter 18 is about it; to install it: {pip_command('webgpu')}"
        return Fact("WebGPU", said, why)
    name, _, software = said.partition("|")
    if not answered or not software:
        return Fact("WebGPU", "no adapter", f"WebGPU has no adapter to compute on, which chapter 18 needs: {name}")
    slow = "WebGPU finds no GPU, only software on the CPU: enough for chapter 18, too slow to train on."
    return Fact("WebGPU", name, slow if software == "True" else "")


def many() -> Fact:
    answered, said = ask("mpi4py", ASK_MPI)
    if answered:
        return Fact("MPI", f"{said}, for course train --processes N")
    advice = f"Training on several processes (chapter 19) needs MPI: {pip_command('many')}"
    return Fact("MPI", said, advice)


def judging() -> Fact:
    why = guard.problem()
    return Fact(
        "judging", "an answer can write where it likes" if why else "an answer can write in its own folder only", why
    )


LOOKS: tuple[Callable[[], Fact], ...] = (
    python,
    system,
    cores,
    memory,
    compiler,
    blas,
    nvidia_gpu,
    cupy,
    webgpu,
    many,
    judging,
)


def facts() -> list[Fact]:
    """Look at everything; a look that fails is a fact too."""
    found = []
    for look in LOOKS:
        try:
            found.append(look())
        except Exception as error:  # whatever is broken, the other looks still help
            name = look.__name__.replace("_", " ")
            found.append(Fact(name, "could not be checked", f"{name}: {type(error).__name__}: {error}"))
    return found


def uses() -> list[str]:
    """What the course will compute with here, one sentence each."""
    from course_lib.devices import available_devices, bfloat16_instruction
    from course_lib.training import choose_device

    devices = available_devices()
    loops = "compiled C++ loops" if native.find_compiler() else "NumPy's BLAS and plain NumPy loops (slower)"
    noun = "thread" if native.threads() == 1 else "threads"
    rounded = f"; {by} multiplies bfloat16" if (by := bfloat16_instruction("cpu")) else ""
    lines = [f"Devices: {', '.join(devices)}.", f"On the CPU: {loops}, on at most {native.threads()} {noun}{rounded}."]
    device, why = choose_device("auto")
    lines.append(f"To train and to sample, unless told otherwise: {device} ({why}).")
    if device == "cuda":
        lines.append("Your kernels and the 12m model run on the NVIDIA GPU, through CuPy.")
    return lines


def durations() -> list[str]:
    """How long the runs of the course take here, a line each: some of their training steps are timed now."""
    from course_lib import training

    return [f"{training.predict(preset)}." for preset in ("micro", "small", "12m")]


def ops_table() -> int:
    """Print which device has which op; returns 0 if every device has every op, else 1."""
    from course_lib.devices import LOADERS, available_devices, ops

    tables, here = {device: vars(ops(device)) for device in LOADERS}, available_devices()
    names = [name for name in tables["reference"] if name != "name"]
    print(f"{'op':30}" + "".join(f"{device:12}" for device in tables))
    for name in names:
        print(f"{name:30}" + "".join(f"{'✓ yes' if name in table else '– no':12}" for table in tables.values()))
    counts = {device: sum(name in table for name in names) for device, table in tables.items()}
    print(f"{'of ' + str(len(names)):30}" + "".join(f"{count:<12}" for count in counts.values()))
    print(f"{'on this machine':30}" + "".join(f"{'✓ yes' if device in here else '– no':12}" for device in tables))
    return 0 if set(counts.values()) == {len(names)} else 1


def report(timed: bool = True) -> int:
    """Print everything, durations if `timed`; returns 0, since a missing thing is no failure."""
    found = facts()
    print("This machine has")
    for fact in found:
        print(f"  {fact.name:13} {fact.found}")
    print("\nThe course will use")
    try:
        print("\n".join(f"  {line}" for line in uses()), flush=True)
        if timed:
            print("\nBy a few training steps, timed now (a run can stop and go on)")
            print("\n".join(f"  {line}" for line in durations()))
    except Exception as error:
        print(f"  nothing yet: the library does not load ({type(error).__name__}: {error}). Run make install.")
    if missing := [fact.missing for fact in found if fact.missing]:
        print("\nMissing here")
        print("\n".join(f"  {line}" for line in missing))
    print("\nTo test the installation, in about a minute: course doctor --selftest")
    return 0
