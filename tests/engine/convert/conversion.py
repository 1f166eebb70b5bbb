# SPDX-License-Identifier: Apache-2.0
"""Small networks converted by torch.ao and by Quantscope from the same recipe: what both compute, and how they agree."""
import copy
import dataclasses
import json
import os
import subprocess
import sys
import pathlib
import warnings

import numpy as np
import torch
from torch.ao.quantization import ObserverBase
from torch.ao.quantization.quantize_fx import convert_fx, convert_to_reference_fx, prepare_fx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "oracle"))
import oracle  # noqa: E402

WANTED_DB = 60.0


@dataclasses.dataclass
class Network:
    """One network with its example input, and the decisions on both sides."""

    name: str
    model: torch.nn.Module
    inputs: tuple
    mapping: object  # torch.ao's QConfigMapping
    recipe: dict  # Quantscope's
    backend: object = None  # torch.ao's BackendConfig
    engine: str = "x86"
    kept: str = ""  # part of the reason why torch.ao's kernel is refused and the reference form kept
    may_keep: str = ""  # the same where it depends on the machine; nearer to float than torch.ao's then
    against_float: bool = False  # the forms differ from torch.ao's on purpose: ours must be as near to float
    as_reference: bool = False  # the lowered form differs from torch.ao's on purpose: it computes what the reference form does
    lowered_ops: tuple = ()  # operators that must be there after lowering
    no_ops: tuple = ()  # operators that must not


def flat(outputs):
    if isinstance(outputs, torch.Tensor):
        return outputs.detach().float().numpy().reshape(-1)
    return np.concatenate([flat(output) for output in outputs])


def ask(network):
    """torch.ao: outputs of both forms and how many observers stand in the prepared graph."""
    warnings.simplefilter("ignore")
    torch.backends.quantized.engine = network.engine
    with torch.no_grad():
        prepared = prepare_fx(copy.deepcopy(network.model), network.mapping, network.inputs, backend_config=network.backend)
        modules = dict(prepared.named_modules(remove_duplicate=False))
        observers = set()
        for node in prepared.graph.nodes:
            if node.op == "call_module" and isinstance(modules[node.target], ObserverBase):
                observer = modules[node.target]
                functional_weight = node.args[0].op == "get_attr" and observer.dtype in (torch.qint8, torch.float16)
                if not functional_weight:
                    observers.add(id(observer))
        prepared(*network.inputs)
        answer = {"observers": len(observers)}
        for form, convert in (("reference", convert_to_reference_fx), ("lowered", convert_fx)):
            try:
                converted = convert(copy.deepcopy(prepared), backend_config=network.backend)
                answer[form] = flat(converted(*network.inputs))
            except Exception as problem:  # torch.ao's own may not convert, or not run
                answer[form] = None
                answer[form + "_error"] = str(problem).splitlines()[0]
        answer["float"] = flat(network.model(*network.inputs))
    return answer


def write(network, folder):
    """The files of one conversion; returns the line for convert_dump."""
    place = folder / network.name
    place.mkdir()
    torch.export.save(torch.export.export(network.model, network.inputs), place / "model.pt2")
    torch.save([network.inputs], place / "data.pt")
    recipe = {"format": "quantscope.recipe", "version": 1, "calibration": {"batch_size": 8, "batches": 1}, **network.recipe}
    (place / "recipe.json").write_text(json.dumps(recipe))
    return f"{place}/model.pt2 {place}/recipe.json {place}/data.pt {place}/data.pt {place}/out.pt"


def convert_all(dump, networks, folder):
    """Quantscope's side of all networks, in one process."""
    lines = [write(network, folder) for network in networks]
    (folder / "lines").write_text("\n".join(lines) + "\n")
    env = {**os.environ, "OMP_NUM_THREADS": str(torch.get_num_threads())}
    done = subprocess.run([dump, f"@{folder}/lines"], capture_output=True, text=True, env=env, timeout=1200)
    if done.returncode:
        raise RuntimeError(f"convert_dump: {done.stderr}")


def kernel_is_wrong(residue, mine, theirs):
    """On this processor a kernel computes something else: the check kept it out of our lowered form, and torch.ao's is clearly the
    worse for it (by 3 dB and more)."""
    return any("kernel check" in line for line in residue) and mine > theirs + 3


def compare(network, folder):
    """(problems, facts) for one network."""
    place = folder / network.name
    if (place / "out.pt.error").exists():
        return [(place / "out.pt.error").read_text()], []
    ours = torch.load(place / "out.pt", weights_only=False)
    try:
        wanted = ask(network)
    except Exception as problem:
        return [f"torch.ao: {str(problem).splitlines()[0]}"], []
    problems, facts = [], []
    if ours["activation_observers"] != wanted["observers"]:
        problems.append(f"{ours['activation_observers']} observers, torch.ao has {wanted['observers']}")
    residue = ours["residue"].splitlines()
    for form in ("reference", "lowered"):
        if wanted[form] is None:
            facts.append(f"{form}: torch.ao's fails ({wanted[form + '_error'][:60]})")
            continue
        made = flat(ours[form])
        equal = made.shape == wanted[form].shape and np.array_equal(made, wanted[form])
        between = oracle.sqnr_db(wanted[form], made) if made.shape == wanted[form].shape else -200.0
        facts.append(f"{form} equal" if equal else f"{form} {between:.1f} dB")
        mine, theirs = (oracle.sqnr_db(wanted["float"], value) for value in (made, wanted[form]))
        near = network.against_float or (form == "lowered" and network.may_keep and any(network.may_keep in line for line in residue))
        excused = (near and mine > theirs - 0.5) or (form == "lowered" and network.kept and any(network.kept in line for line in residue))
        if form == "lowered":
            excused = excused or kernel_is_wrong(residue, mine, theirs)
            if network.as_reference:
                excused = excused or mine > oracle.sqnr_db(wanted["float"], flat(ours["reference"])) - 0.5
        if between < WANTED_DB and not excused:
            problems.append(f"{form}: {between:.1f} dB from torch.ao's (against float {mine:.2f}, torch.ao {theirs:.2f} dB)")
    if network.kept and not any(network.kept in line for line in residue):
        problems.append(f"expected to stay in reference form for '{network.kept}', residue: {residue}")
    targets = set(ours["lowered_ops"].split())
    problems += [f"no {target} after lowering; residue: {residue}" for target in network.lowered_ops if target not in targets]
    problems += [f"{target} after lowering" for target in network.no_ops if target in targets]
    if residue:
        facts.append(f"residue {residue}")
    return problems, facts


def run(dump, networks, folder):
    """Converts and compares all; prints one line each; returns the number of failures."""
    torch.set_num_threads(2)
    convert_all(dump, networks, folder)
    failed = 0
    for network in networks:
        problems, facts = compare(network, folder)
        failed += bool(problems)
        print(f"{'FAIL' if problems else 'ok  '} {network.name}: {', '.join(facts)}", flush=True)
        for problem in problems:
            print("    ", problem, flush=True)
    print(f"{len(networks) - failed} of {len(networks)} networks agree")
    return failed
