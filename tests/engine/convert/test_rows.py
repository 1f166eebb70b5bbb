# SPDX-License-Identifier: Apache-2.0
"""Every row of the lowering tables, in each spelling, against torch.ao: observers, reference form, lowered form.

test_rows.py CONVERT_DUMP [--backend qnnpack] [NAME ...]
With a backend, all rows run on that one, and only agreement is asked for, not which kernels stand there.
"""
import functools
import pathlib
import sys
import tempfile

import torch
from torch import nn
from torch.ao import quantization as tq
from torch.ao.quantization import QConfigMapping
from torch.nn import functional as F

import conversion
from conversion import Network

# Without VNNI, x86's convolutions saturate where an activation uses all eight bits, as fixed parameters do: the check
# keeps them in reference form. So it does with kernels that are wrong everywhere (prelu).
WRONG = "kernel check"
MINMAX = {"activation": {"observer": "minmax", "dtype": "quint8", "qscheme": "per_tensor_affine", "reduce_range": True},
          "weight": {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"}}


def fixed(scale, zero_point):
    return {"activation": {"observer": "fixed_qparams", "dtype": "quint8", "qscheme": "per_tensor_affine", "scale": scale,
                           "zero_point": zero_point, "quant_min": 0, "quant_max": 255}, "weight": MINMAX["weight"]}


class Net(nn.Module):
    """What is to be tested: a module, or a function of this module and its input; and what comes after it."""

    def __init__(self, body, tail=None, **parts):
        super().__init__()
        self.tail = tail
        for name, part in parts.items():
            setattr(self, name, part)
        self.body = body if isinstance(body, nn.Module) else None
        self.call = body

    def forward(self, x):
        x = self.body(x) if self.body is not None else self.call(self, x)
        return x if self.tail is None else self.tail(x)


def x86_mapping(qconfig):
    """The qconfig for all, with the fixed parameters that torch.ao's default mappings give."""
    mapping = QConfigMapping().set_global(qconfig)
    narrow = tq.QConfig(activation=tq.observer.default_fixed_qparams_range_0to1_observer, weight=tq.default_weight_observer)
    wide = tq.QConfig(activation=tq.observer.default_fixed_qparams_range_neg1to1_observer, weight=tq.default_weight_observer)
    rules = []
    for kind, name in ((nn.Sigmoid, "torch.nn.Sigmoid"), (torch.sigmoid, "torch.sigmoid"),
                       ("sigmoid", "sigmoid"), ("sigmoid_", "sigmoid_"), (nn.Hardsigmoid, "torch.nn.Hardsigmoid"),
                       (F.hardsigmoid, "torch.nn.functional.hardsigmoid"), (nn.Softmax, "torch.nn.Softmax")):
        mapping.set_object_type(kind, narrow)
        rules.append([name, "narrow"])
    for kind, name in ((nn.Tanh, "torch.nn.Tanh"), (torch.tanh, "torch.tanh"), ("tanh", "tanh"), ("tanh_", "tanh_")):
        mapping.set_object_type(kind, wide)
        rules.append([name, "wide"])
    return mapping, rules


FORCED = {"backend": None}


def network(name, model, inputs, backend="x86", own_rules=True, null=None, **more):
    if FORCED["backend"]:
        backend, more = FORCED["backend"], {"may_keep": WRONG, "against_float": more.get("against_float", False)}
    qconfig = tq.QConfig(activation=tq.MinMaxObserver.with_args(reduce_range=True), weight=tq.default_weight_observer)
    mapping, rules = x86_mapping(qconfig) if own_rules else (QConfigMapping().set_global(qconfig), [])
    if null:
        mapping.set_object_type(null, None)
        rules = rules + [[f"torch.nn.{null.__name__}", None]]
    recipe = {"backend": backend, "qconfigs": {"minmax": MINMAX, "narrow": fixed(1 / 256, 0), "wide": fixed(2 / 256, 128)},
              "mapping": {"global": "minmax", "object_type": rules}}
    kinds = tq.backend_config
    configs = {"x86": kinds.x86.get_x86_backend_config, "fbgemm": kinds.fbgemm.get_fbgemm_backend_config,
               "onednn": kinds.onednn.get_onednn_backend_config, "qnnpack": kinds.qnnpack.get_qnnpack_backend_config}
    return Network(name, model.eval(), inputs, mapping, recipe, configs[backend](), engine=backend, **more)


def conv(dims, a=4, b=6, **more):
    return getattr(nn, f"Conv{dims}d")(a, b, 3, padding=1, **more)


def image(dims, channels=4, batch=2):
    return (torch.randn(batch, channels, *([8] * dims if dims < 3 else [6, 6, 6])),)


def warm(model, inputs):
    """Batch norms with statistics of their own."""
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.uniform_(module.bias, -0.3, 0.3)
    model.train()
    for _ in range(4):
        model(*inputs)
    return model.eval()


def weighted():
    for d in (1, 2, 3):
        x = image(d)
        suffix = "" if d == 1 else ".new"
        yield network(f"conv{d}d", Net(conv(d)), x, lowered_ops=(f"quantized.conv{d}d{suffix or '.default'}",))
        yield network(f"conv{d}d_relu", Net(nn.Sequential(conv(d), nn.ReLU())), x,
                      lowered_ops=(f"quantized.conv{d}d_relu{suffix or '.default'}",))
        yield network(f"conv{d}d_relu_function", Net(lambda m, x: F.relu(m.c(x)), c=conv(d)), x)
        yield network(f"conv{d}d_relu_inplace", Net(nn.Sequential(conv(d), nn.ReLU(inplace=True))), x)
        bn = getattr(nn, f"BatchNorm{d}d")
        yield network(f"conv{d}d_bn_relu", warm(Net(nn.Sequential(conv(d), bn(6), nn.ReLU())), x), x)
        yield network(f"conv{d}d_bn", warm(Net(nn.Sequential(conv(d), bn(6))), x), x)
        transposed = getattr(nn, f"ConvTranspose{d}d")
        yield network(f"conv_transpose{d}d", Net(transposed(4, 6, 3, stride=2, padding=1, output_padding=1)), x)
        function = getattr(F, f"conv{d}d")
        back = getattr(F, f"conv_transpose{d}d")
        weight, bias = nn.Parameter(torch.randn(6, 4, *[3] * d) * 0.2), nn.Parameter(torch.randn(6) * 0.1)
        yield network(f"function_conv{d}d", Net(lambda m, x, f=function, n=d: f(x, m.w, m.b, [1] * n, [1] * n, [1] * n, 1), w=weight, b=bias), x)
        yield network(f"function_conv{d}d_relu", Net(lambda m, x, f=function, n=d: F.relu(f(x, m.w, m.b, [2] * n, [0] * n, [1] * n, 1)), w=weight, b=bias), x)
        turned = nn.Parameter(torch.randn(4, 6, *[3] * d) * 0.2)
        yield network(f"function_conv_transpose{d}d", Net(lambda m, x, f=back, n=d: f(x, m.w, m.b, [2] * n, [0] * n, [0] * n, 1, [1] * n), w=turned,
                                                            b=bias), x)
    yield network("conv2d_groups", Net(conv(2, 4, 8, groups=2)), image(2))
    yield network("conv2d_depthwise", Net(conv(2, 4, 4, groups=4, bias=False)), image(2))
    yield network("conv2d_same", Net(nn.Conv2d(4, 6, 3, padding="same", dilation=2)), image(2))
    yield network("bn_conv_transpose", warm(Net(nn.Sequential(nn.ConvTranspose2d(4, 6, 3), nn.BatchNorm2d(6))), image(2)), image(2))
    rows = (torch.randn(12, 8),)
    yield network("linear", Net(nn.Linear(8, 5)), rows, lowered_ops=("quantized.linear.default",))
    yield network("linear_relu", Net(nn.Sequential(nn.Linear(8, 5), nn.ReLU())), rows, lowered_ops=("quantized.linear_relu.default",))
    yield network("linear_three_dimensions", Net(nn.Linear(8, 5)), (torch.randn(2, 6, 8),))
    yield network("linear_bn", warm(Net(nn.Sequential(nn.Linear(8, 5), nn.BatchNorm1d(5))), rows), rows)
    matrix, bias = nn.Parameter(torch.randn(5, 8) * 0.3), nn.Parameter(torch.randn(5) * 0.1)
    yield network("function_linear", Net(lambda m, x: F.linear(x, m.w, m.b), w=matrix, b=bias), rows)
    yield network("function_linear_relu", Net(lambda m, x: F.relu(F.linear(x, m.w)), w=matrix), rows)
    yield network("linear_leaky_relu_onednn", Net(nn.Sequential(nn.Linear(8, 5), nn.LeakyReLU(0.1))), rows, "onednn",
                  lowered_ops=("quantized.linear_leaky_relu.default",))
    yield network("linear_tanh_onednn", Net(nn.Sequential(nn.Linear(8, 5), nn.Tanh())), rows, "onednn", own_rules=False,
                  lowered_ops=("quantized.linear_tanh.default",))
    yield network("linear_qnnpack", Net(nn.Linear(8, 5)), rows, "qnnpack", lowered_ops=("quantized.linear.default",))


def conv_add():
    x = image(2)
    two = {"a": conv(2, 4, 6), "b": conv(2, 4, 6)}
    ops = ("quantized.conv2d_add.default",)
    relu_ops = ("quantized.conv2d_add_relu.default",)
    yield network("conv_add_onednn", Net(lambda m, x: m.a(x) + F.max_pool2d(m.b(x), 3, 1, 1), **two), x, "onednn", lowered_ops=ops)
    yield network("conv_add_right_onednn", Net(lambda m, x: torch.add(F.max_pool2d(m.b(x), 3, 1, 1), m.a(x)), **two), x, "onednn", lowered_ops=ops)
    yield network("conv_add_relu_onednn", Net(lambda m, x: F.relu(m.a(x) + F.max_pool2d(m.b(x), 3, 1, 1)), **two), x, "onednn")
    yield network("conv_add_relu_module_onednn", Net(lambda m, x: m.relu(m.a(x) + F.max_pool2d(m.b(x), 3, 1, 1)), relu=nn.ReLU(), **two),
                  x, "onednn", lowered_ops=relu_ops)
    yield network("conv_conv_add_relu_onednn", Net(lambda m, x: m.relu(m.a(x) + m.b(x)), relu=nn.ReLU(), **two), x, "onednn", lowered_ops=relu_ops)
    bn = {"bn": nn.BatchNorm2d(6)}
    yield network("conv_bn_add_onednn", warm(Net(lambda m, x: m.bn(m.a(x)) + F.max_pool2d(m.b(x), 3, 1, 1), **two, **bn), x), x, "onednn",
                  lowered_ops=ops)
    yield network("conv_bn_add_relu_onednn", warm(Net(lambda m, x: m.relu(m.bn(m.a(x)) + F.max_pool2d(m.b(x), 3, 1, 1)), relu=nn.ReLU(),
                                                       **two, **bn), x), x, "onednn", lowered_ops=relu_ops)
    yield network("conv_add_two_readers_onednn", Net(lambda m, x: m.f(m.a(x), x), **two,
                                                      f=Twice()), x, "onednn")


class Twice(nn.Module):
    """The first value is read by the add and by another operator."""

    def forward(self, y, x):
        return (y + F.max_pool2d(y, 3, 1, 1)) * y


def binary():
    x = image(2)
    parts = {"a": conv(2), "b": conv(2)}
    spellings = {"operator": (lambda x, y: x + y, lambda x, y: x * y), "torch": (torch.add, torch.mul),
                 "method": (lambda x, y: x.add(y), lambda x, y: x.mul(y)),
                 "inplace": (lambda x, y: x.add_(y), lambda x, y: x.mul_(y))}
    for spelling, functions in spellings.items():
        for kind, function in zip(("add", "mul"), functions):
            if spelling in ("method", "inplace"):
                continue  # torch.ao knows no pattern for the method; an export cannot tell it from the operator
            yield network(f"{kind}_{spelling}", Net(lambda m, x, f=function: f(m.a(x), m.b(x)), **parts), x, lowered_ops=(f"quantized.{kind}.default",))
            yield network(f"{kind}_relu_{spelling}", Net(lambda m, x, f=function: F.relu(f(m.a(x), m.b(x))), **parts), x,
                          lowered_ops=(f"quantized.{kind}_relu.default",))
            yield network(f"{kind}_relu_module_{spelling}", Net(lambda m, x, f=function: m.r(f(m.a(x), m.b(x))), r=nn.ReLU(), **parts), x)
            yield network(f"{kind}_itself_{spelling}", Net(lambda m, x, f=function: f(m.y(x), m.y(x)), y=nn.Sequential(conv(2))), x)
    yield network("add_same_tensor", Net(lambda m, x: m.s(m.a(x)), s=Same(), **parts), x)
    for value in (0.5, 3, -2.0):
        # The kernel chooses a coarser grid than the result needs: where that costs the output more than 1 dB it is not used.
        yield network(f"add_number_{value}", Net(lambda m, x, v=value: m.a(x) + v, a=conv(2)), x, may_keep="kernel check: with quantized.add.Scalar")
        yield network(f"mul_number_{value}", Net(lambda m, x, v=value: m.a(x) * v, a=conv(2)), x)
    # The fixed parameters are the result's as well and cut it; the kernels, whose parameters are their own, do not.
    yield network("number_after_fixed", Net(lambda m, x: torch.sigmoid(m.a(x)) * 2.0 + 0.1, a=conv(2)), x,
                  lowered_ops=("quantized.mul.Scalar", "quantized.add.Scalar"))
    yield network("iadd", Net(lambda m, x: m.s(m.a(x), m.b(x)), s=InPlace(), **parts), x)
    rows = (torch.randn(6, 8),)
    pair = {"a": nn.Linear(8, 5), "b": nn.Linear(8, 5)}
    yield network("matmul", Net(lambda m, x: torch.matmul(m.a(x), m.b(x).transpose(0, 1)), **pair), rows, lowered_ops=("quantized.matmul.default",))
    yield network("matmul_operator", Net(lambda m, x: m.a(x) @ m.b(x).transpose(0, 1), **pair), rows)
    scale = nn.Parameter(torch.rand(6, 1, 1) + 0.5)
    yield network("layer_scale", Net(lambda m, x: m.scale * m.a(x), a=conv(2), scale=scale), x)
    yield network("layer_scale_right", Net(lambda m, x: m.a(x) * m.scale, a=conv(2), scale=scale), x)
    yield network("add_parameter", Net(lambda m, x: m.a(x) + m.scale, a=conv(2), scale=scale), x)


class Same(nn.Module):
    def forward(self, y):
        return y + y


class InPlace(nn.Module):
    def forward(self, y, z):
        y += z
        return y


def shared():
    x = image(2)
    parts = {"a": conv(2), "b": conv(2)}
    yield network("cat", Net(lambda m, x: torch.cat([m.a(x), m.b(x)], 1), **parts), x)
    yield network("cat_pool", Net(lambda m, x: F.avg_pool2d(torch.cat([m.a(x), m.b(x)], 1), 2), **parts), x)
    yield network("stack", Net(lambda m, x: torch.stack([m.a(x), m.b(x)], 1), **parts), x)
    for d in (1, 2, 3):
        for name, module, function in (
                ("avg_pool", f"AvgPool{d}d", lambda x, d=d: getattr(F, f"avg_pool{d}d")(x, 2)),
                ("max_pool", f"MaxPool{d}d", lambda x, d=d: getattr(F, f"max_pool{d}d")(x, 2)),
                ("adaptive_avg_pool", f"AdaptiveAvgPool{d}d", lambda x, d=d: getattr(F, f"adaptive_avg_pool{d}d")(x, 2))):
            yield network(f"{name}{d}d", Net(nn.Sequential(conv(d), getattr(nn, module)(2), conv(d, 6, 4))), image(d))
            yield network(f"{name}{d}d_function", Net(lambda m, x, f=function: f(m.a(x)), a=conv(d), tail=conv(d, 6, 4)), image(d))
    keeps = {
        "interpolate_nearest": lambda x: F.interpolate(x, scale_factor=2, mode="nearest"),
        "interpolate_bilinear": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False),
        "interpolate_size": lambda x: F.interpolate(x, size=(5, 5)),
        "flatten": lambda x: torch.flatten(x, 2), "mean": lambda x: torch.mean(x, [2, 3]), "mean_method": lambda x: x.mean([2, 3]),
        "mean_keep": lambda x: x.mean([2, 3], keepdim=True),
        "clamp": lambda x: torch.clamp(x, -0.5, 0.5), "clamp_method": lambda x: x.clamp(-0.5, 0.5),
        "hardtanh": lambda x: F.hardtanh(x, -0.5, 0.7), "relu": lambda x: torch.max_pool2d(x, 2).relu(), "relu6": lambda x: F.relu6(x * 1.0),
        "relu_method_inplace": lambda x: F.max_pool2d(x, 2).relu_(),
        "channel_shuffle": lambda x: torch.channel_shuffle(x, 2), "pixel_shuffle": lambda x: F.pixel_shuffle(torch.cat([x, x], 1)[:, :4], 2),
        "pixel_unshuffle": lambda x: F.pixel_unshuffle(x, 2),
        "transpose": lambda x: torch.transpose(x, 1, 2), "transpose_method": lambda x: x.transpose(2, 3), "permute": lambda x: x.permute(0, 2, 3, 1),
        "reshape": lambda x: x.reshape(2, -1), "view": lambda x: x.contiguous().view(2, -1), "squeeze": lambda x: x.unsqueeze(1).squeeze(1),
        "squeeze_function": lambda x: torch.squeeze(torch.unsqueeze(x, 1), 1),
        "contiguous": lambda x: x.contiguous(), "narrow": lambda x: torch.narrow(x, 1, 1, 3), "repeat": lambda x: x.repeat(1, 2, 1, 1),
        "repeat_interleave": lambda x: torch.repeat_interleave(x, 2, 1), "detach": lambda x: x.detach(),
    }
    for name, function in keeps.items():
        yield network(name, Net(lambda m, x, f=function: f(m.a(x)), a=conv(2)), x)
    modules = {"flatten_module": nn.Flatten(1), "hardtanh_module": nn.Hardtanh(-0.5, 0.7), "relu6_module": nn.ReLU6(), "upsample": nn.Upsample(scale_factor=2),
               "channel_shuffle_module": nn.ChannelShuffle(2), "pixel_unshuffle_module": nn.PixelUnshuffle(2), "identity": nn.Identity()}
    for name, module in modules.items():
        yield network(name, Net(nn.Sequential(conv(2), module)), x)
    yield network("pixel_shuffle_module", Net(nn.Sequential(conv(2, 4, 8), nn.PixelShuffle(2))), x)
    yield network("chunk", Net(lambda m, x: m.s(m.a(x)), a=conv(2), s=Chunk()), x)
    yield network("split", Net(lambda m, x: m.s(m.a(x)), a=conv(2), s=Split()), x)


class Chunk(nn.Module):
    def forward(self, y):
        first, second = torch.chunk(y, 2, 1)
        return first + second


class Split(nn.Module):
    def forward(self, y):
        first, second = torch.split(y, 3, 1)
        return torch.cat([second, first], 1)


def activations():
    x = image(2)
    modules = {"elu": nn.ELU(), "leaky_relu": nn.LeakyReLU(0.1), "hardswish": nn.Hardswish(), "sigmoid": nn.Sigmoid(), "tanh": nn.Tanh(),
               "hardsigmoid": nn.Hardsigmoid(), "softmax": nn.Softmax(1), "prelu": nn.PReLU(), "prelu_channels": nn.PReLU(6), "dropout": nn.Dropout(0.3),
               "layer_norm": nn.LayerNorm([6, 8, 8]), "layer_norm_last": nn.LayerNorm(8), "group_norm": nn.GroupNorm(2, 6),
               "instance_norm": nn.InstanceNorm2d(6), "instance_norm_affine": nn.InstanceNorm2d(6, affine=True), "gelu": nn.GELU(), "silu": nn.SiLU()}
    for name, module in modules.items():
        yield network(f"{name}_module", Net(nn.Sequential(conv(2), module)), x, may_keep=WRONG)
        yield network(f"{name}_between", Net(nn.Sequential(conv(2), module, conv(2, 6, 3))), x, may_keep=WRONG)
    functions = {"elu": F.elu, "elu_inplace": lambda x: F.elu(x, inplace=True), "leaky_relu": F.leaky_relu, "leaky_relu_inplace": lambda x: F.leaky_relu(x, 0.2, True),
                 "hardswish": F.hardswish, "sigmoid_torch": torch.sigmoid, "sigmoid_method": lambda x: x.sigmoid(), "tanh_torch": torch.tanh,
                 "tanh_method": lambda x: x.tanh(), "hardsigmoid": F.hardsigmoid, "softmax": lambda x: F.softmax(x, 1), "dropout": lambda x: F.dropout(x, 0.3, False),
                 "layer_norm": lambda x: F.layer_norm(x, (8,)), "instance_norm": F.instance_norm, "group_norm": lambda x: F.group_norm(x, 2)}
    for name, function in functions.items():
        yield network(f"{name}_function", Net(lambda m, x, f=function: f(m.a(x)), a=conv(2), tail=conv(2, 6, 3)), x, may_keep=WRONG)
    yield network("instance_norm3d", Net(nn.Sequential(conv(3), nn.InstanceNorm3d(6))), image(3))
    for d in (2, 3):
        bn = getattr(nn, f"BatchNorm{d}d")
        yield network(f"batch_norm{d}d", warm(Net(nn.Sequential(bn(4), conv(d))), image(d)), image(d), lowered_ops=(f"quantized.batch_norm{d}d.default",))
        yield network(f"batch_norm{d}d_relu", warm(Net(nn.Sequential(bn(4), nn.ReLU(), conv(d))), image(d)), image(d),
                      lowered_ops=(f"quantized.batch_norm{d}d_relu.default",))
    # The kernels of these are for modules alone: as functions, which no backend knows, they stay float between quantized operators.
    fixed_part = functools.partial(nn.Parameter, requires_grad=False)
    numbers = {"mean": fixed_part(torch.randn(6) * 0.1), "var": fixed_part(torch.rand(6) + 0.5), "factor": fixed_part(torch.rand(6) + 0.5),
               "shift": fixed_part(torch.randn(6) * 0.1)}
    alone = {"batch_norm2d": (lambda m, x: F.batch_norm(x, m.mean, m.var, m.factor, m.shift), "quantized.batch_norm2d.default"),
             "softmax": (lambda m, x: F.softmax(x, 1), "quantized.softmax.default")}
    for name, (function, kernel) in alone.items():
        yield network(f"{name}_function_alone", Net(lambda m, x, f=function: f(m, m.a(x)), a=conv(2), tail=conv(2, 6, 3), **numbers), x, no_ops=(kernel,))
    # x86 has no pattern for it, yet between quantized operators the kernel runs, as in torch.ao; a null rule is heeded.
    norm = Net(nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.Linear(8, 3)))
    yield network("layer_norm_refused", norm, (torch.randn(6, 8),), lowered_ops=("quantized.layer_norm.default",))
    yield network("layer_norm_null", norm, (torch.randn(6, 8),), null=nn.LayerNorm, against_float=True,
                  lowered_ops=("aten.layer_norm.default",), no_ops=("quantized.layer_norm.default",))
    # Without the rules of fixed parameters the backend refuses them; the kernels' own parameters then take the place of the reader's.
    for module in (nn.Sigmoid(), nn.Hardsigmoid(), nn.Tanh()):
        yield network(f"{type(module).__name__.lower()}_refused", Net(lambda m, x: m.act(m.a(x)) * x[:, :1], a=conv(2), act=module), x,
                      own_rules=False, may_keep=WRONG)


def readers():
    x = image(2)
    once = conv(2, 4, 4)
    yield network("module_twice", Net(lambda m, x: m.c(F.max_pool2d(m.c(x), 2)), c=once), x, as_reference=True)
    weight = nn.Parameter(torch.randn(4, 4, 3, 3) * 0.2)
    yield network("weight_twice", Net(lambda m, x: F.conv2d(F.conv2d(x, m.w), m.w), w=weight), x)
    yield network("three_readers", Net(lambda m, x: m.f(m.a(x)), a=conv(2, 4, 6), f=Readers()), x)


class Readers(nn.Module):
    def __init__(self):
        super().__init__()
        self.b, self.c = conv(2, 6, 6), conv(2, 6, 6)

    def forward(self, y):
        return self.b(y) + self.c(y) + F.max_pool2d(y, 3, 1, 1)


def main():
    torch.manual_seed(23)
    names = sys.argv[2:]
    if names[:1] == ["--backend"]:
        FORCED["backend"], names = names[1], names[2:]
    with tempfile.TemporaryDirectory() as folder:
        networks = [*weighted(), *conv_add(), *binary(), *shared(), *activations(), *readers()]
        networks = [one for one in networks if not names or any(one.name.startswith(name) for name in names)]
        sys.exit(1 if conversion.run(sys.argv[1], networks, pathlib.Path(folder)) else 0)


if __name__ == "__main__":
    main()
