# SPDX-License-Identifier: Apache-2.0
"""The files of this checkout and what they include: shared by the architecture checks."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(os.environ.get("QUANTSCOPE_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
CPP = (".cpp", ".h", ".cu", ".cuh")


def files():
    """Paths relative to the root of all files that git tracks or would track; outside git, all but build folders."""
    listed = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT,
                            capture_output=True, text=True)
    if listed.returncode == 0:
        names = [name for name in listed.stdout.split("\0") if name]
    else:
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()]
        names = [name for name in names if not re.match(r"(build[^/]*|out|\.venv|\.git)/", name)]
    return sorted(name for name in set(names) if (ROOT / name).is_file())


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def cpp_files(*folders):
    return [name for name in files() if name.endswith(CPP) and (not folders or name.startswith(folders))]


def includes(name):
    """What a file includes, in order: (is it in quotes, path)."""
    return [(quote == '"', path) for quote, path in INCLUDE.findall(text(name))]


def reached(name):
    """Every header a file sees: {path: the chain of files that leads to it}. Follows this project's own headers only."""
    chains = {}
    todo = [(name, (name,))]
    while todo:
        here, chain = todo.pop()
        for quoted, path in includes(here):
            if path in chains:
                continue
            chains[path] = chain + (path,)
            if quoted and (ROOT / path).is_file():
                todo.append((path, chain + (path,)))
    return chains


def finish(what, problems, seen):
    """Ends a check: lists the problems, or says how much was looked at. A check that saw nothing has failed."""
    if not seen:
        problems = [f"{what}: found nothing to look at under {ROOT}"]
    for problem in problems:
        print(problem)
    print(f"{what}: {seen} looked at, {len(problems)} problems")
    sys.exit(1 if problems else 0)
