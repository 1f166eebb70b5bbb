# SPDX-License-Identifier: Apache-2.0
"""About lists the licence of everything: each library that the programs name belongs to a part of resources/licences.json."""
import json
import re
import subprocess
from pathlib import Path

from harness import PROGRAM, SOURCE, main

LIST = SOURCE / "resources" / "licences.json"


def needed(path):
    text = subprocess.run(["objdump", "-p", path], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^\s*NEEDED\s+(\S+)", text, re.M)


def test_every_library_has_its_licence(folder):
    parts = json.loads(LIST.read_text())["licences"]
    known = tuple(library for part in parts for library in part["libraries"])
    build = Path(PROGRAM).resolve().parents[1]
    binaries = [*(build / "bin").glob("quantscope*"), build / "lib" / "libquantscope_engine.so"]
    assert len(binaries) > 1, binaries
    for binary in binaries:
        for library in needed(binary):
            assert library.startswith(known), f"{binary.name} needs {library}, which {LIST.name} does not list"


def test_every_part_says_where_its_text_stands(folder):
    for part in json.loads(LIST.read_text())["licences"]:
        assert part["licence"] and (part["text"] or part["package"] or part["wheel"]), part


main(__name__)
