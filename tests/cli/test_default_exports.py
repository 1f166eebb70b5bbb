# SPDX-License-Identifier: Apache-2.0
"""Exports that nobody names: those that last, as far as the model can have them; and what an ONNX file keeps."""

import json
import re
import sys
import zipfile

import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from harness import expect_bad, export_model, main, run, run_good, sqnr, write_recipe
from models import residual
from torch import nn

USUAL = {"model.int8.pt2", "model.int8.onnx", "model.int8.ts.pt"}


def exports(folder):
    return {path.name for path in folder.glob("model*")}


def test_the_forms_that_last_are_the_default(folder):
    _, path, npz, _ = residual(folder)
    done = run("quantize", path, "--data", npz, "--device", "cpu", "--out", folder / "out")
    assert done.returncode == 0 and "left out" not in done.stderr and "read" not in done.stderr, done.stderr
    assert exports(folder / "out") == USUAL
    assert set(json.loads((folder / "out" / "result.json").read_text())["exports"]) == {"pt2", "onnx", "torchscript"}


class Keeps(nn.Module):
    """State, which ONNX has no form of."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.register_buffer("last", torch.zeros(8))

    def forward(self, x):
        y = self.fc(x)
        self.last.copy_(y.detach().mean(0))
        return torch.relu(y)


def test_a_form_that_a_model_cannot_have(folder):
    torch.manual_seed(0)
    torch.export.save(torch.export.export(Keeps().eval(), (torch.randn(4, 8),)), folder / "m.pt2")
    np.savez(folder / "d.npz", x=np.random.randn(16, 8).astype(np.float32))
    words = ("quantize", folder / "m.pt2", "--data", folder / "d.npz", "--device", "cpu", "--out")
    done = run(*words, folder / "out")
    left = [line for line in done.stderr.splitlines() if "left out" in line]
    assert done.returncode == 0 and len(left) == 1 and left[0].startswith("note: left out: no onnx: "), done.stderr
    assert exports(folder / "out") == USUAL - {"model.int8.onnx"}
    expect_bad(*words, folder / "named", "--export", "pt2,onnx", contains=["keeps no state"], out=folder / "named")


def test_volumes_on_qnnpack_are_refused_in_our_words(folder):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv3d(2, 4, 3), nn.ReLU(), nn.Conv3d(4, 2, 1)).eval()
    calls = [(torch.randn(4, 2, 6, 6, 6),) for _ in range(2)]
    torch.export.save(torch.export.export(model, calls[0]), folder / "m.pt2")
    torch.save(calls, folder / "d.pt")
    words = ("quantize", folder / "m.pt2", "--data", folder / "d.pt", "--recipe", write_recipe(folder, backend="qnnpack"), "--device", "cpu", "--out")
    done = run(*words, folder / "out")
    assert done.returncode == 0 and "no torchscript: node '0 · conv3d" in done.stderr and "packed for the engine qnnpack" in done.stderr, done.stderr
    assert "QNNPACK only" not in done.stderr and exports(folder / "out") == {"model.int8.pt2", "model.int8.onnx"}, done.stderr
    expect_bad(*words, folder / "named", "--export", "torchscript", contains=["conv3d", "the engine qnnpack", "x86"], out=folder / "named")


class Batchwise(nn.Module):
    """Norms without running statistics: those of the batch, in evaluation as well."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4, track_running_stats=False)
        self.fc = nn.Linear(4, 6)
        self.last = nn.BatchNorm1d(6, track_running_stats=False, affine=False)

    def forward(self, x):
        return self.last(self.fc(torch.relu(self.norm(self.conv(x))).mean((2, 3))))


def test_statistics_of_the_batch_go_to_onnx(folder):
    torch.manual_seed(1)
    model, x = Batchwise().eval(), torch.randn(8, 3, 10, 10)
    np.savez(folder / "d.npz", x=x.numpy())
    for name, decompose in (("plain", False), ("core", True)):
        program = torch.export.export(model, (x,))
        torch.export.save(program.run_decompositions() if decompose else program, folder / f"{name}.pt2")
        out = folder / name
        done = run("quantize", folder / f"{name}.pt2", "--data", folder / "d.npz", "--device", "cpu", "--export", "onnx,pt2", "--out", out)
        assert done.returncode == 0 and "training mode" not in done.stderr, done.stderr
        import onnxruntime

        session = onnxruntime.InferenceSession(str(out / "model.int8.onnx"))
        got = torch.from_numpy(session.run(None, {session.get_inputs()[0].name: x.numpy()})[0])
        told = json.loads((out / "result.json").read_text())["outputs"][0]["cumulative"]["sqnr_db"]
        with torch.no_grad():
            measured = sqnr(model(x), got)
        assert measured > 10 and abs(measured - told) < 1, (name, measured, told)
        done = run("verify", out, "--data", folder / "d.npz", "--python", sys.executable, "--runtime", "onnxruntime")
        assert done.returncode == 0, done.stdout


class Returns(nn.Module):
    """Numbers, a table and None among the outputs."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.register_buffer("table", torch.arange(3.0))

    def forward(self, x):
        y = self.fc(x)
        return y, 3, None, self.table, {"scale": 0.5, "on": True}, torch.relu(y)


def test_constant_outputs_stay(folder):
    import onnx
    import onnxruntime

    torch.manual_seed(2)
    model, x = Returns().eval(), torch.randn(4, 8)
    torch.export.save(torch.export.export(model, (x,)), folder / "m.pt2")
    torch.save([(x,) for _ in range(3)], folder / "d.pt")
    run_good("quantize", folder / "m.pt2", "--data", folder / "d.pt", "--device", "cpu", "--export", "onnx,pt2", "--out", folder / "out")
    onnx.checker.check_model(str(folder / "out" / "model.int8.onnx"), full_check=True)
    session = onnxruntime.InferenceSession(str(folder / "out" / "model.int8.onnx"))
    got = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    assert len(got) == 6, [value.name for value in session.get_outputs()]
    assert got[1] == 3 and got[1].dtype == np.int64 and list(got[2]) == [0, 1, 2] and got[3] == np.float32(0.5) and got[4] == np.bool_(True), got[1:5]
    with torch.no_grad():
        wanted = model(x)
    assert sqnr(wanted[0], torch.from_numpy(got[0])) > 20 and sqnr(wanted[5], torch.from_numpy(got[5])) > 20
    done = run("verify", folder / "out", "--data", folder / "d.pt", "--python", sys.executable, "--runtime", "onnxruntime", "--json")
    certificate = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    outputs = next(v for v in certificate["verdicts"] if v["runtime"] == "onnxruntime")["outputs"]
    assert len(outputs) == 3, outputs  # the two values and the table, each held to its own


def stored_bytes(path):
    """Of a .pt2: the bytes of its tensors; of a TorchScript file: of its tensors and packed weights."""
    with zipfile.ZipFile(path) as archive:
        return sum(entry.file_size for entry in archive.infolist() if re.search(r"/(data|constants)/(weights/|constants/)?[\w.]*\d+$", entry.filename))


class Speech(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.rnn = getattr(nn, kind)(40, 128, num_layers=2, batch_first=True)
        self.fc = nn.Linear(128, 16)

    def forward(self, x):
        return self.fc(self.rnn(x)[0])


def test_the_size_of_a_recurrent_network_is_the_files(folder):
    for kind, recipe in (("LSTM", {}), ("LSTM", {"mapping": {"global": "default_dynamic"}}), ("GRU", {"mapping": {"global": "default_dynamic"}})):
        torch.manual_seed(3)
        model, x = Speech(kind).eval(), torch.randn(4, 6, 40)
        export_model(model, (x,), folder / "m.pt2", dynamic=False)
        torch.save([(torch.randn(4, 6, 40),) for _ in range(2)], folder / "d.pt")
        out = folder / f"{kind}{len(recipe)}"
        run_good("quantize", folder / "m.pt2", "--data", folder / "d.pt", "--device", "cpu", "--recipe", write_recipe(folder, backend="x86", **recipe),
                 "--export", "torchscript,pt2", "--out", out)
        told = json.loads((out / "result.json").read_text())["weights"]
        held = stored_bytes(out / "model.int8.pt2")
        parameters = sum(p.numel() for p in model.parameters())
        assert told["float_bytes"] == 4 * parameters, (told, parameters)
        assert held < 0.45 * told["float_bytes"], (held, told)
        assert abs(told["int8_bytes"] - held) < 0.06 * held, (kind, recipe, told, held)


if __name__ == "__main__":
    main(__name__)
