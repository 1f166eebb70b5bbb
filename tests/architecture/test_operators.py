# SPDX-License-Identifier: Apache-2.0
"""What is known of operators stands in one table: the names of operators elsewhere in the product are counted, by folder, and may
not become more. The table is `engine/graph/operators`; what a decomposed call looks like names operators by its nature.
"""
import collections
import pathlib
import re

import tree

TABLE = ("engine/graph/operators/", "engine/import/recompose/")
# "aten.conv2d.default" and "aten::add" in text, and LibTorch's symbols of the same; not a namespace alone, nor a message.
NAME = re.compile(r'"(?:aten|quantized|prim|quantized_decomposed)(?:\.|::)(?=[a-zA-Z_])|\bc10::(?:aten|prim)::(?=[a-zA-Z_])')
COMMENT = re.compile(r"^\s*(?://|\*)|\s//\s.*")
MOST = 250


def names_of(name):
    """How many operators the file's code names."""
    return sum(len(NAME.findall(COMMENT.sub("", line))) for line in tree.text(name).splitlines() if not re.match(r"\s*//", line))


def main():
    count, seen = collections.Counter(), 0
    for name in tree.cpp_files("engine/", "ui/", "app/"):
        if name.startswith(TABLE):
            continue
        seen += 1
        found = names_of(name)
        if found:
            count["/".join(pathlib.PurePath(name).parts[:3 if name.count("/") > 2 else 2])] += found
    total = sum(count.values())
    for folder, found in count.most_common():
        print(f"{found:5} {folder}")
    problems = [f"operators are named {total} times outside the table, {MOST} at most: ask engine/graph/operators"] if total > MOST else []
    tree.finish(f"operators ({total} names)", problems, seen)


if __name__ == "__main__":
    main()
