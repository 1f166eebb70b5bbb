# SPDX-License-Identifier: Apache-2.0
"""model.int8.pt2 in the compilers: as many int8 kernels as torchao's own PT2E conversion of the same network gets there, and outputs no worse.

usage: test_compilers.py inductor|xnnpack [NETWORK ...]; the second needs ExecuTorch in the running Python (see test_executorch.py).
"""
import pathlib
import sys
import tempfile
import types
import warnings

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers the operators of model.int8.pt2

import agreement
import checks
import compiled_networks as networks
import models

sys.path.insert(0, str(models.ROOT / "resources" / "verify"))
import run_export  # noqa: E402

DYNAMIC = "mlp_relu", "sequence_linear", "encoder_block"
BYTES = {"activation": {"observer": "histogram", "dtype": "quint8", "qscheme": "per_tensor_affine", "reduce_range": not checks.EIGHT_BITS},
         "weight": {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric", "ch_axis": 0}}
STATIC = {"inductor": {"backend": "x86", "qconfigs": {"bytes": BYTES}, "mapping": {"global": "bytes"}}, "xnnpack": {"backend": "executorch", "mapping": {"global": "default_per_channel_symmetric_qnnpack"}}}
# torchao's quantizer for Inductor takes no norms, sums and moves of an encoder.
LINEAR_ONLY = STATIC["inductor"] | {"mapping": {"global": None, "object_type": [["torch.nn.Linear", "bytes"]]}}
DYNAMIC_RECIPE = {"inductor": {"backend": "x86", "mapping": {"global": None, "object_type": [["torch.nn.Linear", "per_channel_dynamic"]]}},
                  "xnnpack": {"backend": "executorch", "qconfigs": {"dyn": {
                      "activation": {"observer": "placeholder", "dtype": "qint8", "qscheme": "per_tensor_affine", "quant_min": -128,
                                     "quant_max": 127, "eps": 2 ** -12, "is_dynamic": True},
                      "weight": {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric", "quant_min": -127,
                                 "quant_max": 127, "eps": 2 ** -12}}},
                      "mapping": {"global": None, "object_type": [["torch.nn.Linear", "dyn"]]}}}


def quantizer(target, dynamic):
    if target == "inductor":
        from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as x86

        return x86.X86InductorQuantizer().set_global(x86.get_default_x86_inductor_quantization_config(is_dynamic=dynamic, reduce_range=not checks.EIGHT_BITS))
    from executorch.backends.xnnpack.quantizer import xnnpack_quantizer as xnn

    return xnn.XNNPACKQuantizer().set_global(xnn.get_symmetric_quantization_config(is_per_channel=True, is_dynamic=dynamic))


def run(target, file, example, folder):
    """(int8 kernels, the notes, the first output) of a .pt2 in the target, as `verify` runs it."""
    from torch._dynamo.utils import counters

    torch._dynamo.reset()
    counters.clear()
    job = types.SimpleNamespace(folder=pathlib.Path(folder), file=str(file), versions={}, notes={}, nodes={}, calls=lambda make: iter([[example.clone()]]),
                                text={"threads": 2, "libraries": [], "input_tree": "", "calls": [[]]})
    outputs = {"inductor": run_export.torch_compile, "xnnpack": run_export.executorch}[target](job)
    return job.notes["int8_kernels"], job.notes, outputs[0][0]


def decibels(wanted, got):
    noise = (wanted - got).square().sum()
    return 200.0 if noise == 0 else float(10 * torch.log10(wanted.square().sum() / noise))


def recipes(target, name):
    """By label: the recipe, and whether it quantizes more of the network than torchao's quantizer does."""
    more = target == "inductor" and name == "encoder_block"
    found = {"": (STATIC[target], more)}
    if more:
        found["linear"] = LINEAR_ONLY, False
    if name in DYNAMIC:
        found["dynamic"] = DYNAMIC_RECIPE[target], False
    return found


def compare(target, name, label, recipe, more, folder):
    report = agreement.Report(f"{target}/{name}/{label}".rstrip("/"))
    case = networks.case_of(name)
    example = networks.example_of(case)
    with torch.no_grad():
        wanted = case.model(example)
    file = networks.converted_by_torchao(case, quantizer(target, label == "dynamic"), folder / "torchao.pt2")
    try:
        theirs = run(target, file, example, folder)
    except Exception as error:  # the target takes this network from nobody
        report.fact(f"not decided: torchao's form ends in {run_export.one_line(error)}")
        return report
    own = networks.converted_by_us(case, folder, agreement.quantscope, recipe)
    ours = run(target, own, example, folder)
    told = ours[1].get("kernels") or ours[1]["delegate"]
    report.expect(ours[0] >= theirs[0] > 0, f"{ours[0]} int8 kernels, torchao's form has {theirs[0]}: {told}; {theirs[1]}")
    figures = decibels(wanted, ours[2]), decibels(wanted, theirs[2])
    bar = decibels(wanted, torch.export.load(own).module()(example)) - 1 if more else figures[1] - 6
    report.expect(figures[0] > max(bar, 15), f"{figures[0]:.1f} dB against float, torchao's form {figures[1]:.1f}, the least {bar:.1f}")
    report.fact(f"{ours[0]} int8 kernels, torchao {theirs[0]}; {figures[0]:.1f} dB, torchao {figures[1]:.1f}; {told}")
    return report


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(2)
    target, chosen = sys.argv[1], sys.argv[2:] or [*networks.NETWORKS, *networks.LARGE]
    failed = 0
    for name in chosen:
        for label, (recipe, more) in recipes(target, name).items():
            with tempfile.TemporaryDirectory() as folder:
                try:
                    report = compare(target, name, label, recipe, more, pathlib.Path(folder))
                except Exception as error:
                    report = agreement.Report(f"{target}/{name}/{label}")
                    report.expect(False, run_export.one_line(error))
            report.print()
            failed += bool(report.problems)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
