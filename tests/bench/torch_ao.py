# SPDX-License-Identifier: Apache-2.0
"""What a Python script does with torch.ao, for the benches to compare with: started as a process of its own.

    torch_ao.py quantize NAME DATA OUT      prepare_fx, calibration, convert_fx, the error of every layer alone (Numeric
                                            Suite's shadows; its loggers fail on these networks), export
    torch_ao.py calibrate NAME DATA ROUNDS  seconds of all batches through eager's float model and through prepare_fx's, in turn
"""
import copy
import json
import pathlib
import sys
import time
import warnings

import numpy as np
import torch
import torch.ao.ns._numeric_suite_fx as ns
from torch.ao.ns.fx.utils import compute_sqnr
from torch.ao.quantization import get_default_qconfig_mapping
from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx

import models


def batches(data):
    return [torch.from_numpy(part) for part in np.array_split(np.load(data)["x"], models.BATCHES)]


def prepare(net, example):
    return prepare_fx(copy.deepcopy(net), get_default_qconfig_mapping("x86"), (example,))


def run_all(net, data):
    for batch in data:
        net(batch)


def layer_errors(results, float_name, int8_name):
    ns.extend_logger_results_with_comparison(results, float_name, int8_name, compute_sqnr, "sqnr")
    return {layer: [float(v) for v in entry[int8_name][0]["sqnr"]] for layer, kinds in results.items()
            for entry in kinds.values() if entry.get(int8_name)}


def quantize(name, data, out):
    net, data = models.network(name), batches(data)
    prepared = prepare(net, data[0])
    run_all(prepared, data)
    int8 = convert_fx(copy.deepcopy(prepared))
    shadowed = ns.add_shadow_loggers("float", prepared, "int8", int8, ns.OutputLogger)
    run_all(shadowed, data)
    alone = layer_errors(ns.extract_shadow_logger_info(shadowed, ns.OutputLogger, "int8"), "float", "int8")
    folder = pathlib.Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    torch.jit.save(torch.jit.trace(int8, data[0]), folder / "model.int8.ts.pt")
    (folder / "errors.json").write_text(json.dumps(alone))


def timed(taken, body):
    wall, cpu = time.perf_counter(), time.process_time()
    body()
    taken["wall"].append(time.perf_counter() - wall)
    taken["cpu"].append(time.process_time() - cpu)


def calibrate(name, data, rounds):
    net, data = models.network(name), batches(data)
    taken = {kind: {"wall": [], "cpu": []} for kind in ("float", "calibrate")}
    for _ in range(rounds):
        timed(taken["float"], lambda: run_all(net, data))
        prepared = prepare(net, data[0])
        timed(taken["calibrate"], lambda: run_all(prepared, data))
    print(json.dumps(taken))


def main(verb, name, data, last):
    warnings.simplefilter("ignore")
    torch.set_num_threads(2)
    torch.backends.quantized.engine = "x86"
    with torch.no_grad():
        quantize(name, data, last) if verb == "quantize" else calibrate(name, data, int(last))


if __name__ == "__main__":
    main(*sys.argv[1:])
