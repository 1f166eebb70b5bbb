# SPDX-License-Identifier: Apache-2.0
"""The cure `smooth` beside torchao's SmoothQuant: linears alone in int8, weights by channel, values by tensor, static, ranges from min to max.

Both quantize every linear and smooth those that read a norm; torchao multiplies the linear's input at run time, ours changes the norm. torchao has one
exponent for all layers: the best of three on the seen samples counts. What it makes of all linears smoothed, and with ranges by token at
run time, stands beside it: ours has neither a multiplication nor a range at run time."""
import copy
import json
import time

import peer_cases
import torch
from torch import nn

NETWORKS = ("sequences", "opt", "opt_spread", "minilm")
WITHIN = 1.02  # our noise over theirs
EXPONENTS = (0.5, 0.65, 0.8)
RECIPE = {"format": "quantscope.recipe", "version": 1, "backend": "x86", "mapping": {"global": None, "object_type": [["torch.nn.Linear", "w8a8"]]},
          "qconfigs": {"w8a8": {"activation": {"observer": "minmax", "quant_min": 0, "quant_max": 255}, "result": "float",
                                "weight": {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric"}}}}


def version():
    import torchao
    import torchao.prototype.smoothquant  # noqa: F401

    return f"torchao {torchao.__version__}"


def read_norms(case):
    """Linears that get the very tensor that a norm returned."""
    results, found, hooks = [], set(), []

    def returned(_, __, output):
        results.append(output)

    def reads(name):
        def look(_, inputs):
            if any(inputs[0] is result for result in results):
                found.add(name)
        return look

    for name, module in case.module.named_modules():
        if isinstance(module, nn.LayerNorm):
            hooks.append(module.register_forward_hook(returned))
        if isinstance(module, nn.Linear):
            hooks.append(module.register_forward_pre_hook(reads(name)))
    case.wanted(case.seen[0])
    for hook in hooks:
        hook.remove()
    return found


def joined(inputs):
    """Calls of several lengths as one of the same rank: torchao joins what it has seen along the first dimension."""
    rows = torch.cat([value.flatten(0, -2) for value in inputs])
    return [rows.reshape([1] * (inputs[0].dim() - 2) + list(rows.shape))]


def smoothed(case, exponent, names, static=True):
    from torchao.prototype.smoothquant import SmoothQuantConfig
    from torchao.quantization import Int8DynamicActivationInt8WeightConfig, Int8StaticActivationInt8WeightConfig, PerRow, PerTensor, quantize_
    from torchao.quantization.quant_primitives import MappingType

    network = copy.deepcopy(case.module)
    linears = {name for name, module in network.named_modules() if isinstance(module, nn.Linear)}

    def base():
        if not static:
            return Int8DynamicActivationInt8WeightConfig(set_inductor_config=False)
        return Int8StaticActivationInt8WeightConfig(granularity=[PerTensor(), PerRow()], act_mapping_type=MappingType.ASYMMETRIC, set_inductor_config=False)

    def each(step):
        for chosen, alpha in ((names, exponent), (linears - names, None)):
            quantize_(network, SmoothQuantConfig(base_config=base(), step=step, alpha=alpha), lambda _, name, chosen=chosen: name in chosen)

    each("prepare")
    with torch.no_grad():
        for call in case.seen:
            network(*call)
        for module in network.modules():
            if hasattr(module, "obs"):
                module.obs.inputs = joined(module.obs.inputs)
        each("convert")
    return network


def bench(program, case):
    recipe = case.folder / "w8a8.json"
    recipe.write_text(json.dumps(RECIPE))
    plain = case.db(peer_cases.quantized(program, case, recipe))
    ours = peer_cases.tuned(program, case, 80, "--recipe", recipe, "--allow", "smooth")
    start = time.perf_counter()
    names = read_norms(case)
    tried = {exponent: smoothed(case, exponent, names) for exponent in EXPONENTS}
    best = max(tried, key=lambda exponent: case.db(tried[exponent], "seen"))
    seconds = time.perf_counter() - start
    theirs = case.db(tried[best])
    everywhere = {name for name, module in case.module.named_modules() if isinstance(module, nn.Linear)}
    row = {"plain": plain, "ours": ours.db, "smoothed": ours.cures.get("smooth", 0), "s": ours.seconds, "torchao": theirs, "exponent": best,
           "plain there": case.db(smoothed(case, None, set())), "all linears": case.db(smoothed(case, best, everywhere)),
           "by token": case.db(smoothed(case, best, everywhere, static=False)), "their s": seconds}
    missed = [] if 10 ** ((theirs - ours.db) / 10) <= WITHIN else [f"our noise is {10 ** ((theirs - ours.db) / 10):.2f} times torchao's, at most {WITHIN}"]
    return row, missed
