# SPDX-License-Identifier: Apache-2.0
"""Real networks by three ranks: observers, scales and errors are those of one process, to the bit.

    python test_ranks.py [--all | NAME ...]      names as in families.py
"""
import json
import pathlib
import sys
import tempfile

import families
import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from ranks import alone, free_port, lasting, start  # noqa: E402
from test_models import ASKED, QUICK  # noqa: E402

RANKS, SAMPLES, BATCH = 3, 10, 2


def data_of(example):
    """More samples like the example, of different size, so that ranges grow."""
    generator = torch.Generator().manual_seed(4)
    scale = torch.linspace(0.5, 2, SAMPLES).reshape(-1, *[1] * (example.dim() - 1))
    return torch.randn(SAMPLES, *example.shape[1:], generator=generator) * scale


def check(name, folder):
    model, example = families.make(name)
    batch = torch.export.Dim("batch", min=2, max=64)
    example = torch.cat([example, example])[:2]
    try:
        program = torch.export.export(model, (example,), dynamic_shapes=({0: batch},))
    except Exception:  # PyTorch fixes the batch of some networks itself
        program = torch.export.export(model, (example,))
    torch.export.save(program, folder / "model.pt2")
    np.savez(folder / "data.npz", x=data_of(example).numpy())
    (folder / "recipe.json").write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86", "mapping": {"global": "x86"},
                                                    "calibration": {"batch_size": BATCH, "batches": 0}}))
    words = ("quantize", folder / "model.pt2", "--recipe", folder / "recipe.json", "--data", folder / "data.npz", "--device", "cpu", "--export",
             "none", "--out")
    alone(*words, folder / "one")
    port = free_port()
    ranks = [start(rank, RANKS, port, *words, folder / "many") for rank in range(RANKS)]
    for rank in ranks:
        _, err = rank.communicate(timeout=600)
        assert rank.returncode == 0, err
    wanted, got = (json.loads((folder / place / "result.json").read_text()) for place in ("one", "many"))
    assert lasting(got) == lasting(wanted), name
    assert (folder / "one" / "observations.npz").read_bytes() == (folder / "many" / "observations.npz").read_bytes(), name
    return len(wanted["nodes"])


def main():
    names = ASKED if "--all" in sys.argv else [word for word in sys.argv[1:] if not word.startswith("-")] or QUICK
    failed = []
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            try:
                print(f"PASS   {name}: {check(name, pathlib.Path(folder))} nodes, {RANKS} ranks equal one process", flush=True)
            except AssertionError as error:
                failed.append(name)
                print(f"FAIL!  {name}: {str(error)[-400:]}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
