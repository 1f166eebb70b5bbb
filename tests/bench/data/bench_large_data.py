# SPDX-License-Identifier: Apache-2.0
"""Whether memory and the time of an image stay flat in the number of samples, for every form of data.

    bench_large_data.py PROGRAM [--small 1000] [--large 10000] [--rounds 3] [--forms tar,folder,npz,pt,calls] [--files FOLDER]

Runs `quantize` of a small network on all samples, at both sizes in turn: peak memory and seconds an image, each as the ratio of the large to the small
size (medians of the rounds). Images are PNGs of 32 x 32 in shards of 500, in one folder with labels.csv, and as floats in an .npz and in a .pt of
torch.save (one tensor; a list of calls).
"""
import argparse
import io
import json
import pathlib
import statistics
import sys
import tarfile
import tempfile

import numpy as np
import torch
from PIL import Image
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from bench_pipeline import process  # noqa: E402

SIDE, SHARD, BATCH = 32, 500, 32
MEMORY_BOUND = 1.05  # of tar and folder


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU())
        self.fc = nn.Linear(32, 10)

    def forward(self, x):
        return self.fc(self.body(x).mean([2, 3]))


def pixels(number):
    rng = np.random.default_rng(number)
    return rng.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)


def png(number):
    out = io.BytesIO()
    Image.fromarray(pixels(number)).save(out, "PNG")
    return out.getvalue()


def write_tar(place, count):
    place.mkdir()
    for first in range(0, count, SHARD):
        with tarfile.open(place / f"train-{first // SHARD:04}.tar", "w") as tar:
            for number in range(first, min(first + SHARD, count)):
                for name, content in ((f"{number:06}.png", png(number)), (f"{number:06}.cls", str(number % 10).encode())):
                    info = tarfile.TarInfo(name)
                    info.size = len(content)
                    tar.addfile(info, io.BytesIO(content))
    return place


def write_folder(place, count):
    place.mkdir()
    for number in range(count):
        (place / f"{number:06}.png").write_bytes(png(number))
    (place / "labels.csv").write_text("".join(f"{number:06}.png,{number % 10}\n" for number in range(count)))
    return place


def floats(count):
    return np.stack([pixels(number) for number in range(count)]).transpose(0, 3, 1, 2).astype("f4") / np.float32(255)


def write_npz(place, count):
    np.savez(place.with_suffix(".npz"), x=floats(count), labels=np.arange(count) % 10)
    return place.with_suffix(".npz")


def write_pt(place, count):
    torch.save({"x": torch.from_numpy(floats(count)), "labels": torch.arange(count) % 10}, place.with_suffix(".pt"))
    return place.with_suffix(".pt")


def write_calls(place, count):
    torch.save([part.clone() for part in torch.from_numpy(floats(count)).split(BATCH)], place.with_suffix(".pt"))
    return place.with_suffix(".pt")


FORMS = {"tar": write_tar, "folder": write_folder, "npz": write_npz, "pt": write_pt, "calls": write_calls}


def written(form, count, files):
    """The data of a form with so many samples, made once for a folder."""
    known = files / f"{form}-{count}.json"
    if not known.exists():
        known.write_text(json.dumps(str(FORMS[form](files / f"{form}-{count}", count))))
    return json.loads(known.read_text())


def exported(files):
    path = files / "net.pt2"
    if not path.exists():
        torch.manual_seed(0)
        shapes = ({0: torch.export.Dim("batch", min=1, max=1024)},)
        torch.export.save(torch.export.export(Net().eval(), (torch.randn(2, 3, SIDE, SIDE),), dynamic_shapes=shapes), path)
    return path


def measured(program, model, recipe, data, count):
    with tempfile.TemporaryDirectory() as out:
        run = process([program, "quantize", str(model), "--recipe", str(recipe), "--data", data, "--device", "cpu", "--export", "none", "--out", out])
        assert run["ok"], run["error"]
        document = json.loads((pathlib.Path(out) / "result.json").read_text())
    assert document["data"]["calibration_samples"] == count, document["data"]
    return {"mb": document["peak_rss_bytes"] / 2**20, "wall": run["wall"], "cpu": run["cpu"], "stages": document["timing_s"]}


def bench(options, form, files, model, recipe):
    counts = (options.small, options.large)
    data = [written(form, count, files) for count in counts]
    runs = {count: [] for count in counts}
    for _ in range(options.rounds):
        for count, place in zip(counts, data):
            runs[count].append(measured(options.program, model, recipe, place, count))
    mb = [statistics.median(run["mb"] for run in runs[count]) for count in counts]
    each = {kind: [1000 * statistics.median(run[kind] for run in runs[count]) / count for count in counts] for kind in ("wall", "cpu")}
    ratio = mb[1] / mb[0]
    is_above = form in ("tar", "folder") and ratio > MEMORY_BOUND
    print(f"{form}: peak {mb[0]:.1f} MiB with {counts[0]}, {mb[1]:.1f} MiB with {counts[1]}, ratio {ratio:.3f}"
          f"{f': above {MEMORY_BOUND}' if is_above else ''}; ms an image by the clock {each['wall'][0]:.2f}, {each['wall'][1]:.2f}, ratio "
          f"{each['wall'][1] / each['wall'][0]:.2f}; of the processor {each['cpu'][0]:.2f}, {each['cpu'][1]:.2f}, ratio {each['cpu'][1] / each['cpu'][0]:.2f}", flush=True)
    return is_above


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--small", type=int, default=1000)
    parser.add_argument("--large", type=int, default=10000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--files", default=str(pathlib.Path(tempfile.gettempdir()) / "quantscope-large-data"))
    options = parser.parse_args()
    files = pathlib.Path(options.files)
    files.mkdir(parents=True, exist_ok=True)
    recipe = files / "recipe.json"
    recipe.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86",
                                  "calibration": {"batch_size": BATCH, "batches": 0, "preprocess": {"resize": [SIDE, SIDE]}}}))
    model = exported(files)
    above = [form for form in options.forms.split(",") if bench(options, form, files, model, recipe)]
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
