# SPDX-License-Identifier: Apache-2.0
"""Files that are not a model: the error names the kind and how to get a model from it, wherever the file is given."""

import json
import pickle
import struct
import zipfile

import numpy as np
import torch
from harness import expect_bad, export_model, main
from models import residual
from torch import nn

EXPORT = "torch.export"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)


def with_class(module, name):
    """An object whose class says that it is of that module, as a pickle of it does."""
    made = type(name, (nn.Linear,), {"__module__": module, "__qualname__": name})
    return made


def saved_as(folder, file, module, name, wrap):
    """torch.save of an object of a class that can be imported while it is saved, but not afterwards."""
    import sys
    import types

    kind = with_class(module, name)
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        sys.modules.setdefault(".".join(parts[:end]), types.ModuleType(".".join(parts[:end])))
    setattr(sys.modules[module], name, kind)
    torch.save(wrap(kind(4, 2)), folder / file)


def safetensors(path):
    header = json.dumps({"fc.weight": {"dtype": "F32", "shape": [2, 4], "data_offsets": [0, 32]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(32))


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, content):
    return bytes([number << 3 | 2]) + varint(len(content)) + content


def onnx_file(path):
    import onnx
    from onnx import TensorProto, helper

    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])])
    onnx.save(helper.make_model(graph, producer_name="pytorch"), path)


def make_files(folder):
    """{name: words that the one line must hold}"""
    onnx_file(folder / "a.onnx")
    onnx_file(folder / "model")  # recognised by content
    safetensors(folder / "a.safetensors")
    safetensors(folder / "weights.bin")
    (folder / "a.tflite").write_bytes(b"\x1c\0\0\0TFL3" + bytes(64))
    (folder / "lite.dat").write_bytes(b"\x1c\0\0\0TFL3" + bytes(64))
    (folder / "a.pte").write_bytes(b"\x1c\0\0\0ET12eh00" + bytes(64))
    description = field(1, field(1, b"image") + field(2, b"an image"))
    (folder / "a.mlmodel").write_bytes(b"\x08\x05" + field(2, description) + field(15, b"\x01\x02\x03\0" * 200))
    (folder / "core").write_bytes(b"\x08\x05" + field(2, description) + field(15, b"\x01\x02\x03\0" * 200))
    graph = b"\x08\x01" + field(2, field(1, b"\x1a\x05serve" + b"\0" * 30) + field(2, b"node\0" * 300))
    (folder / "saved_model.pb").write_bytes(graph)
    (folder / "graph.bin").write_bytes(graph)
    (folder / "tf").mkdir()
    (folder / "tf" / "saved_model.pb").write_bytes(graph)
    (folder / "a.mlpackage").mkdir()
    (folder / "a.mlpackage" / "Manifest.json").write_text("{}")
    (folder / "a.engine").write_bytes(b"ftrt\0\0\0\x01" + bytes(64))
    (folder / "built.bin").write_bytes(b"ftrt\0\0\0\x01" + bytes(64))
    (folder / "lfs.pt2").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n")
    (folder / "page.pt2").write_text("\n<!DOCTYPE html>\n<html><head><title>404</title></head></html>\n")
    np.save(folder / "a.npy", np.zeros((8, 4), np.float32))
    np.savez(folder / "a.npz", x=np.zeros((8, 4), np.float32))
    torch.manual_seed(0)
    model = Net()
    torch.save(model.state_dict(), folder / "state.pt")
    torch.save(model.state_dict(), folder / "old.pth", _use_new_zipfile_serialization=False)
    torch.save({"epoch": 3, "state_dict": model.state_dict(), "optimizer": torch.optim.Adam(model.parameters()).state_dict()}, folder / "last.ckpt")
    saved_as(folder, "module.pt", "shop.networks", "Shelf", lambda model: model)
    saved_as(folder, "yolov8n.pt", "ultralytics.nn.tasks", "DetectionModel", lambda model: {"epoch": -1, "model": model})
    saved_as(folder, "yolov5s.pt", "models.yolo", "Model", lambda model: {"model": model})
    saved_as(folder, "train.pt", "shop.networks", "Shelf", lambda model: {"epoch": 1, "model": model})
    torch.save([(torch.randn(8, 4),)], folder / "calls.pt")
    with zipfile.ZipFile(folder / "a.keras", "w") as file:
        for name in ("metadata.json", "config.json", "model.weights.h5"):
            file.writestr(name, "{}")
    (folder / "plain.pkl").write_bytes(pickle.dumps({"a": 1}))
    way = ("export the PyTorch model", EXPORT)
    weights = ("weights only", "load_state_dict", EXPORT)
    return {
        "a.onnx": ("ONNX", EXPORT), "model": ("ONNX", EXPORT), "a.safetensors": ("safetensors", *weights), "weights.bin": ("safetensors", *weights),
        "a.tflite": ("TensorFlow Lite", *way), "lite.dat": ("TensorFlow Lite", *way), "a.pte": ("ExecuTorch", ".pt2"),
        "a.mlmodel": ("Core ML", *way), "core": ("Core ML", *way), "a.mlpackage": ("Core ML", *way),
        "saved_model.pb": ("SavedModel", *way), "graph.bin": ("SavedModel", *way), "tf": ("SavedModel", *way),
        "a.engine": ("TensorRT", "--target tensorrt"), "built.bin": ("TensorRT", "--target tensorrt"),
        "lfs.pt2": ("Git LFS pointer", "git lfs pull"), "page.pt2": ("HTML page", "download"),
        "a.npy": ("NumPy array", "numpy.savez"), "a.npz": (".npz", "--data"), "a.keras": ("Keras", "PyTorch model"),
        "state.pt": ("state dict", *weights), "old.pth": ("state dict", *weights), "last.ckpt": ("checkpoint", '["state_dict"]', *weights),
        "module.pt": ("shop.networks.Shelf", "run code", EXPORT), "train.pt": ("shop.networks.Shelf", "checkpoint", EXPORT),
        "yolov8n.pt": ("YOLO", 'export(format="torchscript")'), "yolov5s.pt": ("YOLO", "torchscript"),
        "calls.pt": ("tensors", "--data"), "plain.pkl": ("pickle", EXPORT),
    }


def test_each_is_named_where_a_model_is_opened(folder):
    for name, words in make_files(folder).items():
        expect_bad("inspect", folder / name, contains=[folder / name, *words])


def test_a_text_is_no_model_of_its_name(folder):
    """Content decides, unless it is ambiguous."""
    (folder / "notes.onnx").write_text("remember the milk\n")
    expect_bad("inspect", folder / "notes.onnx", contains=["a text file"])
    export_model(Net().eval(), (torch.randn(2, 4),), folder / "net.pt2")
    (folder / "net.pt2").rename(folder / "net.tflite")
    from harness import run_good

    assert "linear" in run_good("inspect", folder / "net.tflite"), "a .pt2, whatever it is called"


def test_each_is_named_where_data_are_read(folder):
    files = make_files(folder)
    export_model(Net().eval(), (torch.randn(2, 4),), folder / "net.pt2")
    words = ("quantize", folder / "net.pt2", "--device", "cpu", "--out", folder / "out", "--data")
    expect_bad(*words, folder / "a.npy", contains=["a.npy", 'numpy.savez("data.npz", x=array)'], out=folder / "out")
    for name, told in {"lfs.npz": ("lfs.pt2", "git lfs pull"), "page.npz": ("page.pt2", "HTML page")}.items():
        (folder / name).write_bytes((folder / told[0]).read_bytes())
        expect_bad(*words, folder / name, contains=[name, told[1]], out=folder / "out")
    for name in ("a.onnx", "a.safetensors"):
        expect_bad(*words, folder / name, contains=[name, files[name][0], ".npz"], out=folder / "out")


def test_compare_names_what_it_cannot_compare_with(folder):
    make_files(folder)
    _, path, npz, _ = residual(folder)
    for name, word in {"a.onnx": "ONNX", "a.safetensors": "safetensors", "a.tflite": "TensorFlow Lite", "a.engine": "TensorRT"}.items():
        expect_bad("compare", path, "--result", folder / name, "--data", npz, contains=[name, word, "quantscope verify"])
    expect_bad("compare", path, "--result", folder / "lfs.pt2", "--data", npz, contains=["Git LFS pointer", "git lfs pull"])
    expect_bad("compare", path, "--result", folder / "state.pt", "--data", npz, contains=["weights only"])


if __name__ == "__main__":
    main(__name__)
