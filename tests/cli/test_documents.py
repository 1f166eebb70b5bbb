# SPDX-License-Identifier: Apache-2.0
"""What the pages say is done: each command runs, in the page's order and in a folder that holds what the page itself made; what a page
shows as printed is printed; each recipe, backend and pack is one that the program takes. `pages.py` says how a block is marked.
Arguments: pages, such as resources/help/recipes.md; else all."""

import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

from harness import PROGRAM, SOURCE, main, run
from pages import blocks, dead_links, pages

WINDOW = """#!/bin/sh
# The window with these arguments, closed once it is drawn.
QT_QPA_PLATFORM=offscreen exec {window} "$@" --screenshot window.png --size 1280x800
"""
STEP = """set -eo pipefail
[ ! -f {state}/env ] || . {state}/env
cd "$(cat {state}/cwd)"
{text}
export -p > {state}/env
pwd > {state}/cwd
"""
KINDS = {"recipe": ("plan", str(SOURCE / "resources" / "samples" / "digits.pt2"), "--strict", "--recipe"), "backend": ("backends", "check"),
         "pack": ("extensions", "check")}


DECIMAL = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
NEAR = 0.01  # of a decimal number: another processor's instructions add in another order


def same(shown, printed):
    """Whether a line fits what a page shows of it, spaces aside; decimal numbers nearly, whole ones to the digit."""
    numbers = DECIMAL.findall(shown.replace("...", " "))
    parts = [re.escape(" ".join(part.split())) for part in DECIMAL.sub("@", shown.replace("...", "#")).split("#")]
    pattern = r"\s*.*?\s*".join(part.replace("@", rf"({DECIMAL.pattern})") for part in parts)
    found = re.fullmatch(pattern, " ".join(printed.split()))
    return found is not None and all(abs(float(a) - float(b)) <= NEAR * abs(float(a)) + 0.01 for a, b in zip(numbers, found.groups()))


def missing(text, printed):
    """The first line of the text that is not printed in its place; None where all are."""
    lines = iter(printed.splitlines())
    for shown in filter(str.strip, text.splitlines()):
        if shown.strip() != "..." and not any(same(shown, line) for line in lines):
            return shown
    return None


class Reader:
    """One who does what a page says, in a folder of their own with the repository's resources beside."""

    def __init__(self, folder):
        self.work, self.state, tools = folder / "work", folder / "state", folder / "bin"
        for place in (self.work, self.state, tools, folder / "home"):
            place.mkdir()
        (self.work / "resources").symlink_to(SOURCE / "resources")
        (self.state / "cwd").write_text(str(self.work))
        (tools / "quantscope").symlink_to(Path(PROGRAM).resolve())
        for name in ("python", "python3"):
            (tools / name).write_text(f"#!/bin/sh\nexec {sys.executable} \"$@\"\n")
        window = os.environ.get("QUANTSCOPE_UI", "")
        (tools / "quantscope-ui").write_text(WINDOW.format(window=shlex.quote(window)) if window else "#!/bin/sh\necho no window in this build >&2\n")
        for tool in tools.iterdir():
            if not tool.is_symlink():
                tool.chmod(0o755)
        self.env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(folder / "home"), "LC_ALL": "C.UTF-8"}
        self.printed = ""

    def save(self, block):
        path = self.work / block.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text)

    def do(self, block):
        done = subprocess.run(["bash", "-c", STEP.format(state=self.state, text=block.text)], cwd=self.work, env=self.env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900, check=False, stdin=subprocess.DEVNULL)
        self.printed = done.stdout
        assert done.returncode == 0, f"{block.place}: exit {done.returncode}\n{block.text}\n{done.stdout[-3000:]}"

    def take(self, block):
        """The program takes this document without a remark."""
        document = json.loads(block.text)
        kind = next((kind for kind in KINDS if kind in block.flags), None)
        if kind is None:
            return
        if "format" not in document and kind == "recipe":  # a part of one: its keys are checked in their place
            document = {"format": "quantscope.recipe", "version": 1, **document}
        path = self.work / (block.file or f"{kind}.{block.line}.json")
        path.write_text(json.dumps(document) if not block.file else block.text)
        if kind == "recipe" and block.file:
            return  # the page's own commands read it
        done = run(*KINDS[kind], path if kind != "pack" else path.parent)
        assert done.returncode == 0 and "warning" not in done.stderr, f"{block.place}: {done.stderr or done.stdout}"

    def follow(self, page):
        for block in blocks(page):
            if block.file:
                self.save(block)
            if block.language == "sh" and "norun" not in block.flags:
                self.do(block)
            elif block.language == "text" and "output" in block.flags:
                line = missing(block.text, self.printed)
                assert line is None, f"{block.place}: the page shows\n{line}\nand in its place nothing like it is printed:\n{self.printed}"
            elif block.language == "json":
                self.take(block)
            elif block.language == "python":
                compile(block.text, block.place, "exec")
                if "run" in block.flags:
                    block.text = f"python3 - <<'END_OF_PAGE'\n{block.text}END_OF_PAGE\n"
                    self.do(block)


def test_every_page(folder):
    """All pages, or those whose paths are given."""
    failed, wanted = [], [word for word in sys.argv[1:] if word.endswith(".md")]
    for page in pages():
        name = str(page.relative_to(SOURCE))
        if wanted and name not in wanted:
            continue
        place = folder / name.replace("/", "_")
        place.mkdir()
        began = time.monotonic()
        try:
            Reader(place).follow(page)
        except (AssertionError, ValueError, SyntaxError, subprocess.TimeoutExpired) as problem:
            failed.append(f"{name}: {problem}")
        if (took := time.monotonic() - began) > 1:
            print(f"       {name}: {took:.1f} s", flush=True)
    assert not failed, "\n\n".join(failed)


def test_every_link_leads(folder):
    """In the sources; test_install.py holds the installed pages to the same."""
    assert not dead_links(pages()), dead_links(pages())
    (folder / "a.md").write_text("# A\n\n## `edits[0]`, of 2\n\n[b](b.md) [A](a.md#a) [e](#edits0-of-2) [x](#nothing) [`c`](a.md#b) `[d](e.md)`\n\n```\n[f](g.md)\n```\n")
    assert [link.split(": ")[1] for link in dead_links([folder / "a.md"])] == ["b.md", "#nothing", "a.md#b"]


def test_what_is_shown_is_looked_for(_folder):
    """The comparison itself: in order, spaces aside, `...` for anything."""
    printed = "a  1.5 dB\nb 2 dB in 3 s\nc"
    assert missing("a 1.5 dB\nb 2 dB in ... s\n", printed) is None
    assert missing("b ...\na 1.5 dB\n", printed) == "a 1.5 dB"
    assert missing("a 1.6 dB\n", printed) == "a 1.6 dB" and missing("a 1.501 dB\n", printed) is None
    assert missing("b 3 dB in 3 s\n", printed) == "b 3 dB in 3 s"


main(__name__)
