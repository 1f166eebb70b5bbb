# SPDX-License-Identifier: Apache-2.0
"""The pages that readers follow, as their fenced blocks. An info string says what becomes of a block:

sh                  is run, in the page's own folder, with what the blocks before it made; `norun`: is only shown
text output         lines that the block before prints, in this order; `...` stands for anything
LANG file=NAME      is a file that the reader saves by this name
json KIND           a recipe, backend or pack that the program takes without a remark
python run          is run; other Python is compiled
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from harness import SOURCE

FENCE = re.compile(r"^(\s*)```(.*)$")


LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def pages():
    """README, help and the packs' pages, in an order that does not matter."""
    resources = SOURCE / "resources"
    return [SOURCE / "README.md", *sorted((resources / "help").rglob("*.md")),
            *sorted(path for path in resources.glob("*/README.md") if path.parent.name != "help"),
            *sorted((resources / "extensions").glob("*/README.md"))]


def prose(page):
    """A page's lines outside its blocks."""
    inside = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if FENCE.match(line):
            inside = not inside
        elif not inside:
            yield line


def anchors(page):
    """What `#...` may name on a page: its headings, as GitHub writes them."""
    headings = [re.sub(r"^#+ ", "", line) for line in prose(page) if re.match(r"#+ ", line)]
    return {re.sub(r"[^\w -]", "", LINK.sub("", heading).lower()).replace(" ", "-") for heading in headings}


def dead_links(pages_there):
    """PAGE: LINK of each link that leads nowhere: no such file, or no such heading on it. Others' addresses are not tried."""
    dead = []
    for page in pages_there:
        for target in (match[1] for line in prose(page) for match in LINK.finditer(re.sub(r"`[^`]*`", "code", line))):
            file, _, anchor = target.partition("#")
            there = page.parent / file if file else page
            if not re.match(r"[a-z]+:", target) and not (there.exists() and (not anchor or anchor in anchors(there))):
                dead.append(f"{page}: {target}")
    return dead


@dataclass
class Block:
    page: Path
    line: int  # of its fence, from 1
    language: str
    flags: set = field(default_factory=set)
    file: str = ""
    text: str = ""

    @property
    def place(self):
        return f"{self.page.relative_to(SOURCE)}:{self.line}"


def blocks(page):
    """The fenced blocks of a page. Fails where one does not end, or where a line is code by its indent alone."""
    found, block, indent, before = [], None, "", ""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if block is not None:
            if fence and not fence[2].strip():
                found.append(block)
                block = None
            else:
                block.text += line.removeprefix(indent) + "\n"
        elif fence:
            language, *words = fence[2].split() or [""]
            files = [word.removeprefix("file=") for word in words if word.startswith("file=")]
            block = Block(page, number, language, {word for word in words if "=" not in word}, *files)
            indent = fence[1]
        else:
            in_list = re.match(r"\s*([-*]|\d+\.) |\s+\S", before)
            assert not (line.startswith("    ") and not in_list and line.strip()), \
                f"{page.relative_to(SOURCE)}:{number}: fence this block, with what becomes of it: {line}"
            before = line if line.strip() else before
    assert block is None, f"{block.place}: this block does not end"
    return found
