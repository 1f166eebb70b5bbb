# SPDX-License-Identifier: Apache-2.0
"""Files made to read foreign memory or to overflow the stack: one clear line, within bounded memory, never a crash."""
import io
import json
import pathlib
import resource
import struct
import subprocess
import tempfile
import unittest
import zipfile

import torch

from oracle_run import TOOL

FLOATS = b"ctorch\nFloatStorage\n"
REBUILD = b"ctorch._utils\n_rebuild_tensor_v2\n"


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def number(value):
    return b"\x8a\x08" + struct.pack("<q", value)


def storage(count, key="0", kind=FLOATS):
    return b"(" + text("storage") + kind + text(key) + text("cpu") + number(count) + b"tQ"


def tensor(count, sizes, strides, offset=0, function=REBUILD, held=None):
    numbers = [b"(" + b"".join(map(number, values)) + b"t" for values in (sizes, strides)]
    hooks = b"ccollections\nOrderedDict\n)R"
    return function + b"(" + (held or storage(count)) + number(offset) + b"".join(numbers) + b"\x89" + hooks + b"tR"


def listed(*items):
    return b"\x80\x02](" + b"".join(items) + b"e."


GOOD = tensor(8, (2, 4), (4, 1))
DOUBLED = b"\x80\x02" + GOOD + b"".join(b"q\x00h\x00\x86" for _ in range(60)) + b"."
# What the pickle holds, with 8 floats behind it, and what must be said.
PICKLES = {
    "more elements than the record": (listed(tensor(1 << 28, (2, 1 << 20), (1 << 20, 1))), "does not fit its record"),
    "more elements than 64 bits count": (listed(tensor((1 << 63) - 1, (2, 4), (4, 1))), "does not fit its record"),
    "sizes beyond the storage": (listed(tensor(8, (2, 400000), (400000, 1))), "reaches beyond"),
    "strides beyond the storage": (listed(tensor(8, (2, 4), (1 << 40, 1))), "reaches beyond"),
    "strides that overflow": (listed(tensor(8, (3, 4), (1 << 62, 1))), "reaches beyond"),
    "an offset beyond the storage": (listed(tensor(8, (2, 4), (4, 1), 1 << 20)), "reaches beyond"),
    "an offset before the storage": (listed(tensor(8, (2, 4), (4, 1), -4096)), "reaches beyond"),
    "sizes below zero": (listed(tensor(8, (-2, 4), (4, 1))), "reaches beyond"),
    "strides below zero": (listed(tensor(8, (2, 4), (-4, 1))), "reaches beyond"),
    "no storage but sizes": (listed(tensor(0, (2, 4), (4, 1))), "reaches beyond"),
    "a record that is missing": (listed(tensor(8, (2, 4), (4, 1), held=storage(8, "7"))), "missing"),
    "a number for a function": (listed(REBUILD, tensor(8, (1 << 20,), (1,), function=b"K\x00")), "damaged"),
    "a number for a type": (listed(tensor(8, (2, 4), (4, 1), held=storage(8, kind=b"K\x07"))), "damaged"),
    "a type for a function": (listed(*[REBUILD] * 7, tensor(8, (1 << 20,), (1,), function=FLOATS)), "damaged"),
    "a tensor of a tensor": (listed(tensor(8, (9,), (1,), held=GOOD)), "damaged"),
    "a million tuples in each other": (b"\x80\x02" + GOOD + b"\x85" * 1000000 + b".", "too deep"),
    "a million lists in each other": (b"\x80\x02" + b"](" * 1000000 + b"e" * 1000000 + b".", "too deep"),
    "a list that holds itself": (b"\x80\x02]q\x00(h\x00e.", "is cyclic"),
    "two lists that hold each other": (b"\x80\x02]q\x00(](h\x00ee.", "is cyclic"),
    "tuples that double": (DOUBLED, "expands"),
    "a far memo": (b"\x80\x02]r" + struct.pack("<I", 0xFFFFFFF0) + b".", "damaged"),
    "a text longer than the file": (b"\x80\x02X" + struct.pack("<I", 0xFFFFFFF0) + b"abc.", "damaged"),
    "an end that is missing": (listed(GOOD)[:-30], "damaged"),
    "nothing on the stack": (b"\x80\x02QQ.", "damaged"),
}


# Readers that look at claims themselves as well.
SOME = ["sizes beyond the storage", "strides that overflow", "a type for a function", "a million tuples in each other",
        "a list that holds itself", "tuples that double", "a far memo", "an end that is missing"]


def saved(pickle_bytes):
    """As torch.save writes it, with eight floats."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("data/data.pkl", pickle_bytes)
        archive.writestr("data/data/0", struct.pack("<8f", *range(8)))
        archive.writestr("data/version", "3\n")
    return out.getvalue()


def edited(source, target, change):
    """A copy of an archive whose records `change(name, bytes)` may replace."""
    with zipfile.ZipFile(source) as given, zipfile.ZipFile(target, "w") as made:
        for item in given.infolist():
            made.writestr(item.filename, change(item.filename, given.read(item)))


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.manual_seed(0)
        held = tempfile.TemporaryDirectory()
        cls.addClassCleanup(held.cleanup)
        cls.folder = pathlib.Path(held.name)
        cls.good, cls.script, cls.data = cls.folder / "good.pt2", cls.folder / "good.pt", cls.folder / "good_data.pt"
        torch.export.save(torch.export.export(Model().eval(), (torch.randn(2, 4),)), cls.good)
        torch.jit.save(torch.jit.script(Model().eval()), cls.script)
        torch.save([torch.randn(2, 4)], cls.data)

    def run_tool(self, model, data):
        return subprocess.run([TOOL, str(model), str(data), str(self.folder)], capture_output=True, text=True,
                              preexec_fn=limited, timeout=120)

    def refused(self, model, data, word):
        done = self.run_tool(model, data)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(word, done.stderr)

    def test_the_good_ones(self):
        for model, data in ((self.good, "sample"), (self.good, self.data), (self.script, self.data)):
            done = self.run_tool(model, data)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_sample_inputs(self):
        for name, (bad, word) in PICKLES.items():
            with self.subTest(name):
                model = self.folder / "samples.pt2"
                edited(self.good, model, lambda record, old: saved(bad) if record.endswith("sample_inputs/model.pt") else old)
                self.refused(model, "sample", word)

    def test_pickled_weights(self):
        def change(record, old):
            if record.endswith("model_weights_config.json"):
                config = json.loads(old)
                config["config"]["fc.weight"]["use_pickle"] = True
                self.weight = config["config"]["fc.weight"]["path_name"]
                return json.dumps(config).encode()
            return old

        for name in ("sizes beyond the storage", "more elements than the record", "a million tuples in each other"):
            with self.subTest(name):
                half, model = self.folder / "half.pt2", self.folder / "weights.pt2"
                edited(self.good, half, change)
                edited(half, model, lambda record, old: saved(PICKLES[name][0]) if record.endswith("/" + self.weight) else old)
                self.refused(model, self.data, PICKLES[name][1])

    def test_data(self):
        for name in SOME:
            with self.subTest(name):
                data = self.folder / "bad_data.pt"
                data.write_bytes(saved(PICKLES[name][0]))
                self.refused(self.good, data, str(data))

    def test_scripts(self):
        for name in SOME:
            with self.subTest(name):
                model, (bad, word) = self.folder / "bad.pt", PICKLES[name]
                edited(self.script, model, lambda record, old: bad if record.endswith("data.pkl") else old)
                self.refused(model, self.data, word)

    def test_trees(self):
        deep = "[" * 400000 + "]" * 400000
        inner = json.dumps([1, {"type": "builtins.dict", "context": deep, "children_spec": []}])
        nested = "[1, " + '{"type": "builtins.tuple", "context": "null", "children_spec": [' * 100000 + "]}" * 100000 + "]"
        for name, tree in {"lists": deep, "context": inner, "children": nested}.items():
            for key in ("in_spec", "out_spec"):
                with self.subTest(name, key=key):
                    def change(record, old):
                        if not record.endswith("models/model.json"):
                            return old
                        found = []

                        def replaced(part):
                            if isinstance(part, dict):
                                if key in part:
                                    found.append(key)
                                return {k: tree if k == key else replaced(v) for k, v in part.items()}
                            return [replaced(v) for v in part] if isinstance(part, list) else part

                        out = json.dumps(replaced(json.loads(old)))
                        self.assertTrue(found)
                        return out.encode()

                    model = self.folder / "tree.pt2"
                    edited(self.good, model, change)
                    done = self.run_tool(model, self.data)
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                    self.assertLessEqual(len(done.stderr.splitlines()), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
