# SPDX-License-Identifier: Apache-2.0
"""The worst samples of a comparison and its counts of classes, against a computation from the written outputs."""

import json
import sys

import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from harness import main, run_good, run_json, write_recipe
from torch import nn

SAMPLES, CLASSES, KEPT = 203, 7, 32

SAVE_OUTPUTS = """
import os, shutil, sys
folder, path = sys.argv[1], sys.argv[2]
shutil.copy(path, os.path.join(folder, f"outputs{len(os.listdir(folder))}.npz"))
print(1)
"""


class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(6 * 36, 16), nn.ReLU())
        self.classifier = nn.Linear(16, CLASSES)

    def forward(self, x):
        return self.classifier(self.body(x))


def quantized(folder, model, data, labels=None):
    """The model's path, the folder of the result, the data, and the outputs of both models as written for a metric."""
    torch.export.save(torch.export.export(model, (data[:8],), dynamic_shapes=({0: torch.export.Dim.AUTO},)),
                      folder / "model.pt2")
    arrays = {"x": data.numpy()} | ({} if labels is None else {"labels": labels})
    np.savez(folder / "data.npz", **arrays)
    script, place = folder / "save.py", folder / "outputs"
    script.write_text(SAVE_OUTPUTS)
    place.mkdir()
    run_good("quantize", folder / "model.pt2", "--data", folder / "data.npz", "--device", "cpu", "--recipe",
             write_recipe(folder, calibration={"batches": 0}), "--eval", f"{sys.executable} {script} {place}",
             "--export", "pt2-reference", "--out", folder / "out")
    outputs = []
    for number in range(2):
        arrays = np.load(place / f"outputs{number}.npz")
        outputs.append(next(arrays[name] for name in arrays.files if name != "labels").astype(np.float64))
    return folder / "model.pt2", folder / "out", folder / "data.npz", outputs


def decibels(y, other):
    rows = y.reshape(len(y), -1), other.reshape(len(y), -1)
    return 10 * np.log10((rows[0] ** 2).sum(1) / ((rows[1] - rows[0]) ** 2).sum(1))


def counts(rows, columns):
    out = {}
    for row, column in zip(rows.tolist(), columns.tolist()):
        of = out.setdefault(str(row), {})
        of[str(column)] = of.get(str(column), 0) + 1
    return out


def check(found, y, other, labels):
    db, one, two = decibels(y, other), y.argmax(1), other.argmax(1)
    order = np.argsort(db, kind="stable")
    changed = [i for i in order if one[i] != two[i]]
    wanted = sorted({*order[:KEPT].tolist(), *(int(i) for i in changed[:KEPT])}, key=lambda i: (db[i], i))
    assert [row["sample"] for row in found["worst"]] == wanted, (found["worst"], wanted)
    for row in found["worst"]:
        i = row["sample"]
        assert abs(row["sqnr_db"] - db[i]) < 1e-6, (row, db[i])
        assert abs(row["signal"] / (y[i] ** 2).sum() - 1) < 1e-9
        assert (row["float_class"], row["int8_class"]) == (one[i], two[i])
        assert row["label"] == (None if labels is None else labels[i])
        assert row["changed"] == (one[i] != two[i])
    classes = found["classes"]
    assert classes["count"] == CLASSES and classes["not_a_number"] == 0
    for name, rows, columns in (("float_int8", one, two), ("label_float", labels, one), ("label_int8", labels, two)):
        wanted = {} if rows is None else counts(rows, columns)
        assert classes[name] == wanted, (name, classes[name], wanted)
    return classes


def equal(table):
    return sum(columns.get(row, 0) for row, columns in table.items())


def test_worst_samples_and_classes(folder):
    torch.manual_seed(2)
    data = torch.randn(SAMPLES, 1, 8, 8)
    data[17] *= 0.02  # a faint sample
    model = Scores().eval()
    labels = model(data).argmax(1).numpy()
    labels[::9] = (labels[::9] + 1) % CLASSES
    path, out, npz, (y, other) = quantized(folder, model, data, labels)
    document = run_json("compare", path, "--result", out, "--data", npz, "--device", "cpu")
    classes = check(document["sample_errors"], y, other, labels)
    assert document["sample_errors"]["output"] == document["outputs"][0]["name"]
    # The counts are those of the top-1 figures, exactly.
    assert equal(classes["float_int8"]) / SAMPLES == document["agreement"]["top1"] < 1
    assert equal(classes["label_float"]) / SAMPLES == document["labels"]["float_top1"]
    assert equal(classes["label_int8"]) / SAMPLES == document["labels"]["int8_top1"]
    # The same of the exported reference form, compared as a file of another program.
    as_file = run_json("compare", path, "--result", out / "model.reference.pt2", "--data", npz, "--device", "cpu")
    reference = torch.export.load(out / "model.reference.pt2").module()
    outputs = torch.cat([reference(batch) for batch in data.split(8)]).double().numpy()
    found = check(as_file["sample_errors"], y, outputs, labels)
    assert equal(found["float_int8"]) / SAMPLES == as_file["agreement"]["top1"]
    # The folder's document has the same, and one block of the text.
    stored = json.loads((out / "result.json").read_text())
    assert stored["sample_errors"] == document["sample_errors"]
    text = run_good("compare", path, "--result", out, "--data", npz, "--device", "cpu")
    lines = text[text.index("The samples that lost most at output"):].splitlines()
    assert lines[2].split() == ["worst", "sample", "dB", "label", "float", "int8"], lines[:6]
    for line, row in zip(lines[4:9], document["sample_errors"]["worst"]):
        wanted = [str(row["sample"]), f"{row['sqnr_db']:.2f}", *(str(row[key]) for key in ("label", "float_class", "int8_class"))]
        assert line.split() == wanted + (["changed"] if row["changed"] else []), (line, row)
    assert lines[9] == "", lines[9]
    run_good("report", out, "--html", folder / "report.html")
    page = (folder / "report.html").read_text()
    table = page[page.index('<table class="samples">'):]
    assert table[:table.index("</table>")].count("<tr>") == 1 + len(document["sample_errors"]["worst"])


def test_without_labels_and_without_classes(folder):
    torch.manual_seed(3)
    data = torch.randn(40, 1, 8, 8)
    path, out, npz, (y, other) = quantized(folder, Scores().eval(), data)
    check(run_json("compare", path, "--result", out, "--data", npz, "--device", "cpu")["sample_errors"], y, other, None)

    (folder / "picture").mkdir()
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(4, 1, 3)).eval()
    path, out, npz, (y, other) = quantized(folder / "picture", model, data)
    found = run_json("compare", path, "--result", out, "--data", npz, "--device", "cpu")["sample_errors"]
    db = decibels(y, other)
    assert found["classes"] is None
    assert [row["sample"] for row in found["worst"]] == np.argsort(db, kind="stable")[:KEPT].tolist()
    assert all(row["float_class"] is None and not row["changed"] for row in found["worst"])


class Rows(nn.Module):
    """Its output has other rows than samples."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 6)

    def forward(self, x):
        return self.linear(x).reshape(-1, 3)


def test_rows_that_are_not_samples(folder):
    path, out, npz, _ = quantized(folder, Rows().eval(), torch.randn(16, 6))
    arguments = ("compare", path, "--result", out, "--data", npz, "--device", "cpu")
    assert run_json(*arguments)["sample_errors"] is None
    assert "samples that lost most" not in run_good(*arguments)


main(__name__)
