# SPDX-License-Identifier: Apache-2.0
"""The cures `round` and `bias` beside AIMET's AdaRound: resnet18 with random weights, weights of four bits by channel, activations of eight.

    bench_round.py PROGRAM [--size 96] [--iterations 2000] [--files FOLDER] [--without-aimet]

PROGRAM is quantscope. AIMET must be importable (`pip install aimet-torch` in an environment of its own, with torch). Both get the same folded network and
48 pictures; `tune` keeps 12 of them as guard. Prints SQNR of the outputs on the 48 and on 16 others, computed here by one function from the weights of
each, and seconds by the clock."""
import argparse
import copy
import json
import pathlib
import subprocess
import tempfile
import time
import warnings

import numpy
import torch
import torchvision
from torch import nn
from torch.fx.experimental.optimization import fuse

LAYERS = (nn.Conv2d, nn.Linear)
WEIGHT = {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric", "quant_min": -8, "quant_max": 7}
RECIPE = {"format": "quantscope.recipe", "version": 1, "backend": "x86", "mapping": {"global": "w4"},
          "qconfigs": {"w4": {"activation": {"observer": "minmax"}, "weight": WEIGHT}}}
AIMET = {"defaults": {"ops": {"is_output_quantized": "True"}, "params": {"is_quantized": "True", "is_symmetric": "True"}, "per_channel_quantization": "True",
                      "strict_symmetric": "False", "unsigned_symmetric": "False"},
         "params": {"bias": {"is_quantized": "False"}}, "op_type": {}, "supergroups": [], "model_input": {"is_input_quantized": "True"}, "model_output": {}}


def network_and_pictures(size):
    torch.manual_seed(0)
    network = torchvision.models.resnet18(weights=None)
    pictures = torch.randn(64, 3, size, size).cumsum(-1).cumsum(-2)
    pictures = (pictures - pictures.mean((2, 3), keepdim=True)) / pictures.std((2, 3), keepdim=True)
    network.train()
    with torch.no_grad():
        for module in network.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.momentum = None
        network(pictures)
    return fuse(network.eval()), pictures


class Measure:
    """Runs the network with other weights, and its layers' inputs quantized over the range that they have in the float network."""

    def __init__(self, network, seen, others):
        self.network, self.data, self.ranges = network, {"searched": seen, "others": others}, {}
        hooks = [module.register_forward_pre_hook(self.look(name)) for name, module in network.named_modules() if isinstance(module, LAYERS)]
        with torch.no_grad():
            network(seen)
        for hook in hooks:
            hook.remove()

    def look(self, name):
        def see(_, inputs):
            self.ranges[name] = min(0, inputs[0].min().item()), max(0, inputs[0].max().item())
        return see

    def quantize(self, name):
        low, high = self.ranges[name]
        scale = (high - low) / 255
        return lambda _, inputs: (torch.fake_quantize_per_tensor_affine(inputs[0], scale, round(-low / scale), 0, 255),)

    def __call__(self, weights, biases=None):
        changed = copy.deepcopy(self.network)
        with torch.no_grad():
            for name, module in changed.named_modules():
                if isinstance(module, LAYERS):
                    module.register_forward_pre_hook(self.quantize(name))
                    module.weight.copy_(weights.get(name, module.weight))
                    module.bias.add_((biases or {}).get(name, 0))
            found = {}
            for part, x in self.data.items():
                wanted, got = self.network(x), changed(x)
                found[part] = round(float(10 * torch.log10(wanted.square().sum() / (got - wanted).square().sum())), 2)
        return found


def nearest(network):
    weights = {}
    for name, module in network.named_modules():
        if isinstance(module, LAYERS):
            scale = (module.weight.flatten(1).abs().amax(1) / 7.5).reshape([-1] + [1] * (module.weight.dim() - 1))
            weights[name] = (module.weight / scale).round().clamp(-8, 7) * scale
    return weights


def rounded_by_us(program, network, seen, folder, kinds):
    torch.export.save(torch.export.export(network, (seen[:2],), dynamic_shapes=({0: torch.export.Dim("batch", min=1, max=64)},)), folder / "model.pt2")
    numpy.savez(folder / "data.npz", x=seen.numpy())
    (folder / "start.json").write_text(json.dumps(RECIPE))
    words = [program, "tune", "model.pt2", "--data", "data.npz", "--recipe", "start.json", "--allow", kinds, "--goal", "sqnr 60", "--samples", len(seen),
             "--out", "tuned.json", "--device", "cpu"]
    start = time.perf_counter()
    subprocess.run([str(word) for word in words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    seconds = time.perf_counter() - start
    cure = json.loads((folder / "tuned.json").read_text())["cures"][0]
    weights, biases = {}, {}
    arrays = numpy.load(folder / cure["file"])
    for key in arrays.files:
        name, part = key.split(" ")[0], key.rsplit("/", 1)[1]
        if part == "steps":
            steps = torch.from_numpy(arrays[key].astype("float32"))
            weights[name] = steps * torch.from_numpy(arrays[key[:-5] + "scales"]).reshape([-1] + [1] * (steps.dim() - 1))
        if part == "shift":
            biases[name] = torch.from_numpy(arrays[key])
    return weights, biases, seconds


def rounded_by_aimet(network, seen, folder, iterations):
    from aimet_torch.adaround.adaround_weight import Adaround, AdaroundParameters
    from aimet_torch.common.defs import QuantScheme

    (folder / "aimet.json").write_text(json.dumps(AIMET))
    loader = torch.utils.data.DataLoader(list(seen), batch_size=16)
    options = AdaroundParameters(data_loader=loader, num_batches=len(loader), default_num_iterations=iterations)
    start = time.perf_counter()
    made = Adaround.apply_adaround(copy.deepcopy(network), seen[:1], options, path=str(folder), filename_prefix="aimet", default_param_bw=4,
                                   default_quant_scheme=QuantScheme.post_training_tf, default_config_file=str(folder / "aimet.json"))
    return {name: module.weight.detach() for name, module in made.named_modules() if isinstance(module, LAYERS)}, time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--size", type=int, default=96)
    parser.add_argument("--iterations", type=int, default=2000)
    parser.add_argument("--files", type=pathlib.Path)
    parser.add_argument("--without-aimet", action="store_true")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    network, pictures = network_and_pictures(options.size)
    seen = pictures[:48]
    measure = Measure(network, seen, pictures[48:])
    with tempfile.TemporaryDirectory() as made:
        folder = options.files or pathlib.Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        print("nearest", measure(nearest(network)), flush=True)
        for kinds in ("round", "round,bias"):
            weights, biases, seconds = rounded_by_us(options.program.resolve(), network, seen, folder, kinds)
            print(kinds, measure(weights, biases), f"{seconds:.0f} s", flush=True)
        if not options.without_aimet:
            weights, seconds = rounded_by_aimet(network, seen, folder, options.iterations)
            print(f"AIMET's AdaRound, {options.iterations} steps", measure(weights), f"{seconds:.0f} s")


if __name__ == "__main__":
    main()
