# SPDX-License-Identifier: Apache-2.0
"""What every file must be: licensed in its first line, short or with a reason, free of unfinished marks and of paths and
hosts of one machine; every source and every test known to CMake; no folder of the product too full to survey,
no class in many sources.
"""
import collections
import functools
import pathlib
import re

import tree

LIMIT = 400
ROOM = 30
SOURCES_OF_A_CLASS = 2
MEMBER = re.compile(r"^(?:[\w:<>,&*][\w:<>,&* ]*?[ &*])?([A-Z]\w*)::~?\w+\(", re.MULTILINE)
REASON = re.compile(r"over 400 lines because", re.IGNORECASE)
SCRIPT_NAMES = ("run", "setup", "refresh", "CMakeLists.txt")
CODE = tree.CPP + (".py", ".cmake", ".sh")
PROSE = (".md", ".txt", ".json", ".qrc", ".svg", ".in", ".out")
# Spelt in pieces, so that this file does not find itself.
UNWANTED = [
    (re.compile(r"(?<![\w.~$}])/(?:wo" r"rk|ro" r"ot|ho" r"me)/(?!u/)[\w.]"), "a path of one machine"),
    (re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b"), "an unfinished mark"),
    (re.compile(r"artif" r"actory|\.pkg\.d" r"ev|files\.python" r"hosted|download\.py" r"torch|pypi\.o" r"rg|deb\.deb" r"ian"),
     "a package host; setup takes the machine's own"),
]


def is_code(name):
    return name.endswith(CODE) or pathlib.PurePath(name).name in SCRIPT_NAMES


def licence_problem(name, lines):
    first = [line for line in lines[:2] if not line.startswith("#!")][:1]
    gpl = name.startswith("ui/") or name == "app/gui_main.cpp"
    wanted = "GPL-3.0-or-later" if gpl else "Apache-2.0"
    # Tests of the window may carry either.
    accepted = ("GPL-3.0-or-later", "Apache-2.0") if name.startswith("tests/") else (wanted,)
    if not first or not re.match(rf"(//|#) SPDX-License-Identifier: ({'|'.join(map(re.escape, accepted))})$", first[0]):
        yield f"{name}: the first line must be its SPDX line ({wanted})"


def length_problem(name, lines):
    if len(lines) > LIMIT and not any(REASON.search(line) for line in lines[:12]):
        yield f"{name}: {len(lines)} lines; split it, or say at its top why (\"over {LIMIT} lines because ...\")"


def word_problems(name, lines):
    for number, line in enumerate(lines, 1):
        for pattern, what in UNWANTED:
            if pattern.search(line):
                yield f"{name}:{number}: {what}: {line.strip()[:100]}"


def cmake_text(path):
    """A CMakeLists.txt with its foreach loops over words written out."""
    def unrolled(loop):
        variable, *words = loop.group(1).split()
        return "".join(loop.group(2).replace("${" + variable + "}", word) for word in words)

    return re.sub(r"foreach\(([\w\s.]+)\)(.*?)endforeach\(\)", unrolled, path.read_text(), flags=re.DOTALL)


def registration_problem(name):
    path = pathlib.PurePath(name)
    is_source = name.startswith(("engine/", "ui/", "app/")) and path.suffix in (".cpp", ".cu")
    is_test = name.startswith("tests/") and re.match(r"(tst_.*\.cpp|test_.*\.py)$", path.name)
    if not (is_source or is_test):
        return
    for folder in path.parents:
        cmake = tree.ROOT / folder / "CMakeLists.txt"
        if cmake.is_file() and re.search(rf"(?<![\w]){re.escape(path.name)}\b", cmake_text(cmake)):
            return
    # Or another folder's, by its path from the root.
    if any(f"/{name}\"" in tree.text(other) for other in tree.files() if other.endswith("CMakeLists.txt")):
        return
    yield f"{name}: no CMakeLists.txt above it names it, so nothing builds or runs it"


@functools.cache
def anchors(path):
    """What the headings of a page are called in addresses."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def link_problems(name, lines):
    """Links of a page to other files of the checkout, and to their headings, lead somewhere."""
    for number, line in enumerate(lines, 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, heading = target.partition("#")
            path = (tree.ROOT / name).parent / file if file else tree.ROOT / name
            if not path.exists() or (heading and heading not in anchors(path)):
                yield f"{name}:{number}: links to {target}, which is not there"


def room_problems(names):
    """A folder of the product holds at most ROOM files of its own; more are rooms inside it."""
    folders = collections.Counter(str(pathlib.PurePath(name).parent) for name in names if name.startswith(("engine/", "ui/", "app/")))
    for folder, count in sorted(folders.items()):
        if count > ROOM:
            yield f"{folder}: {count} files; make rooms in it of at most {ROOM}"


def class_problems(names):
    """The members of a class stand in at most SOURCES_OF_A_CLASS sources; a larger class is several."""
    sources = collections.defaultdict(set)
    for name in names:
        if name.startswith(("engine/", "ui/", "app/")) and name.endswith((".cpp", ".cu")):
            for of in MEMBER.findall(tree.text(name)):
                sources[of].add(name)
    for of, found in sorted(sources.items()):
        if len(found) > SOURCES_OF_A_CLASS:
            yield f"{of}: its members stand in {len(found)} sources; at most {SOURCES_OF_A_CLASS}: {', '.join(sorted(found))}"


def main():
    problems, seen = list(room_problems(tree.files())) + list(class_problems(tree.files())), 0
    for name in tree.files():
        code = is_code(name)
        if not code and not name.endswith(PROSE):
            continue
        seen += 1
        lines = tree.text(name).splitlines()
        problems += word_problems(name, lines)
        if name.endswith(".md"):
            problems += link_problems(name, lines)
        if code:
            problems += licence_problem(name, lines)
            problems += registration_problem(name)
            problems += length_problem(name, lines)
    tree.finish("files", problems, seen)


if __name__ == "__main__":
    main()
