# SPDX-License-Identifier: Apache-2.0
"""Gradients of a network's outputs with respect to every value in it, weights and inputs included, against `torch.autograd.grad`
on the same exported program: whole, cut into segments, and with two probes.

A gradient may differ from PyTorch's by 1e-5 of its norm. Where float32 itself is less exact than that, both are held to the same
program in float64, and ours may be no more than twice as far from it as PyTorch's own.

    python test_gradients.py GRADIENTS_DUMP [--all | NAME ...]      names as in families.py, or of OWN below
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import torch
import torch.utils._pytree as pytree
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import families  # noqa: E402
import zoo  # noqa: E402

BOUND = 1e-5
PROBES = 2
WHOLE = 1 << 40  # bytes: not cut


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(12, 16, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(32, 16, batch_first=True)
        self.head = nn.Linear(16, 5)

    def forward(self, x):
        return self.head(self.gru(self.lstm(x)[0])[0])


class Attending(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True) for _ in range(2))
        self.cross = nn.MultiheadAttention(32, 4, batch_first=True)

    def forward(self, x):
        y = x
        for layer in self.layers:
            y = layer(y)
        return self.cross(y, x, x)[0] + y


class Chosen(nn.Module):
    """A branch by the values, indices out of them, a mask, a softmax over what is chosen."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.b = nn.Linear(8, 8)

    def forward(self, x):
        y = torch.cond(x.sum() > 0, lambda v: (v * v).tanh(), lambda v: v.sin(), (self.a(x),))
        best, where = y.topk(3, dim=1)
        z = torch.gather(self.b(y), 1, where) * best.softmax(1)
        return torch.where(z > 0, z, 0.1 * z).exp(), y[:, ::2].cumsum(1)


OWN = {"recurrent": (Recurrent, (2, 7, 12)), "attending": (Attending, (2, 9, 32)), "chosen": (Chosen, (4, 8)), "skips": (zoo.Skips, (2, 3, 16, 16)),
       "sequence": (zoo.Sequence, (2, 4, 17)), "twice": (zoo.Twice, (2, 3, 8, 8))}
FAMILIES = ["torchvision." + name for name in (
    "resnet18", "mobilenet_v2", "mobilenet_v3_small", "efficientnet_b0", "densenet121", "googlenet", "shufflenet_v2_x0_5", "squeezenet1_1",
    "regnet_y_400mf", "vgg11_bn", "convnext_tiny", "vit_b_16", "swin_t", "segmentation.lraspp_mobilenet_v3_large")] + ["timm." + name for name in (
        "ghostnet_050", "mixer_s32_224", "levit_128s", "edgenext_xx_small", "res2net50_14w_8s", "poolformer_s12")]
QUICK = ["recurrent", "attending", "chosen", "skips", "torchvision.mobilenet_v3_small"]
COSTS = ["torchvision.resnet18", "torchvision.densenet121", "torchvision.vit_b_16"]


class Tool:
    """`gradients_dump`, which answers line by line, with as many threads as PyTorch has here."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "OMP_NUM_THREADS": str(torch.get_num_threads())})

    def ask(self, *words):
        self.process.stdin.write("\t".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        said = []
        for line in self.process.stdout:
            if line == "done\n":
                return said
            if line.startswith("failed: "):
                raise AssertionError(line.strip())
            said.append(line.rstrip("\n"))
        raise AssertionError(f"gradients_dump ended ({self.process.wait()}) at {words}")


class Values(torch.fx.Interpreter):
    """Runs an exported program's graph; each value of floats is a tensor of its own that a gradient can be asked of."""

    def __init__(self, program, dtype):
        super().__init__(program.graph_module)
        self.dtype = dtype
        self.leaves = {*program.graph_signature.inputs_to_parameters, *program.graph_signature.user_inputs}
        self.seen = {}

    def cast(self, value):
        is_float = isinstance(value, torch.Tensor) and value.dtype == torch.float32
        return value.to(self.dtype) if is_float else self.dtype if value is torch.float32 else value

    def run_node(self, node):
        value = super().run_node(node)
        if node.op == "output" or not isinstance(value, torch.Tensor) or not value.is_floating_point():
            return value
        if node.op == "placeholder" and node.name not in self.leaves:  # PyTorch has no derivative for statistics; constants fill masks
            return value
        if not value.requires_grad and node.op != "placeholder":
            return value  # a mask, which may be written to
        value = value.view_as(value) if value.requires_grad else value.detach().requires_grad_()
        self.seen[node.name] = value
        return value

    def call_function(self, target, args, kwargs):
        args, kwargs = pytree.tree_map(self.cast, (args, kwargs))
        if getattr(target, "__name__", "").split(".")[0].endswith("_") and args[0].requires_grad:  # in place: import makes a value of its own of the result
            args = (args[0].clone(), *args[1:])
        return super().call_function(target, args, kwargs)

    def placeholder(self, target, args, kwargs):
        return self.cast(super().placeholder(target, args, kwargs))


def flat_inputs(program):
    """The arguments of the program's graph: weights, buffers, constants, and the example's tensors."""
    examples = iter(pytree.tree_leaves(program.example_inputs))
    held = {**program.state_dict, **program.constants}
    return [held[spec.target].detach() if spec.target else next(examples) for spec in program.graph_signature.input_specs]


def torch_gradients(program, dtype):
    """By probe: the gradient of each named value, None where nothing flows."""
    values = Values(program, dtype)
    with torch.enable_grad():
        outputs = [value for value in pytree.tree_leaves(values.run(*flat_inputs(program))) if value.requires_grad]
    names = list(values.seen)
    return [dict(zip(names, torch.autograd.grad(outputs, [values.seen[name] for name in names], [wave(value, probe, i) for i, value in enumerate(outputs)],
                                                retain_graph=True, allow_unused=True))) for probe in range(PROBES)]


def wave(value, probe, i):
    """What flows into an output, as `gradients_dump` has it."""
    phase = torch.arange(value.numel(), dtype=torch.float64) * (probe + 1) + i
    return torch.sin(phase).to(torch.float32).to(value.dtype).reshape(value.shape)


def distance(got, wanted):
    norm = wanted.double().norm().item()
    return (got.double() - wanted.double()).norm().item() / norm if norm else float(got.double().norm() > 0)


def compare(name, found, wanted, exact, problems):
    """The worst distance from PyTorch, and the worst from float64 of ours and of PyTorch."""
    worst = [0.0, 0.0, 0.0]
    known = 0
    for probe, gradients in enumerate(found["gradients"]):
        for site, gradient in zip(found["names"], gradients):
            if site not in wanted[probe]:
                continue
            known += 1
            other = wanted[probe][site]
            if (gradient is None) != (other is None):
                problems.append(f"{name}: {site}: {'nothing flows here' if gradient is None else 'nothing flows in PyTorch'}")
            if gradient is None or other is None:
                continue
            if gradient.shape != other.shape or gradient.dtype != other.dtype:
                problems.append(f"{name}: {site}: {gradient.dtype} {tuple(gradient.shape)}, PyTorch {other.dtype} {tuple(other.shape)}")
                continue
            apart, ours, theirs = distance(gradient, other), distance(gradient, exact[probe][site]), distance(other, exact[probe][site])
            worst = [max(a, b) for a, b in zip(worst, (apart, ours, theirs))]
            if not apart <= BOUND and not ours <= max(BOUND, 2 * theirs):
                problems.append(f"{name}: {site}: {apart:.1e} from PyTorch; from float64 {ours:.1e}, PyTorch {theirs:.1e}")
    wanted_names = [site for site, gradient in wanted[0].items() if gradient is not None]
    if known < 0.9 * PROBES * len(wanted_names):
        problems.append(f"{name}: {known} of {PROBES * len(wanted_names)} gradients are known by name")
    return worst, known


def make(name):
    if name in OWN:
        kind, shape = OWN[name]
        torch.manual_seed(5)
        return kind().eval(), torch.randn(shape)
    return families.make(name)


def check(name, tool, folder, problems):
    model, example = make(name)
    path, out = folder / "model.pt2", folder / "out.pt"
    program = torch.export.export(model, (example,))
    torch.export.save(program, path)
    wanted, exact = torch_gradients(program, torch.float32), torch_gradients(program, torch.float64)
    lines = []
    for whole in (WHOLE, 0):
        for said in tool.ask("dump", path, out, 0, whole, PROBES):
            site = said.split(": ")[0]  # " in part" is never right here: PyTorch's gradients are whole
            if not site.startswith("b_") and wanted[0].get(site, said if " in part" in site else None) is not None:
                problems.append(f"{name}: {said}")
        found = torch.load(out, weights_only=False)
        (apart, ours, theirs), known = compare(name, found, wanted, exact, problems)
        lines.append(f"{found['segments']} segments: {apart:.1e} from PyTorch ({ours:.1e} and {theirs:.1e} from float64)")
    print(f"{name}: {known} gradients; " + "; ".join(lines), flush=True)
    return apart, ours, theirs


def torch_seconds(model, example, times):
    """PyTorch's own forward and backward, with gradients of all that the network computes: its weights are left out."""
    model.requires_grad_(False)
    best = [float("inf")] * 2
    for _ in range(times):
        start = time.perf_counter()
        with torch.no_grad():
            model(example)
        middle = time.perf_counter()
        x = example.clone().requires_grad_()
        outputs = [value for value in pytree.tree_leaves(model(x)) if value.requires_grad]
        torch.autograd.grad(outputs, [x], [torch.ones_like(value) for value in outputs])
        best = [min(best[0], middle - start), min(best[1], time.perf_counter() - middle)]
    return best


def tell_cost(name, tool, folder):
    """Prints what a run takes: time against PyTorch's own, memory against keeping everything."""
    model, example = make(name)
    example = torch.cat([example] * 4)
    path = folder / "cost.pt2"
    torch.export.save(torch.export.export(model, (example,)), path)
    whole, cut = (json.loads(tool.ask("cost", path, bytes_, 3)[0]) for bytes_ in (WHOLE, 0))
    forward, both = torch_seconds(model, example, 3)
    print(f"{name}, batch {len(example)}: forward {whole['forward'] * 1e3:.0f} ms (PyTorch {forward * 1e3:.0f}); forward and back: whole "
          f"{whole['both'] * 1e3:.0f} ms, {cut['segments']} segments {cut['both'] * 1e3:.0f} ms (PyTorch {both * 1e3:.0f}); memory: forward "
          f"{whole['forward_bytes'] / 2**20:.0f} MiB, whole {whole['both_bytes'] / 2**20:.0f}, cut {cut['both_bytes'] / 2**20:.0f} of which kept at cuts "
          f"{cut['kept'] / 2**20:.0f}", flush=True)


def main():
    path, *words = sys.argv[1:]
    names = [word for word in words if word != "--all"] or (list(OWN) + FAMILIES if "--all" in words else QUICK)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    tool, problems, worst = Tool(path), [], (0, 0, 0)
    with tempfile.TemporaryDirectory() as place:
        for name in names:
            worst = [max(a, b) for a, b in zip(worst, check(name, tool, pathlib.Path(place), problems))]
        print("{} networks, worst: {:.1e} from PyTorch; {:.1e} and {:.1e} from float64".format(len(names), *worst))
        for name in COSTS if "--all" in words else []:
            tell_cost(name, tool, pathlib.Path(place))
    for problem in problems:
        print(problem)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
