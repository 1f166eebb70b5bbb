# SPDX-License-Identifier: Apache-2.0
"""Reloads exported files in the runtime they are for and compares every output with the expected ones, bit for bit.

Each line of the input names one file: FILE, EXPECTED and STRUCTURE between tabs; each is answered by one line, "equal: ..." or what is wrong.

EXPECTED is a list of calls, each (args, kwargs, outputs) with the outputs flat. STRUCTURE, where it is not empty, is what the returned
value must look like, with "T" for a tensor, "I" for an integer and None for None.
"""
import ast
import sys

import torch
import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed
from torch.utils import _pytree as pytree


def load(path):
    if path.endswith(".pt2"):
        program = torch.export.load(path)
        program.validate()
        return program.module()
    return torch.jit.load(path)


def shape_of(value):
    if isinstance(value, torch.Tensor):
        return "T"
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return "I"
    if isinstance(value, dict):
        return {k: shape_of(v) for k, v in value.items()}
    if hasattr(value, "_fields"):
        return {k: shape_of(v) for k, v in zip(value._fields, value)}
    return type(value)(shape_of(v) for v in value)


def compare(name, got, wanted):
    if not isinstance(wanted, torch.Tensor):
        assert got == wanted, f"{name}: {got} instead of {wanted}"
        return
    assert got.dtype == wanted.dtype, f"{name}: {got.dtype} instead of {wanted.dtype}"
    assert got.shape == wanted.shape, f"{name}: {got.shape} instead of {wanted.shape}"
    assert torch.equal(got, wanted), f"{name}: differs by {(got.double() - wanted.double()).abs().max().item()}"


def check(path, expected, structure):
    structure = ast.literal_eval(structure) if structure else None
    module = load(path)
    calls = torch.load(expected, weights_only=False)
    assert calls, "nothing to compare"
    for index, (arguments, keywords, outputs) in enumerate(calls):
        with torch.no_grad():
            result = module(*arguments, **keywords)
        if structure is not None:
            assert shape_of(result) == structure, f"returns {shape_of(result)} instead of {structure}"
        leaves = pytree.tree_leaves(result)
        assert len(leaves) == len(outputs), f"{len(leaves)} outputs instead of {len(outputs)}"
        for i, (got, wanted) in enumerate(zip(leaves, outputs)):
            compare(f"call {index}, output {i}", got, wanted)
    return f"equal: {len(calls)} calls of {path}"


def main():
    torch.set_num_threads(1)
    for line in sys.stdin:
        try:
            said = check(*line.rstrip("\n").split("\t"))
        except Exception as error:  # the answer to this file alone
            said = f"{type(error).__name__}: {error}".replace("\n", " ")
        print(said, flush=True)


if __name__ == "__main__":
    main()
