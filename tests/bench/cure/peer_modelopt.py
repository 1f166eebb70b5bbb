# SPDX-License-Identifier: Apache-2.0
"""`tune` beside auto_quantize of nvidia-modelopt, which scores layers by gradients and chooses the float ones by a linear program.

modelopt quantizes inputs and weights of linears and convolutions and nothing else; ours also what lies between, as backend x86 does. modelopt takes no
goal: effective bits go up from 8 until its outputs are as near to the float ones as ours are, on the samples that neither has seen. As its loss
is one of the outputs themselves, not of labels, it gets random signs times the outputs over their size: their gradient says what noise does
to the outputs, while that of the squared error is zero in the float model."""
import contextlib
import copy
import io
import time

import peer_cases
import torch
from torch import nn

GOALS = {"digits": 38, "sequences": 38, "opt": 28, "resnet18": 25, "minilm": 20}
NETWORKS = tuple(GOALS)
BITS = [8.0, *(8 + 0.1 * step for step in range(1, 20)), *(10 + 0.5 * step for step in range(12)), 15.99]


def version():
    import modelopt
    import modelopt.torch.quantization  # noqa: F401

    return f"nvidia-modelopt {modelopt.__version__}"


def searched(case, bits, checkpoint):
    import modelopt.torch.quantization as mtq

    generator = torch.Generator().manual_seed(1)

    def loss(output, _):
        signs = (torch.randint(0, 2, value.shape, generator=generator) * 2 - 1 for value in peer_cases.leaves(output))
        found = [value for value in torch.utils._pytree.tree_leaves(output) if isinstance(value, torch.Tensor) and value.is_floating_point()]
        return sum((value * sign).sum() / value.detach().norm() for value, sign in zip(found, signs))

    with contextlib.redirect_stdout(io.StringIO()):
        made, _ = mtq.auto_quantize(copy.deepcopy(case.module), constraints={"effective_bits": bits}, quantization_formats=[mtq.INT8_DEFAULT_CFG],
                                    data_loader=case.seen, forward_step=lambda model, call: model(*call), loss_func=loss,
                                    num_calib_steps=len(case.seen), num_score_steps=len(case.seen), checkpoint=str(checkpoint))
    return made.eval()  # it is left in training


def int8_share(case, made):
    macs = case.macs()
    held = sum(macs.get(name, 0) for name, module in made.named_modules()
               if isinstance(module, (nn.Linear, nn.Conv2d)) and getattr(module, "input_quantizer", None) is not None
               and module.input_quantizer.is_enabled and module.weight_quantizer.is_enabled)
    return held / case.all_macs()


def bench(program, case):
    goal = GOALS.get(case.name, 20)
    ours = peer_cases.tuned(program, case, goal, "--keep-int8", 0)
    checkpoint = case.folder / f"{case.name}.modelopt.pth"
    checkpoint.unlink(missing_ok=True)
    start = time.perf_counter()
    for bits in BITS:
        made = searched(case, bits, checkpoint)
        theirs, share = case.db(made), int8_share(case, made)
        if bits == BITS[0]:
            plain = theirs
        if theirs >= ours.db:
            break
    seconds = time.perf_counter() - start
    row = {"goal": goal, "ours": ours.db, "float %": 100 - 100 * ours.share, "s": ours.seconds, "cures": ours.cures, "all int8 there": plain,
           "modelopt": theirs, "its float %": 100 - 100 * share, "its s": seconds}
    missed = [] if ours.reached else [f"{goal} dB are not reached by ours"]
    if theirs >= ours.db and ours.share < share - 1e-3:
        missed.append(f"ours makes {100 - 100 * ours.share:.2f} % float, modelopt {100 - 100 * share:.2f} %")
    return row, missed
