# SPDX-License-Identifier: Apache-2.0
"""The models of the acceptance scenarios, each as its scenario describes it."""

import numpy
import torch
from torch import nn


class TwoStates(nn.Module):
    """The two states of an LSTM, read apart; without states where none are given."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 8, 2)
        self.first, self.second = nn.Linear(8, 3), nn.Linear(8, 3)

    def forward(self, x, h=None, c=None):
        o = self.lstm(x, (h, c)) if h is not None else self.lstm(x)
        return self.first(o[1][0]), self.second(o[1][1])


class Leaves(nn.Module):
    """torch.ao's test_static_lstm: one linear on each leaf."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(50, 50, 1)
        self.output, self.hidden, self.cell = nn.Linear(50, 10), nn.Linear(50, 10), nn.Linear(50, 10)

    def forward(self, x, h, c):
        out, (hidden, cell) = self.lstm(x, (h, c))
        return self.output(out), self.hidden(hidden), self.cell(cell)


class Idle(nn.Module):
    """The second layer's input has no elements in the data: its observers see nothing."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x, rest):
        return self.first(x) + self.second(rest).sum(1)


class Tutorial(nn.Module):
    """The network of PyTorch's BackendConfig tutorial."""

    def __init__(self, use_bn):
        super().__init__()
        self.linear, self.conv = nn.Linear(10, 3), nn.Conv2d(3, 3, 3)
        self.bn = nn.BatchNorm2d(3) if use_bn else nn.Identity()
        self.relu, self.sigmoid = nn.ReLU(), nn.Sigmoid()

    def forward(self, x):
        return self.sigmoid(self.relu(self.bn(self.conv(self.linear(x)))))


class Spelled(nn.Module):
    """Convolutions whose ReLU is written as torch.relu, which x86 has no pattern of."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3)

    def forward(self, x):
        return torch.relu(self.second(torch.relu(self.first(x)))).mean((2, 3))


class Joined(nn.Module):
    """Two convolutions joined by cat, then pooled: one observer for all of it."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.pool = nn.Conv2d(3, 4, 1), nn.Conv2d(3, 4, 1), nn.AvgPool2d(2)

    def forward(self, x):
        return self.pool(torch.cat((self.a(x), self.b(x)), 1))


class Branching(nn.Module):
    """A part that goes on as its data decide, between parts that do not."""

    class Deciding(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.other = nn.Linear(8, 8), nn.Linear(8, 8)

        def forward(self, x):
            if x.sum() > 0:
                return self.inner(x)
            return self.other(x)

    def __init__(self):
        super().__init__()
        self.before, self.part, self.after = nn.Linear(8, 8), Branching.Deciding(), nn.Linear(8, 4)

    def forward(self, x):
        return self.after(self.part(self.before(x)))


def branching():
    """For the export helper."""
    return Branching().eval(), (torch.randn(2, 8),)


class Detector(nn.Module):
    """RetinaNet's shape of code: a method after the heads, with a function of its own and modules in it."""

    def __init__(self):
        super().__init__()
        self.backbone, self.relu = nn.Conv2d(3, 8, 3, padding=1), nn.ReLU()
        self.box, self.score = nn.Conv2d(8, 8, 1), nn.Conv2d(8, 4, 1)
        self.refine = nn.Linear(4, 4)

    def rearrange_head_out(self, head, width):
        return head.permute(0, 2, 3, 1).reshape(head.shape[0], -1, width)

    def _post_process(self, box, score):
        boxes = self.refine(self.rearrange_head_out(box, 4))
        scores = self.rearrange_head_out(score, 2)
        if self.training:
            return boxes, scores
        return torch.cat((boxes, scores.softmax(-1)), -1)

    def forward(self, x):
        x = self.relu(self.backbone(x))
        return self._post_process(self.box(x), self.score(x))


ACT7 = {"activation": {"observer": "minmax", "dtype": "quint8", "qscheme": "per_tensor_affine", "quant_min": 0, "quant_max": 127,
                       "eps": 2 ** -12},
        "weight": {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"}}
TYPES = {"global": None, "object_type": [[f"torch.nn.{name}", "act7"] for name in ("Linear", "Conv2d", "BatchNorm2d", "ReLU")]}


def my_backend(**weight_bounds):
    """The tutorial's backend: linear and conv-relu in int8, with a smallest scale of 2^-12."""
    activation = {"dtype": "quint8", "quant_min_lower_bound": 0, "quant_max_upper_bound": 255, "scale_min_lower_bound": 2 ** -12}
    weight = {"dtype": "qint8", **weight_bounds} if weight_bounds else "qint8"
    dtypes = [{"input_dtype": activation, "output_dtype": activation, "weight_dtype": weight, "bias_dtype": "float32"}]
    observed = {"observation_type": "output_use_different_observer_as_input", "dtype_configs": dtypes}
    intrinsic = "torch.ao.nn.intrinsic"
    return {"format": "quantscope.backend", "version": 1, "name": "my_backend", "patterns": [
        {"pattern": ["torch.nn.Linear"], **observed, "root_module": "torch.nn.Linear", "qat_module": "torch.ao.nn.qat.Linear",
         "reference_quantized_module": "torch.ao.nn.quantized.reference.Linear"},
        {"pattern": ["torch.nn.Conv2d", "torch.nn.ReLU"], "fused_module": f"{intrinsic}.ConvReLU2d", "fuser_method": "fuse_conv2d_relu"},
        {"pattern": [f"{intrinsic}.ConvReLU2d"], **observed, "root_module": "torch.nn.Conv2d", "qat_module": f"{intrinsic}.qat.ConvReLU2d",
         "reference_quantized_module": "torch.ao.nn.quantized.reference.Conv2d"}]}


def saved(folder, model, *example, data=None, train=False):
    """(path of the exported model, path of calls to calibrate on)."""
    from harness import export_model

    path, calls = folder / "model.pt2", folder / "data.pt"
    export_model(model, example, path, dynamic=False, train=train)
    torch.save(data or [tuple(torch.randn_like(x) for x in example) for _ in range(4)], calls)
    return path, calls


def outputs(npz):
    arrays = numpy.load(npz)
    return [torch.from_numpy(arrays[name]) for name in arrays.files]


def sparse_with_linear(library, folder):
    """Writes model.pt2, the network of the pack sparse_conv with a linear layer on its flattened result, and its calls data.pt."""
    import sys
    from harness import SOURCE

    torch.ops.load_library(str(library))
    sys.path.append(str(SOURCE / "resources" / "extensions" / "sparse_conv"))
    import sparse_conv

    class Headed(nn.Module):
        def __init__(self):
            super().__init__()
            self.sparse, self.linear = sparse_conv.SparseNet().net, nn.Linear(10, 10)

        def forward(self, features, indices):
            x = self.sparse(sparse_conv.SparseConvTensor(features, indices, (8, 8), sparse_conv.IMAGES))
            return torch.log_softmax(self.linear(torch.flatten(x.dense(), 1)), 1)

    images = torch.from_numpy(numpy.load(SOURCE / "resources" / "samples" / "test.npz")["image"])
    torch.manual_seed(5)
    calls, sites = sparse_conv.calls(images[:96]), torch.export.Dim("sites", min=2, max=2048)
    torch.export.save(torch.export.export(Headed().eval(), calls[0], dynamic_shapes=({0: sites}, {0: sites}), strict=True), folder / "model.pt2")
    torch.save(calls, folder / "data.pt")
    return folder / "model.pt2", folder / "data.pt"
