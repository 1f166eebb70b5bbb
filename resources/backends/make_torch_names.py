#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes torch_names.txt from the pinned PyTorch: what patterns and rules may name, and how Python prints each.

make_torch_names.py [FILE]. A line is a name as users write it, a tab, and what `str()` makes of the object, without its
address. Several modules hold the same object: it is listed under the first of MODULES. A tensor method is a bare word.
"""
import importlib
import inspect
import pathlib
import re
import sys
import warnings

warnings.filterwarnings("ignore")
import torch
import torch.ao.quantization.utils

# As in make_backends.py: the module users write first comes first.
MODULES = ["torch.nn", "torch.nn.functional", "torch", "operator", "builtins", "torch.ao.nn.intrinsic",
           "torch.ao.nn.intrinsic.qat", "torch.ao.nn.intrinsic.quantized",
           "torch.ao.nn.intrinsic.quantized.dynamic", "torch.ao.nn.qat", "torch.ao.nn.qat.dynamic",
           "torch.ao.nn.quantizable", "torch.ao.nn.quantized", "torch.ao.nn.quantized.dynamic",
           "torch.ao.nn.quantized.reference", "torch.ao.quantization.fuser_method_mappings",
           "torch.ao.quantization.backend_config.onednn"]


# Method names in torch.ao's backends and default mappings that tensors do not have.
EXTRA_WORDS = ["hardsigmoid", "hardsigmoid_", "leaky_relu"]


def printed(value):
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))


def is_wanted(module_name, key, value):
    if key.startswith("__") or not callable(value) or inspect.ismodule(value):
        return False
    if module_name in ("torch", "builtins", "operator") and inspect.isclass(value):
        return False
    if module_name == "builtins":
        return key in ("getattr", "round", "sum", "max", "min")
    if getattr(value, "__module__", "") in ("typing", "functools", "collections.abc"):
        return False
    if inspect.isclass(value):
        return issubclass(value, torch.nn.Module)
    # Private functions matter only among fusers.
    if module_name.startswith("torch.ao.quantization"):
        return "fuse" in key and key != "get_fuser_method"
    return not key.startswith("_")


def names():
    seen, lines = set(), []
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for key in sorted(vars(module)):
            value = getattr(module, key, None)
            if is_wanted(module_name, key, value) and id(value) not in seen:
                seen.add(id(value))
                lines.append(f"{module_name}.{key}\t{printed(value)}")
    methods = [key for key in dir(torch.Tensor) if not key.startswith("_")]
    lines += [f"{key}\t{printed(getattr(torch.Tensor, key))}" for key in methods]
    lines += EXTRA_WORDS
    lines.append(f"*\t{printed(torch.ao.quantization.utils.MatchAllNode)}")
    return lines


def text():
    return "\n".join(names()) + "\n"


def main():
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("torch_names.txt")
    path.write_text(text())


if __name__ == "__main__":
    main()
