# SPDX-License-Identifier: Apache-2.0
"""What the scripts of the samples share: exporting without paths of this machine, writing the data, torch.ao's int8 model."""
import copy
import pathlib

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent


def exported(model, example):
    """The model as an exported program with a dynamic batch. Source lines keep no path of the machine that traced them."""
    program = torch.export.export(model, (example,), dynamic_shapes=({0: torch.export.Dim("batch")},))
    prefixes = [f"{HERE.parents[1]}/", f"{pathlib.Path(torch.__file__).resolve().parents[1]}/"]
    for node in program.graph.nodes:
        for prefix in prefixes:
            if "stack_trace" in node.meta:
                node.meta["stack_trace"] = node.meta["stack_trace"].replace(prefix, "")
    return program


def write_sample(name, model, calibration, test, folder=HERE):
    """Writes NAME.pt2, NAME.calib.npz and NAME.test.npz; `calibration` and `test` are dicts of arrays, the input first.
    Returns the bytes of all three."""
    folder = pathlib.Path(folder)
    first = next(iter(calibration.values()))
    torch.export.save(exported(model, torch.from_numpy(first[:8]).clone()), folder / f"{name}.pt2")
    np.savez_compressed(folder / f"{name}.calib.npz", **calibration)
    np.savez_compressed(folder / f"{name}.test.npz", **test)
    return sum((folder / f"{name}{end}").stat().st_size for end in (".pt2", ".calib.npz", ".test.npz"))


def quantized(model, calibration, batch=8):
    """The model through torch.ao's post-training quantization, backend x86."""
    from torch.ao.quantization import get_default_qconfig_mapping
    from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx

    torch.backends.quantized.engine = "x86"
    prepared = prepare_fx(copy.deepcopy(model), get_default_qconfig_mapping("x86"), (calibration[:batch],))
    with torch.no_grad():
        for start in range(0, len(calibration), batch):
            prepared(calibration[start:start + batch])
    return convert_fx(prepared)
