# SPDX-License-Identifier: Apache-2.0
"""Every graph rewrite has a test of its own: the name of each pass that the engine makes stands, in quotes, in a test under
tests/engine, where the text of a graph before it and after is compared (`tests/support/graph_text_case.h`)."""
import re

import tree

MADE = re.compile(r'\bPass(?:\s+\w+)?\s*[({]\s*"([^"]+)"')


def passes_of(names):
    """Each pass and where it is made first."""
    found = {}
    for name in names:
        for made in MADE.findall(tree.text(name)):
            found.setdefault(made, name)
    return found


def problems_of(passes, tests):
    texts = [tree.text(name) for name in tests]
    for made, name in passes.items():
        if not any(f'"{made}"' in text for text in texts):
            yield f'{name}: no test under tests/engine shows what the pass "{made}" makes of a graph'


def main():
    passes = passes_of(tree.cpp_files("engine/"))
    tree.finish("passes", list(problems_of(passes, tree.cpp_files("tests/engine/"))), len(passes))


if __name__ == "__main__":
    main()
