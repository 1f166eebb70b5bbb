# SPDX-License-Identifier: Apache-2.0
"""Asks torch.ao for every network and recipe and stores its answers: make_goldens.py [NETWORK/RECIPE ...].

    OMP_NUM_THREADS=2 .venv/bin/python tests/oracle/make_goldens.py

Writes tests/golden/NETWORK.RECIPE.json. Each file names the torch version, the thread count and the processor's vector
instructions: on another processor the last bits of a network's values differ. Of a weight's channels the first ones are
stored, of the outputs the converted forms.
"""
import json
import pathlib
import sys
import tempfile

import torch

import models
import oracle
import recipes

FOLDER = models.ROOT / "tests" / "golden"
CHANNELS = 32
PAIRS = ["tutorial/tutorial", "tutorial_bn/tutorial", "tutorial_bn/tutorial_default", "tutorial/x86", "tutorial/minmax",
         "tutorial_bn/x86", "digits/x86", "digits/minmax", "resnet18/x86", "resnet18/minmax", "mobilenet_v2/x86",
         "mobilenet_v2/minmax"]


def instructions():
    """What decides the last bits: the vector width of float kernels, and how int8 kernels multiply (without VNNI some saturate)."""
    int8 = [name for name, has in (("VNNI", torch.cpu._is_vnni_supported()), ("AMX", torch.cpu._is_amx_tile_supported())) if has]
    return " ".join([torch.backends.cpu.get_cpu_capability(), *int8])


def environment():
    return {"torch": torch.__version__.partition("+")[0], "threads": torch.get_num_threads(),
            "cpu": instructions()}


def to_json(answer):
    """The answer without numpy: scales of weights and outputs as packed text."""
    observed = [{**row, "scale": [float(v) for v in row["scale"]], "zero_point": [int(v) for v in row["zero_point"]]}
                for row in answer["observed"]]
    weights = [{**row, "channels": len(row["scale"]), "scale": oracle.packed(row["scale"][:CHANNELS]),
                "zero_point": oracle.packed(row["zero_point"][:CHANNELS])} for row in answer["weights"]]
    return {"observed": observed, "weights": weights,
            "outputs": {form: oracle.packed(answer["outputs"][form]) for form in ("reference", "lowered")}}


def from_json(document):
    unpack = oracle.unpacked
    return {"observed": document["observed"],
            "weights": [{**row, "scale": unpack(row["scale"]), "zero_point": unpack(row["zero_point"])}
                        for row in document["weights"]],
            "outputs": {form: unpack(values) for form, values in document["outputs"].items()}}


def path_of(pair):
    return FOLDER / f"{pair.replace('/', '.')}.json"


def write(pair, answer, case):
    document = {"format": "quantscope.golden", "version": 1, **environment(), "network": case.name,
                "recipe": pair.split("/")[1], "batch_size": recipes.BATCH_SIZE,
                "sqnr_db": {form: round(oracle.sqnr_db(answer["outputs"]["float"], answer["outputs"][form]), 3)
                            for form in ("reference", "lowered")}}
    if case.labels is not None:
        document["top1"] = {form: oracle.top1(values, case.labels) for form, values in answer["outputs"].items()}
    document.update(to_json(answer))
    rows = [f"  {json.dumps(key)}: {json.dumps(value)}" if not isinstance(value, list) or not value else
            f"  {json.dumps(key)}: [\n    " + ",\n    ".join(map(json.dumps, value)) + "\n  ]"
            for key, value in document.items()]
    path_of(pair).write_text("{\n" + ",\n".join(rows) + "\n}\n")


def main():
    torch.set_num_threads(oracle.THREADS)
    FOLDER.mkdir(exist_ok=True)
    for pair in sys.argv[1:] or PAIRS:
        network, recipe = pair.split("/")
        case = models.CASES[network]()
        with tempfile.TemporaryDirectory() as folder:
            program = torch.export.load(models.write(case, folder)[0])
        answer = oracle.ask(case, recipes.RECIPES[recipe](), program)
        write(pair, answer, case)
        print(f"{pair}: {len(answer['observed'])} observed, {path_of(pair).stat().st_size:,} bytes", flush=True)


if __name__ == "__main__":
    main()
