# SPDX-License-Identifier: Apache-2.0
"""A batch norm is folded into the layer before it only where both have their channels along one axis (pytorch/ao#4116): the fused
float model must be the float model. torch.ao folds by the number of channels alone."""
import torch
from harness import ALL, by_name, export_model, main, run_json, sqnr
from torch import nn


def filled(model):
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.running_mean.normal_(0, .3)
            module.running_var.uniform_(.4, 2)
            module.weight.data.uniform_(.5, 1.5)
            module.bias.data.normal_(0, .2)
    return model.eval()


def models():
    """(name, model, input, whether the norm may be folded)"""
    line = lambda *size: torch.randn(*size)
    yield "linear 3-D", nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 4)), line(8, 5, 3), False
    yield "conv1d of one image", nn.Sequential(nn.Conv1d(4, 8, 3, padding=1), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2)), line(4, 8), False
    yield "linear 2-D", nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.Linear(5, 4)), line(8, 3), True
    yield "conv1d", nn.Sequential(nn.Conv1d(4, 8, 3), nn.BatchNorm1d(8), nn.ReLU(), nn.Conv1d(8, 4, 1)), line(8, 4, 12), True
    yield "transposed of one image", nn.Sequential(nn.ConvTranspose1d(4, 8, 3, padding=1), nn.BatchNorm1d(8), nn.Linear(8, 2)), line(4, 8), False
    yield "linear 3-D without relu", nn.Sequential(nn.Linear(6, 6), nn.BatchNorm1d(6), nn.Linear(6, 4)), line(8, 6, 6), False
    yield "transposed", nn.Sequential(nn.ConvTranspose1d(4, 8, 3), nn.BatchNorm1d(8), nn.Conv1d(8, 4, 1)), line(8, 4, 12), True
    yield "conv2d", nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 2, 1)), line(8, 3, 9, 9), True
    yield "conv3d", nn.Sequential(nn.Conv3d(3, 4, 3), nn.BatchNorm3d(4), nn.Conv3d(4, 2, 1)), line(4, 3, 6, 6, 6), True


def test_folded_where_the_axes_are_one(folder):
    torch.manual_seed(13)
    for name, model, value, folds in list(models())[: None if ALL else 4]:
        model = filled(model)
        for form in ("pt2", "pt") if ALL or name == "linear 3-D" else ("pt2",):
            file = folder / f"m.{form}"
            if form == "pt2":
                export_model(model, (value,), file, dynamic=False)
            else:
                torch.jit.trace(model, value).save(str(file))
            torch.save([value], folder / "d.pt")
            result = run_json("quantize", file, "--data", folder / "d.pt", "--device", "cpu", "--out", folder / "q")
            norm = next(node for node in result["nodes"] if "batch_norm" in node["op"])
            assert (len(norm["pattern"] or []) > 1) == folds, (name, form, norm["pattern"])
            db = result["outputs"][0]["cumulative"]["sqnr_db"]
            assert db > 28, (name, form, db)
            signal = model(value).detach()
            assert abs(sqnr(signal, torch.jit.load(str(folder / "q" / "model.int8.ts.pt"))(value)) - result["outputs"][0]["lowered"]["sqnr_db"]) < 0.1
            if folds:
                continue
            nodes = by_name(run_json("plan", folder / "m.pt2"))
            layer = next(node for node in nodes.values() if node["module"] == "0")
            for node in (nodes["batch_norm"], layer):
                assert "not fused" in node["suggestion"] and "along axis 1" in node["suggestion"], (name, node)


if __name__ == "__main__":
    main(__name__)
