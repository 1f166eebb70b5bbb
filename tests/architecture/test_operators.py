# SPDX-License-Identifier: Apache-2.0
"""What is known of operators stands in one table: the names of operators elsewhere in the product are counted, by folder, and may
not become more. A name is a spelling with its namespace ("aten.conv2d.default") or a bare word of the table's rows ("conv2d"),
alone or in a list separated by blanks. The table is `engine/graph/operators`; what a decomposed call looks like names operators by
its nature.
"""
import collections
import pathlib
import re

import tree

TABLE = ("engine/graph/operators/", "engine/import/recompose/")
ROWS = "engine/graph/operators/rows/"
# Vocabularies of formats: each gives an operator its meaning in one format. They have bounds of their own.
FORMATS = {
    "engine/export/onnx/handlers/": 329,  # the function that writes an operator as ONNX, by the operator's word
    "engine/import/torchscript/walk/": 87,  # LibTorch's symbols for the instructions of TorchScript's code
    "engine/export/torchscript/": 48,  # TorchScript's operators in the code that the exporter writes
    "engine/configure/backend/lowering_table.cpp": 97,  # LibTorch's kernel for each pattern
    "engine/execute/control/scalar_ops.cpp": 20,  # the function that runs an operator on numbers, by Python's word
}
# Rows whose words stand for other things as well: arguments, keys of documents, functions of Python and of strings, plain English.
AMBIGUOUS = set("""all any clip copy device dim dtype empty expand fill format index inner item len list log lower max mean min multiply
    ord qscheme replace requires_grad round size sorted split std storage_offset str stride take to upper var where zero
    Bool Float Int""".split())
# "aten.conv2d.default" and "aten::add" in text, and LibTorch's symbols of the same; not a namespace alone, nor a message.
NAME = re.compile(r'"(?:aten|quantized|prim|quantized_decomposed)(?:\.|::)(?=[a-zA-Z_])|\bc10::(?:aten|prim)::(?=[a-zA-Z_])')
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
COMMENT = re.compile(r"^\s*(?://|\*).*|^\s*#.*|\s///?<?\s.*")
MOST = 118


def table_words():
    """The bare words of the table's rows."""
    rows = "".join(tree.text(name) for name in tree.cpp_files(ROWS))
    return {re.sub(r"^prim\.|\..*", "", name) for name in re.findall(r'^\s*\{"([^"]+)"', rows, re.MULTILINE)} - AMBIGUOUS


def names_of(name, words):
    """How many operators the file's code names."""
    lines = [COMMENT.sub("", line) for line in tree.text(name).splitlines()]
    lists = [text.split() for line in lines for text in TEXT.findall(line)]
    return sum(len(NAME.findall(line)) for line in lines) + sum(len(one) for one in lists if all(word in words for word in one))


def main():
    words = table_words()
    assert {"conv2d", "relu", "add", "linear", "TupleIndex"} <= words, "the rows of the table are not found"
    count, formats, seen = collections.Counter(), collections.Counter(), 0
    for name in tree.cpp_files("engine/", "ui/", "app/"):
        if name.startswith(TABLE):
            continue
        seen += 1
        found = names_of(name, words)
        if of_format := next((start for start in FORMATS if name.startswith(start)), None):
            formats[of_format] += found
        elif found:
            count["/".join(pathlib.PurePath(name).parts[:3 if name.count("/") > 2 else 2])] += found
    total = sum(count.values())
    for folder, found in count.most_common() + formats.most_common():
        print(f"{found:5} {folder}")
    problems = [f"operators are named {total} times outside the table, {MOST} at most: ask engine/graph/operators"] if total > MOST else []
    problems += [f"{start} names operators {formats[start]} times, {most} at most"
                 for start, most in FORMATS.items() if formats[start] > most]
    problems += [f"{start} names no operator: take it out of FORMATS" for start in FORMATS if not formats[start]]
    tree.finish(f"operators ({total} names, {sum(formats.values())} of formats)", problems, seen)


if __name__ == "__main__":
    main()
