"""A verdict for people, and for machines: JSON, SARIF 2.1.0 (OASIS; what code hosts show beside the lines) and JUnit XML."""

import json
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

from course_lib.cuda.programs.verdict import TOOLS, Verdict


def as_text(verdict: Verdict) -> str:
    """What a terminal shows."""
    how = "checked" if verdict.checked else "ran"
    many = f"{verdict.launches} launch{'es' if verdict.launches != 1 else ''}"
    parts = [str(finding) for finding in verdict.findings]
    if not parts:
        parts.append(f"{verdict.program}: {how}{f' {many}' if verdict.checked else ''}, nothing wrong was found.")
    else:
        wrong = f"{len(parts)} thing{'s' if len(parts) != 1 else ''}"
        parts.append(f"{verdict.program}: {how}{f' {many}' if verdict.checked else ''}; {wrong} to look at.")
    if verdict.code > 0:
        parts.append(f"The program's own exit code is {verdict.code}.")
    if verdict.timed:
        parts.append("Times between events are those of this machine's simulation, not of a GPU.")
    parts += [f"Not checked: {what}" for what in verdict.not_checked]
    return "\n".join(parts)


def as_json(verdict: Verdict) -> str:
    """All that is known, for a program of one's own."""
    findings = [{**asdict(one), "tool": one.tool} for one in verdict.findings]
    return json.dumps({**asdict(verdict), "ok": verdict.ok, "findings": findings}, indent=1) + "\n"


def as_sarif(verdict: Verdict, folder: Path | None = None) -> str:
    """The findings as SARIF. folder: where the program lies, as seen from the root of the repository."""
    results = []
    for one in verdict.findings:
        uri = (folder / one.file).as_posix() if folder else one.file
        location = {"artifactLocation": {"uri": uri}, "region": {"startLine": max(1, one.line)}}
        where = f" (in kernel {one.kernel})" if one.kernel else ""
        level = "warning" if one.kind == "leak" else "error"
        results.append({"ruleId": one.kind, "level": level, "message": {"text": one.message + where},
                        "locations": [{"physicalLocation": location}]})  # fmt: skip
    rules = [{"id": kind, "properties": {"tags": [tool]}} for kind, tool in TOOLS.items()]
    run = {"tool": {"driver": {"name": "course cuda check", "rules": rules}}, "results": results}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def as_junit(verdict: Verdict) -> str:
    """One test for each kernel, and one for the host's code, as JUnit's XML."""
    names = ["host", *verdict.kernels]
    failed = {name: [one for one in verdict.findings if (one.kernel or "host") == name] for name in names}
    suite = ElementTree.Element("testsuite", name=verdict.program, tests=str(len(names)),
                                failures=str(sum(map(bool, failed.values()))))  # fmt: skip
    for name in names:
        case = ElementTree.SubElement(suite, "testcase", classname=verdict.program, name=name)
        if failed[name]:
            kinds = ", ".join(dict.fromkeys(one.kind for one in failed[name]))
            failure = ElementTree.SubElement(case, "failure", message=kinds)
            failure.text = "\n".join(map(str, failed[name]))
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"
