# SPDX-License-Identifier: Apache-2.0
"""The export helper on models that export and on models that do not: what it writes, where it says a model fails, which
branches it says are lost, and that it leaves the model alone."""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import torch

HERE = pathlib.Path(__file__).resolve().parent
HELPER = HERE.parents[2] / "resources" / "export" / "quantscope_export.py"
sys.path.insert(0, str(HELPER.parent))
sys.path.insert(0, str(HERE))

import helper_models  # noqa: E402
import quantscope_export  # noqa: E402

MODELS = str(HERE / "helper_models.py")


def line_of(mark):
    for number, text in enumerate(pathlib.Path(MODELS).read_text().splitlines(), 1):
        if text.rstrip().endswith("# mark: " + mark):
            return number
    raise AssertionError(mark)


class ExportHelper(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "model.pt2"

    def export(self, name, **options):
        model, args = helper_models.make(name, **options)
        returned = quantscope_export.export(model, args, path=self.path)
        written = json.loads((self.folder / "model.pt2.trace.json").read_text())
        self.assertEqual(json.loads(json.dumps(returned)), written)
        self.assertEqual(sorted(os.listdir(self.folder)), ["model.pt2", "model.pt2.trace.json"])
        self.assertEqual((written["format"], written["version"]), ("quantscope.trace", 1))
        with torch.no_grad():
            self.assertTrue(torch.equal(torch.export.load(self.path).module()(*args), model(*args)))
        return written

    def check_place(self, entry, mark, module, kind):
        self.assertEqual((os.path.realpath(entry["file"]), entry["line"]), (os.path.realpath(MODELS), line_of(mark)))
        self.assertEqual((entry["module"], entry["kind"]), (module, kind))
        self.assertTrue(entry["class"].startswith("helper_models."), entry["class"])
        self.assertIn("mark: " + mark, entry["code"])
        self.assertTrue(entry["hint"])

    def test_a_clean_model_has_nothing_to_tell(self):
        trace = self.export("straight")
        self.assertEqual(trace["exported"], {"file": "model.pt2", "mode": "strict",
                                             "sha256": hashlib.sha256(self.path.read_bytes()).hexdigest()})
        for member in ("failures", "untaken", "advice", "training", "stubs"):
            self.assertEqual(trace[member], [], member)
        self.assertEqual([a["mode"] for a in trace["attempts"]], ["python", "strict", "strict, save"])

    def test_untaken_branches_are_found_per_module(self):
        trace = self.export("clean")
        places = [(e["line"], e["kind"], e["condition"], e["modules"], e["taken_elsewhere"]) for e in trace["untaken"]]
        both = ["first", "second"]
        self.assertIn((line_of("training"), "if", "self.training", both, False), places)
        self.assertIn((line_of("extra"), "if", "self.extra", ["first"], True), places)
        if sys.version_info >= (3, 11):
            self.assertIn((line_of("inline"), "else", "not (x.dim() == 2)", both, False), places)
            self.assertEqual(len(places), 3, places)
        lost = next(e for e in trace["untaken"] if e["condition"] == "self.training")
        self.assertEqual((lost["first_line"], lost["last_line"]), (line_of("training") + 1, line_of("training") + 3))
        self.assertIn("train", lost["hint"])

    def test_the_model_is_left_alone(self):
        model, args = helper_models.make("clean")
        before = [args[0].clone(), model.calls, model.seen.clone()]
        quantscope_export.export(model, args, path=self.path)
        self.assertTrue(torch.equal(before[0], args[0]))
        self.assertTrue(torch.equal(before[2], model.seen))
        self.assertFalse(model.training)
        self.assertIsNone(sys.gettrace())

    def test_a_decision_by_value_gives_its_place(self):
        trace = self.export("decides")
        self.assertEqual(trace["exported"]["mode"], "draft")
        self.assertEqual([f["attempt"] for f in trace["failures"]], ["strict", "non-strict", "draft"])
        for failure in trace["failures"]:
            self.check_place(failure, "decides", "body.1", "data_dependent_if")
            self.assertIn("branch", failure["cause"])
        self.check_place(trace["untaken"][0], "early", "body.1", "rest")
        self.assertEqual(trace["untaken"][0]["condition"], "not (x.sum() > 0)")

    def test_a_loop_by_value_gives_its_place(self):
        model, args = helper_models.make("loops")
        try:  # draft_export of some versions never ends on this one
            trace = quantscope_export.export(model, args, path=self.path, draft_seconds=2)
        except quantscope_export.ExportFailed as failed:
            trace = failed.trace
            self.assertIn("endless", [f["kind"] for f in trace["failures"]])
        for failure in trace["failures"][:2]:
            self.check_place(failure, "loops", "body.1", "data_dependent_loop")

    def test_unpacked_shapes_are_hinted_at(self):
        trace = self.export("spreads")
        self.check_place(trace["advice"][0], "spreads", "", "unpacked_shape")
        self.assertIn("x.view(shape)", trace["advice"][0]["hint"])
        trace = self.export("unpacks")
        self.check_place(trace["failures"][0], "unpacks", "body.1", "unpacked_shape")
        self.assertIn("x.view(shape)", trace["failures"][0]["hint"])

    def test_numpy_is_named(self):
        trace = self.export("numpy")
        self.check_place(trace["advice"][0], "numpy", "body.1", "numpy")
        model, args = helper_models.make("lost")
        with self.assertRaises(quantscope_export.ExportFailed) as caught:
            quantscope_export.export(model, args, path=self.path)
        failures = caught.exception.trace["failures"]
        self.check_place(failures[0], "lost", "body.1", "numpy")
        self.assertEqual(json.loads((self.folder / "model.pt2.trace.json").read_text())["exported"], None)

    def test_train_mode_leftovers_are_named(self):
        model, args = helper_models.make("clean")
        model.drop.train()
        trace = quantscope_export.export(model, args, path=self.path, train=True)
        self.assertEqual([(e["module"], e["class"], e["modules"]) for e in trace["training"]],
                         [("drop", "torch.nn.modules.dropout.Dropout", 1)])
        model.train()
        trace = quantscope_export.export(model, args, path=self.path, train=True)
        self.assertEqual([(e["module"], e["modules"]) for e in trace["training"]], [("", 6)])

    def test_a_model_is_exported_in_evaluation_and_stays_as_it_was(self):
        model, args = helper_models.make("clean")
        model.train()
        trace = quantscope_export.export(model, args, path=self.path)
        self.assertEqual(trace["training"], [])
        self.assertTrue(all(module.training for module in model.modules()))
        targets = [str(node.target) for node in torch.export.load(self.path).graph.nodes]
        with torch.no_grad():
            self.assertTrue(torch.equal(torch.export.load(self.path).module()(*args), model.eval()(*args)), targets)

    def test_the_batch_is_open_where_it_can_be(self):
        model, args = helper_models.make("straight")
        for example in (args, tuple(value[:1] for value in args)):  # a batch of one too
            trace = quantscope_export.export(model, example, path=self.path)
            self.assertEqual(trace["batch"], {"open": True, "reason": ""})
            for size in (1, 5):
                given = tuple(torch.cat([value[:1]] * size) for value in args)
                with torch.no_grad():
                    self.assertTrue(torch.equal(torch.export.load(self.path).module()(*given), model(*given)))
        trace = quantscope_export.export(model, args, dynamic_shapes=None, path=self.path)
        self.assertIsNone(trace["batch"])
        trace = quantscope_export.export(helper_models.FixedBatch(), (torch.ones(2, 4),), path=self.path)
        self.assertEqual((trace["batch"]["open"], trace["exported"]["mode"], trace["failures"]), (False, "strict", []))
        self.assertTrue(trace["batch"]["reason"])

    def test_eager_stubs_are_named(self):
        trace = self.export("stubs")
        self.assertEqual([e["module"] for e in trace["stubs"]], ["quant", "sum", "dequant"])
        self.assertTrue(all("a .pt2 does not name it" in e["hint"] for e in trace["stubs"]))

    def test_what_strict_refuses_goes_non_strict(self):
        trace = self.export("non_strict")
        self.assertEqual(trace["exported"]["mode"], "non-strict")
        self.check_place(trace["failures"][0], "frame", "", "unsupported")

    def test_an_open_dimension_that_is_not_open(self):
        model, args = helper_models.make("straight")
        try:  # draft_export, where there is one, makes the dimension fixed
            trace = quantscope_export.export(model, args, dynamic_shapes=({1: torch.export.Dim("width")},), path=self.path)
        except quantscope_export.ExportFailed as failed:
            trace = failed.trace
        self.assertEqual([(f["attempt"], f["kind"]) for f in trace["failures"][:2]],
                         [("strict", "dynamic_shape"), ("non-strict", "dynamic_shape")])

    def command(self, *words):
        return subprocess.run([sys.executable, str(HELPER), *words], cwd=self.folder, capture_output=True, text=True)

    def test_the_command_exports(self):
        done = self.command(f"{MODELS}:make", "--args", "clean", "size=4", "--dynamic-batch", "-o", "a.pt2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("a.pt2: exported (strict", done.stderr)
        self.assertIn("not run: first (helper_models.Block)", done.stderr)
        self.assertEqual(torch.export.load(self.folder / "a.pt2").module()(torch.ones(7, 4)).shape, (7, 4))

    def test_a_class_and_its_samples(self):
        (self.folder / "net.py").write_text(
            "import torch\n"
            "class Net(torch.nn.Module):\n"
            "    def __init__(self, width=4):\n"
            "        super().__init__()\n"
            "        self.fc = torch.nn.Linear(width, 3)\n"
            "    def forward(self, x):\n"
            "        return self.fc(x)\n"
            "def build():\n"
            "    return Net(5)\n"
            "def rows():\n"
            "    for i in range(40):\n"
            "        yield torch.full((4,), float(i)), i % 3\n"
            "def batches():\n"
            "    return [{'x': torch.ones(8, 4), 'labels': torch.zeros(8, dtype=torch.int64)} for _ in range(3)]\n")
        done = self.command("net.py:Net", "--input", "1x4")
        self.assertEqual((done.returncode, "any batch size" in done.stderr), (0, True), done.stderr)
        self.assertEqual(torch.export.load(self.path).module()(torch.ones(9, 4)).shape, (9, 3))
        self.assertEqual(self.command("net.py:build", "--input", "2x5", "-o", "b.pt2").returncode, 0)
        self.assertEqual(self.command("net.py:Net", "--args", "width=6", "--input", "2x6", "-o", "c.pt2").returncode, 0)
        done = self.command("net.py:Net")
        self.assertEqual((done.returncode, len(done.stderr.strip().splitlines())), (1, 1))
        self.assertIn("--input 1x3x224x224", done.stderr)
        import numpy
        for loader, rows in (("rows", 30), ("batches", 20)):
            done = self.command("net.py:Net", "--data", f"net.py:{loader}", "--samples", str(rows))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"model.calib.npz: {rows} samples: x 4 float32, labels", done.stderr)
            written = numpy.load(self.folder / "model.calib.npz")
            self.assertEqual((written["x"].shape, written["labels"].shape), ((rows, 4), (rows,)))
        # Those to measure on come after them.
        done = self.command("net.py:Net", "--data", "net.py:rows", "--samples", "30", "--test-samples", "8")
        self.assertIn("model.test.npz: 8 samples: x 4 float32, labels", done.stderr)
        self.assertEqual(numpy.load(self.folder / "model.test.npz")["x"][:, 0].tolist(), list(range(30, 38)))
        done = self.command("net.py:Net", "--data", "net.py:rows", "--samples", "40", "--test-samples", "8")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("no samples left for model.test.npz", done.stderr)

    def test_the_program_runs_it(self):
        (self.folder / "net.py").write_text("import torch\ndef make():\n    return torch.nn.Linear(4, 2), torch.ones(2, 4)\n")
        tool = os.environ["QUANTSCOPE"]
        words = [tool, "export", "net.py:make", "--python", sys.executable]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("model.pt2: exported", done.stderr)
        shown = subprocess.run([tool, "export", "--help"], capture_output=True, text=True, check=True).stdout
        for option in ("--" + action.dest.replace("_", "-") for action in quantscope_export.parser_of()._actions if len(action.option_strings)):
            self.assertIn(option, shown)
        bare = subprocess.run([*words[:-1], "/usr/bin/python3"], cwd=self.folder, capture_output=True, text=True)
        if bare.returncode:  # the system's has no torch
            self.assertEqual(len(bare.stderr.strip().splitlines()), 1, bare.stderr)
            self.assertIn("has no torch", bare.stderr)

    def test_the_command_fails_with_one_line_and_its_trace(self):
        old = self.folder / "b.pt2"
        old.write_bytes(b"as it was")
        done = self.command(f"{MODELS}:make", "--args", "broken", "-o", "b.pt2")
        self.assertEqual(done.returncode, 1)
        last = done.stderr.strip().splitlines()[-1]
        for part in ("b.pt2: not exported", "body.1 (helper_models.Broken)", f"helper_models.py:{line_of('broken')}", "no such luck"):
            self.assertIn(part, last)
        self.assertEqual(old.read_bytes(), b"as it was")
        trace = json.loads((self.folder / "b.pt2.trace.json").read_text())
        self.assertIsNone(trace["exported"])
        self.check_place(trace["failures"][0], "broken", "body.1", "not_running")
        self.assertEqual(sorted(os.listdir(self.folder)), ["b.pt2", "b.pt2.trace.json"])

    def test_quantscope_shows_the_record(self):
        self.export("decides")
        tool = os.environ["QUANTSCOPE"]
        shown = subprocess.run([tool, "inspect", "--json", str(self.path)], capture_output=True, text=True, check=True)
        trace = json.loads(shown.stdout)["trace"]
        self.assertEqual((trace["mode"], [f["kind"] for f in trace["findings"]]), ("draft", ["failure", "frozen", "untaken"]))
        failure = trace["findings"][0]
        self.assertEqual((failure["module"], failure["line"], failure["attempts"]),
                         ("body.1", line_of("decides"), ["strict", "non-strict"]))
        text = subprocess.run([tool, "inspect", str(self.path)], capture_output=True, text=True, check=True).stdout
        self.assertIn(f"failure  body.1 [strict, non-strict], helper_models.py:{line_of('decides')}: if x.sum() > 0:", text)
        # A record of another export is left out, a broken one too, both with a note and no refusal.
        for content in (json.dumps({"format": "quantscope.trace", "version": 1, "exported": {"sha256": "0"}}), "{"):
            (self.folder / "model.pt2.trace.json").write_text(content)
            shown = subprocess.run([tool, "inspect", "--json", str(self.path)], capture_output=True, text=True, check=True)
            self.assertIsNone(json.loads(shown.stdout)["trace"])
            self.assertIn("model.pt2.trace.json", shown.stderr)

    def test_wrong_usage(self):
        self.assertEqual(self.command().returncode, 2)
        done = self.command("nowhere:nothing")
        self.assertEqual((done.returncode, len(done.stderr.strip().splitlines())), (1, 1))


if __name__ == "__main__":
    unittest.main()
