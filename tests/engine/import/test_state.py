# SPDX-License-Identifier: Apache-2.0
"""Models that change their buffers or their inputs: the changes are part of the graph, every call starts from the saved state,
a sequence carries it on, and what is written back and as TorchScript behaves as the model does in PyTorch."""
import copy
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed

from oracle_run import check_model, equal, run_tool

torch.set_num_threads(1)


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 4)
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("average", torch.zeros(4))

    def forward(self, x):
        self.count.add_(1)
        y = self.fc(x)
        self.average.mul_(0.9).add_(y.mean(0) * 0.1)
        return y - self.average, self.count * 2


class Cache(torch.nn.Module):
    """A running window and a position, set and not changed in place."""

    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 4)
        self.register_buffer("window", torch.zeros(8, 4), persistent=False)
        self.register_buffer("position", torch.zeros((), dtype=torch.long))

    def forward(self, x):
        self.window = torch.cat([self.window[1:], self.fc(x)], 0)
        self.position += 1
        return self.window.sum(0) * self.position


class Slots(torch.nn.Module):
    """Written to through an index and through a view."""

    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 4)
        self.register_buffer("keys", torch.zeros(8, 4))

    def forward(self, x, at):
        self.keys.index_copy_(0, at, self.fc(x))
        self.keys[0:1] = x
        return self.keys @ x.t()


class Overwritten(torch.nn.Module):
    """The old value is never read."""

    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 4)
        self.register_buffer("last", torch.zeros(2, 4))

    def forward(self, x):
        y = self.fc(x)
        self.last.copy_(y)
        return y.relu()


class WritesInput(torch.nn.Module):
    def forward(self, x, y):
        x.add_(y)
        return x * 2


class Drifts(torch.nn.Module):
    """What its relu gives grows from call to call."""

    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 4)
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        self.count.add_(10)
        return torch.relu(self.fc(x) * 0.1 + self.count)


X = torch.randn(3, 2, 4, generator=torch.Generator().manual_seed(1))
CASES = {
    "counter": (Counter, [(x,) for x in X]),
    "cache": (Cache, [(x[:1],) for x in X]),
    "slots": (Slots, [(x[:1], torch.tensor([i + 2])) for i, x in enumerate(X)]),
    "overwritten": (Overwritten, [(x,) for x in X]),
    "writes_input": (WritesInput, [(x, x.flip(0)) for x in X]),
}


def cloned(call):
    return tuple(value.clone() for value in call)


class State(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(2)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def exported(self, name):
        make, calls = CASES[name]
        model = make().eval()
        program = torch.export.export(copy.deepcopy(model), cloned(calls[0]))
        for decomposed in (False, True):
            yield model, calls, program.run_decompositions() if decomposed else program

    def check_alone(self, name):
        for model, calls, program in self.exported(name):
            with self.subTest(decomposed=program.verifier.dialect):
                check_model(program, model, calls, self.folder, fresh=lambda: copy.deepcopy(model))
                self.check_sequence(model, calls)

    def check_sequence(self, model, calls):
        """The same objects called again and again: outputs, and at the end the buffers, are those of PyTorch."""
        done = run_tool(self.folder / "model.pt2", self.folder / "data.pt", self.folder, "sequence")
        self.assertEqual(done.returncode, 0, done.stderr)
        ours = torch.load(self.folder / "float.expected.pt", weights_only=False)
        runners = {"eager": copy.deepcopy(model), "pt2": torch.export.load(self.folder / "again.pt2").module(),
                   "torchscript": torch.jit.load(self.folder / "again.ts.pt")}
        with torch.no_grad():
            for index, call in enumerate(calls):
                given = {form: cloned(call) for form in runners}
                results = {form: runner(*given[form]) for form, runner in runners.items()}
                for form in runners:
                    equal(results[form], results["eager"], f"{form}, call {index} of a sequence")
                    equal(given[form], given["eager"], f"{form}, inputs after call {index}")
                equal(ours[index][1], results["eager"], f"interpreter, call {index} of a sequence")
        for path, buffer in runners["eager"].named_buffers():
            equal(dict(runners["pt2"].named_buffers())[path], buffer, f"pt2, {path}")
            equal(dict(runners["torchscript"].named_buffers())[path.replace(".", "_")], buffer, f"torchscript, {path}")

    def test_counter(self):
        self.check_alone("counter")

    def test_cache(self):
        self.check_alone("cache")

    def test_slots(self):
        self.check_alone("slots")

    def test_overwritten(self):
        self.check_alone("overwritten")

    def test_input(self):
        self.check_alone("writes_input")

    def test_the_graph_says_it(self):
        for model, calls, program in self.exported("counter"):
            path = self.folder / "shown.pt2"
            torch.export.save(program, path)
            document = json.loads(subprocess.run([os.environ["QUANTSCOPE"], "inspect", "--json", str(path)], check=True,
                                                 capture_output=True, text=True).stdout)
            updates = [node for node in document["nodes"] if node["op"] == "quantscope.set_state.default"]
            self.assertEqual(sorted(node["opaque"].split("'")[1] for node in updates), ["average", "count"])
            self.assertEqual(len(document["outputs"]), 2)
            # Nothing works in place, whatever the file said.
            self.assertFalse([n for n in document["nodes"] if n["op"].count(".") == 2 and n["op"].split(".")[1].endswith("_")])

    def test_the_program_written_back_mutates(self):
        for model, calls, program in self.exported("counter"):
            check_model(program, model, calls[:1], self.folder, fresh=lambda: copy.deepcopy(model))
            again = torch.export.load(self.folder / "again.pt2")
            self.assertEqual(sorted(again.graph_signature.buffers_to_mutate.values()), ["average", "count"])

    def quantize(self, path, data, sequence):
        recipe, out = self.folder / "recipe.json", self.folder / "out"
        recipe.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86",
                                      "calibration": {"batch_size": 2, "batches": 0, "sequence": sequence}}))
        done = subprocess.run([os.environ["QUANTSCOPE"], "quantize", str(path), "--recipe", str(recipe), "--data", str(data), "--out",
                               str(out), "--device", "cpu", "--export", "torchscript,pt2-reference"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return out, {n["name"]: n for n in json.loads((out / "result.json").read_text())["nodes"]}

    def test_calibration_starts_from_the_saved_state_unless_a_sequence(self):
        model = Drifts().eval()
        x = torch.randn(6, 4)
        program = torch.export.export(copy.deepcopy(model), (x[:2],), dynamic_shapes=({0: torch.export.Dim("rows")},))
        path, data = self.folder / "model.pt2", self.folder / "x.pt"
        torch.export.save(program, path)
        torch.save(x, data)
        with torch.no_grad():
            for sequence in (False, True):
                eager, seen = copy.deepcopy(model), []
                for batch in x.split(2):
                    if not sequence:
                        eager = copy.deepcopy(model)
                    seen.append(eager(batch).max())
                out, nodes = self.quantize(path, data, sequence)
                observed = nodes["relu"]["output"]["max"][0]
                self.assertAlmostEqual(observed, max(seen).item(), places=4)
                self.assertTrue((observed > 25) == sequence)
                # Both sides of the comparison keep their own state: neither drifts from the other.
                self.assertGreater(nodes["relu"]["error"]["cumulative"]["sqnr_db"], 20)
                for file in ("model.reference.pt2", "model.int8.ts.pt"):
                    loaded = torch.jit.load(out / file) if file.endswith(".ts.pt") else None
                    if loaded is None:
                        loaded = torch.export.load(out / file).module()
                    # Both exports go on from call to call.
                    first, second = loaded(x[:2]), loaded(x[:2])
                    self.assertGreater((second - first).max().item(), 0.5, file)
                    self.assertGreater(dict(loaded.named_buffers())["count"].item(), 9, file)


if __name__ == "__main__":
    unittest.main()
