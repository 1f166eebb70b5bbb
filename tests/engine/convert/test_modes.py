# SPDX-License-Identifier: Apache-2.0
"""Dynamic, weight-only and half-precision quantization against torch.ao: the observers, both converted forms, the kernels.

test_modes.py CONVERT_DUMP [NAME ...]
"""
import pathlib
import sys
import tempfile

import torch
from torch import nn
from torch.ao import quantization as tq
from torch.ao.quantization import QConfigMapping
from torch.ao.quantization.backend_config import BackendConfig, BackendPatternConfig, DTypeConfig, ObservationType
from torch.nn import functional as F

import conversion
from conversion import Network


class One(nn.Module):
    """A network that is one module."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)


class Two(One):
    """The same with a second input."""

    def forward(self, x, y):
        return self.inner(x, y)


class Function(nn.Module):
    """linear and relu as functions."""

    def __init__(self, relu):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(6, 8) * 0.3), nn.Parameter(torch.randn(6) * 0.1)
        self.relu = relu

    def forward(self, x):
        x = F.linear(x, self.weight, self.bias)
        return F.relu(x) if self.relu else x


class Steps(nn.Module):
    """A cell that feeds itself."""

    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, x):
        state = self.cell(x[0])
        for i in range(1, 4):
            state = self.cell(x[i], state)
        return state


class Mixed(nn.Module):
    """All modes in one network."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(20, 16)
        self.conv = nn.Conv1d(16, 12, 3, padding=1)
        self.relu = nn.ReLU()
        self.gru = nn.GRU(12, 10, batch_first=True)
        self.middle = nn.Linear(10, 9)
        self.last = nn.Linear(9, 4)

    def forward(self, words):
        x = self.relu(self.conv(self.table(words).transpose(1, 2))).transpose(1, 2)
        x, _ = self.gru(x)
        return self.last(self.middle(x[:, -1]))


def mapping(qconfig):
    return QConfigMapping().set_global(qconfig)


def preset(name, backend="x86"):
    qconfig = {"default_dynamic": tq.default_dynamic_qconfig, "per_channel_dynamic": tq.per_channel_dynamic_qconfig,
               "float16_dynamic": tq.float16_dynamic_qconfig, "float16_static": tq.float16_static_qconfig,
               "float_qparams_weight_only": tq.float_qparams_weight_only_qconfig,
               "float_qparams_weight_only_4bit": tq.float_qparams_weight_only_qconfig_4bit}[name]
    return mapping(qconfig), {"backend": backend, "qconfigs": {}, "mapping": {"global": name}}


def network(name, model, inputs, qconfig, **more):
    torch_side, recipe = preset(qconfig, more.get("engine", "x86"))
    return Network(name, model.eval(), inputs, torch_side, recipe, **more)


def linears():
    x = (torch.randn(16, 8),)
    chain = lambda: nn.Sequential(nn.Linear(8, 12), nn.ReLU(), nn.Linear(12, 5))  # noqa: E731
    int8 = ("quantized.linear_relu_dynamic.default", "quantized.linear_dynamic.default")
    half = ("quantized.linear_relu_dynamic_fp16.default", "quantized.linear_dynamic_fp16.default")
    gone = ("quantized_decomposed.choose_qparams.tensor", "aten.linear.default", "aten.relu.default")
    yield network("linear_dynamic", chain(), x, "default_dynamic", lowered_ops=int8, no_ops=gone)
    yield network("linear_per_channel_dynamic", chain(), x, "per_channel_dynamic", lowered_ops=int8, no_ops=gone)
    yield network("linear_float16_dynamic", chain(), x, "float16_dynamic", lowered_ops=half, no_ops=gone)
    # onednn's kernels get the full range here, as the reference form has it, and the check decides; torch.ao halves it.
    yield network("linear_dynamic_onednn", chain(), x, "default_dynamic", engine="onednn", against_float=True)
    yield network("linear_dynamic_qnnpack", chain(), x, "default_dynamic", lowered_ops=int8, engine="qnnpack")
    yield network("linear_without_bias", nn.Sequential(nn.Linear(8, 4, bias=False)), x, "default_dynamic", lowered_ops=int8[1:])
    for relu in (False, True):
        for qconfig, ops in (("default_dynamic", int8), ("float16_dynamic", half)):
            yield network(f"function_{'relu_' * relu}{qconfig}", Function(relu), x, qconfig, lowered_ops=(ops[0 if relu else 1],))
    yield network("three_dimensions", nn.Sequential(nn.Linear(8, 5)), (torch.randn(2, 7, 8),), "default_dynamic", lowered_ops=int8[1:])


def recurrent():
    x = torch.randn(5, 3, 8)
    for qconfig in ("default_dynamic", "per_channel_dynamic", "float16_dynamic"):
        short = qconfig.removeprefix("default_")
        yield network(f"gru_{short}", One(nn.GRU(8, 6)), (x,), qconfig, lowered_ops=("aten.quantized_gru.input",))
        yield network(f"lstm_{short}", One(nn.LSTM(8, 6, 2, bidirectional=True, batch_first=True)), (x,), qconfig,
                      lowered_ops=("aten.quantized_lstm.input",))
        for name, cell in (("lstm", nn.LSTMCell(8, 6)), ("gru", nn.GRUCell(8, 6)), ("rnn_tanh", nn.RNNCell(8, 6)),
                           ("rnn_relu", nn.RNNCell(8, 6, nonlinearity="relu"))):
            yield network(f"{name}_cell_{short}", One(cell), (x[0],), qconfig,
                          lowered_ops=(f"quantized.quantized_{name}_cell_dynamic.default",))
    yield network("gru_with_state", Two(nn.GRU(8, 6)), (x, torch.randn(1, 3, 6)), "default_dynamic",
                  lowered_ops=("aten.quantized_gru.input",))
    yield network("lstm_onednn", One(nn.LSTM(8, 6)), (x,), "default_dynamic", engine="onednn", against_float=True)
    yield network("lstm_cell_loop", Steps(nn.LSTMCell(8, 6)), (x,), "default_dynamic")
    # No backend of torch.ao has an entry for it: it stays float, on both sides.
    yield network("rnn_stays_float", One(nn.RNN(8, 6)), (x,), "default_dynamic", lowered_ops=("aten.rnn_tanh.input",))


def weight_only():
    words, flat_words, starts = torch.randint(0, 30, (4, 5)), torch.randint(0, 30, (12,)), torch.tensor([0, 4, 9])
    for bits, qconfig in (("byte", "float_qparams_weight_only"), ("4bit", "float_qparams_weight_only_4bit")):
        bag = (f"quantized.embedding_bag_{bits}.default",)
        yield network(f"embedding_{bits}", One(nn.Embedding(30, 16)), (words,), qconfig,
                      lowered_ops=(f"quantized.embedding_{bits}.default",), no_ops=("aten.embedding.default",))
        yield network(f"bag_{bits}", Two(nn.EmbeddingBag(30, 16, mode="sum")), (flat_words, starts), qconfig, lowered_ops=bag)
        yield network(f"bag_rows_{bits}", One(nn.EmbeddingBag(30, 16, mode="sum")), (words,), qconfig, lowered_ops=bag)
        yield network(f"bag_last_offset_{bits}", Two(nn.EmbeddingBag(30, 16, mode="sum", include_last_offset=True)),
                      (flat_words, torch.tensor([0, 4, 12])), qconfig, lowered_ops=bag)
    # torch.ao sums whatever the mode: here the mean stays in reference form.
    yield network("bag_mean", One(nn.EmbeddingBag(30, 16, mode="mean")), (words,), "float_qparams_weight_only",
                  kept='only knows mode "sum"')


def half_backend():
    """A backend with static float16 and weight-only int8 linear layers, which none of torch.ao's own has."""
    half = DTypeConfig(input_dtype=torch.float16, output_dtype=torch.float16, weight_dtype=torch.float16, bias_dtype=torch.float16)
    plain = DTypeConfig(input_dtype=torch.float16, output_dtype=torch.float16)
    weights = DTypeConfig(input_dtype=torch.float, output_dtype=torch.float, weight_dtype=torch.qint8, bias_dtype=torch.float)
    different = ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT
    linear = (BackendPatternConfig(nn.Linear).set_observation_type(different).set_dtype_configs([half, weights])
              .set_root_module(nn.Linear).set_reference_quantized_module(torch.ao.nn.quantized.reference.Linear))
    sigmoid = BackendPatternConfig(nn.Sigmoid).set_observation_type(different).add_dtype_config(plain)
    return BackendConfig("half").set_backend_pattern_configs([linear, sigmoid])


def own_backend(folder):
    import json

    import recipes

    path = folder / "half_backend.json"
    path.write_text(json.dumps(recipes.backend_document(half_backend())))
    x = (torch.randn(16, 8),)
    chain = nn.Sequential(nn.Linear(8, 6), nn.Sigmoid(), nn.Linear(6, 3)).eval()
    torch_side, recipe = preset("float16_static", str(path))
    yield Network("float16_static", chain, x, torch_side, recipe, half_backend())
    qconfig = tq.QConfig(activation=tq.PlaceholderObserver.with_args(dtype=torch.float), weight=tq.default_per_channel_weight_observer)
    own = {"activation": {"observer": "placeholder", "dtype": "float32"},
           "weight": {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric"}}
    yield Network("linear_weight_only", chain, x, mapping(qconfig),
                  {"backend": str(path), "qconfigs": {"own": own}, "mapping": {"global": "own"}}, half_backend())


def mixed():
    rules = [(nn.Embedding, tq.float_qparams_weight_only_qconfig, "float_qparams_weight_only"),
             (nn.Conv1d, None, "minmax"), (nn.ReLU, None, "minmax"), (nn.GRU, tq.default_dynamic_qconfig, "default_dynamic")]
    static = tq.QConfig(activation=tq.MinMaxObserver.with_args(reduce_range=True), weight=tq.default_weight_observer)
    torch_side = QConfigMapping()
    for kind, qconfig, _ in rules:
        torch_side.set_object_type(kind, qconfig or static)
    torch_side.set_module_name("middle", tq.float16_dynamic_qconfig).set_module_name("last", tq.default_dynamic_qconfig)
    own = {"activation": {"observer": "minmax", "dtype": "quint8", "qscheme": "per_tensor_affine", "reduce_range": True},
           "weight": {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"}}
    recipe = {"backend": "x86", "qconfigs": {"minmax": own},
              "mapping": {"global": None, "object_type": [[f"torch.nn.{kind.__name__}", name] for kind, _, name in rules],
                          "module_name": [["middle", "float16_dynamic"], ["last", "default_dynamic"]]}}
    yield Network("all_modes", Mixed().eval(), (torch.randint(0, 20, (3, 7)),), torch_side, recipe, lowered_ops=(
        "quantized.embedding_byte.default", "quantized.conv1d_relu.default", "aten.quantized_gru.input",
        "quantized.linear_dynamic_fp16.default", "quantized.linear_dynamic.default"))


def main():
    torch.manual_seed(17)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        networks = [*linears(), *recurrent(), *weight_only(), *own_backend(folder), *mixed()]
        networks = [one for one in networks if not sys.argv[2:] or one.name in sys.argv[2:]]
        sys.exit(1 if conversion.run(sys.argv[1], networks, folder) else 0)


if __name__ == "__main__":
    main()
