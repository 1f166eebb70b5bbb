# SPDX-License-Identifier: Apache-2.0
"""What the benches beside other packages share: networks as modules with data that both sides see and data that neither sees, one measure of
both sides' outputs, and what `quantscope tune` makes of a network."""
import copy
import dataclasses
import json
import pathlib
import subprocess
import sys
import time

import networks
import numpy
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers the operators of model.reference.pt2
import torch.utils._pytree as pytree
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

SAMPLES = pathlib.Path(__file__).resolve().parents[3] / "resources/samples"
sys.path.append(str(SAMPLES))
LAYERS = (nn.Linear, nn.Conv2d)
SEEN = 64  # samples that are calibrated, searched and validated with; as many others measure both sides
EACH = 8  # of a batch


def leaves(outputs):
    return [value.detach() for value in pytree.tree_leaves(outputs) if isinstance(value, torch.Tensor) and value.is_floating_point()]


@dataclasses.dataclass
class Case:
    name: str
    path: pathlib.Path  # of the .pt2
    module: nn.Module
    seen: list  # of calls
    held: list
    folder: pathlib.Path

    def __post_init__(self):
        self.data = self.folder / f"{self.name}.seen.pt"
        torch.save(self.seen, self.data)
        self.expected = {part: [self.wanted(call) for call in getattr(self, part)] for part in ("seen", "held")}

    def wanted(self, call):
        with torch.no_grad():
            return leaves(self.module(*call))

    def db(self, run, part="held"):
        """SQNR of what run(*call) returns, of the worst output: as the goal of tune counts."""
        with torch.no_grad():
            return sqnr(self.expected[part], [leaves(run(*call)) for call in getattr(self, part)])

    def all_macs(self):
        """Multiplications of the calls that were seen, those between two values (attention) too, as tune counts them."""
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH), FlopCounterMode(display=False) as counter:
            for call in self.seen:
                self.wanted(call)
        return counter.get_total_flops() // 2

    def macs(self):
        """Multiplications of each layer in the calls that were seen, by the module's name."""
        counts, hooks = {}, []

        def count(name, layer):
            def add(_, inputs, output):
                each = layer.weight[0].numel()
                counts[name] = counts.get(name, 0) + output.numel() * each
            return add

        for name, layer in self.module.named_modules():
            if isinstance(layer, LAYERS):
                hooks.append(layer.register_forward_hook(count(name, layer)))
        for call in self.seen:
            self.wanted(call)
        for hook in hooks:
            hook.remove()
        return counts


def sqnr(wanted, got):
    noise = signal = None
    for one, other in zip(wanted, got):
        errors = torch.stack([(b - a).double().square().sum() for a, b in zip(one, other)])
        sizes = torch.stack([a.double().square().sum() for a in one])
        noise, signal = (errors, sizes) if noise is None else (noise + errors, signal + sizes)
    return float(-10 * torch.log10((noise / signal).max()))


def batches(values):
    return [(values[start:start + EACH],) for start in range(0, len(values), EACH)]


def of_sample(name, folder):
    import train_digits
    import train_sequences

    made = {"digits": (train_digits.DigitsNet, "calib.npz", "test.npz"),
            "sequences": (train_sequences.SequenceNet, "sequences.calib.npz", "sequences.test.npz")}
    network, seen, held = made[name]
    module = network()
    module.load_state_dict(torch.export.load(SAMPLES / f"{name}.pt2").state_dict)
    first, second = (torch.from_numpy(next(iter(numpy.load(SAMPLES / file).values()))) for file in (seen, held))
    return Case(name, SAMPLES / f"{name}.pt2", module.eval(), batches(first[:SEEN]), batches(second[:SEEN]), folder)


def spread(case):
    """The same function, but every norm makes one channel in sixteen sixteen times as large: its readers' weights are as much smaller.
    That is what trained transformers have and random weights have not."""
    generator = torch.Generator().manual_seed(11)
    module = copy.deepcopy(case.module)
    for block in module.modules():
        parts = dict(block.named_children())
        for norm, readers in (("self_attn_layer_norm", ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj")), ("final_layer_norm", ("fc1",))):
            if norm not in parts or not all(reader.split(".")[0] in parts for reader in readers):
                continue
            width = parts[norm].weight.numel()
            factors = torch.ones(width)
            factors[torch.randperm(width, generator=generator)[:width // 16]] = 16
            with torch.no_grad():
                parts[norm].weight.mul_(factors)
                parts[norm].bias.mul_(factors)
                for reader in readers:
                    block.get_submodule(reader).weight.div_(factors)
    path = case.folder / "opt_spread.pt2"
    torch.export.save(torch.export.export(module, case.seen[0], strict=False), path)
    return Case("opt_spread", path, module, case.seen, case.held, case.folder)


def make(name, folder, size=96):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if name in ("digits", "sequences"):
        return of_sample(name, folder)
    if name == "opt_spread":
        return spread(make("opt", folder, size))
    path, _, module, calls = networks.make(name, size, folder)
    count = SEEN // len(calls[0][0])
    return Case(name, path, module, calls[:count], calls[count:2 * count], folder)


@dataclasses.dataclass
class Ours:
    db: float
    share: float  # of the multiplications in int8
    reached: bool  # on tune's own guard
    seconds: float  # by the clock
    cures: dict  # how many of each kind


def quantized(program, case, recipe):
    """What `quantize` with this recipe exports, in PyTorch."""
    out = case.folder / f"{case.name}.quantized"
    words = [program, "quantize", case.path, "--data", case.data, "--device", "cpu", "--recipe", recipe, "--export", "pt2-reference", "--out", out]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode not in (0, 1) or not (out / "model.reference.pt2").exists():
        raise SystemExit(f"{case.name}: {done.stderr}")
    made = torch.export.load(out / "model.reference.pt2").module()
    names = getattr(case.module, "names", None)
    return made if names is None else lambda *values: made(**dict(zip(names, values)))


def tuned(program, case, goal, *options):
    """`tune` on what is seen, then measured on the rest in PyTorch."""
    recipe = case.folder / f"{case.name}.peers.json"
    state = recipe.with_suffix(".tune.json")
    state.unlink(missing_ok=True)
    words = [program, "tune", case.path, "--data", case.data, "--device", "cpu", "--goal", f"sqnr {goal}", "--samples", SEEN, *options, "--out", recipe]
    start = time.perf_counter()
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    seconds = time.perf_counter() - start
    search = json.loads(state.read_text()) if state.exists() else {}
    if not search.get("stopped"):
        raise SystemExit(f"{case.name}: {done.stderr}")
    cures = {}
    for cure in json.loads(recipe.read_text()).get("cures", []):
        cures[cure["cure"]] = cures.get(cure["cure"], 0) + 1
    return Ours(case.db(quantized(program, case, recipe)), search["trials"][search["best"]]["int8_macs"], search["reached"], seconds, cures)
