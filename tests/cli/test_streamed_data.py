# SPDX-License-Identifier: Apache-2.0
"""Data files larger than what may stand in memory: read batch by batch, whatever holds them."""

import io
import tarfile

import numpy as np
import torch
from harness import export_model, main, run_good, run_json, write_recipe
from torch import nn

SIDE, SAMPLES, FEW = 512, 100, 8  # 3 MB a sample, 300 MB in all
MOST_MORE = 50e6


class Small(nn.Module):
    """Next to no work for a large input."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, stride=16)

    def forward(self, x):
        return torch.relu(self.conv(x))


def images(samples):
    """Mostly zeros, so that they can be deflated in no time; each sample has a value of its own."""
    x = np.zeros((samples, 3, SIDE, SIDE), "f4")
    x[:, :, ::16, ::16] = np.linspace(0, 1, samples, dtype="f4")[:, None, None, None]
    return x


def write_shard(path, x):
    with tarfile.open(path, "w") as tar:
        for number, sample in enumerate(x):
            content = io.BytesIO()
            np.save(content, sample)
            info = tarfile.TarInfo(f"{number:04}.npy")
            info.size = content.tell()
            content.seek(0)
            tar.addfile(info, content)


WRITERS = {
    "stored.npz": lambda path, x: np.savez(path, x=x),
    "deflated.npz": lambda path, x: np.savez_compressed(path, x=x),
    "tensor.pt": lambda path, x: torch.save(torch.from_numpy(x), path),
    "calls.pt": lambda path, x: torch.save([t.clone() for t in torch.from_numpy(x).split(4)], path),
    "shard.tar": write_shard,
}


def test_memory_does_not_grow_with_the_file(folder):
    torch.manual_seed(3)
    model = folder / "small.pt2"
    export_model(Small(), (torch.zeros(2, 3, SIDE, SIDE),), model)
    recipe = write_recipe(folder, calibration={"batch_size": 4, "batches": 0})
    x = images(SAMPLES)
    for name, write in WRITERS.items():
        peaks = []
        for samples in (FEW, SAMPLES):
            write(folder / name, x[:samples])
            result = run_json("quantize", model, "--recipe", recipe, "--data", folder / name, "--out", folder / "out")
            peaks.append(result["peak_rss_bytes"])
            seen = next(node for node in result["nodes"] if node["name"] == "x")["output"]["max"][0]
            assert abs(seen - x[:samples].max()) < 1e-6, f"{name}: the last sample was not read: {seen}"
        (folder / name).unlink()
        print(f"{name}: peak {peaks[0] / 1e6:.0f} MB with {FEW} samples, {peaks[1] / 1e6:.0f} MB with {SAMPLES}")
        assert peaks[1] - peaks[0] < MOST_MORE, f"{name}: {peaks}"


def test_every_file_gives_the_same_result(folder):
    """Stored, deflated, column by column, saved tensors with other strides: one and the same quantization."""
    torch.manual_seed(4)
    model = folder / "small.pt2"
    export_model(Small(), (torch.zeros(2, 3, 64, 64),), model)
    x = torch.randn(20, 3, 64, 64)
    np.savez(folder / "a.npz", x=x.numpy())
    np.savez_compressed(folder / "b.npz", x=x.numpy())
    np.savez(folder / "c.npz", x=np.asfortranarray(x.numpy()))
    torch.save(x, folder / "d.pt")
    torch.save(x.contiguous(memory_format=torch.channels_last), folder / "e.pt")
    torch.save({"x": x.requires_grad_()}, folder / "f.pt")
    torch.save(list(x.detach().split(8)), folder / "g.pt")
    write_shard(folder / "h.tar", x.detach().numpy())
    results = []
    for name in ("a.npz", "b.npz", "c.npz", "d.pt", "e.pt", "f.pt", "g.pt", "h.tar"):
        run_good("quantize", model, "--data", folder / name, "--out", folder / "out")
        results.append((folder / "out" / "observations.npz").read_bytes())
        assert results[-1] == results[0], f"{name} is read otherwise"


if __name__ == "__main__":
    main(__name__)
