# SPDX-License-Identifier: Apache-2.0
"""The plan against torch.ao's prepare_fx over networks and recipes: plan_matrix.py PLAN_DUMP [--quick] [NETWORK[/RECIPE] ...].

Exits 1 where a pair differs, or where fewer were compared than asked for (`verdict`).

The same observed values, in the same order, with the same observers and the same sharing; the same modules with quantized
weights. Values are compared, not names. Each network runs in a process of its own.
"""
import json
import multiprocessing
import operator
import os
import pathlib
import subprocess
import sys
import tempfile
import traceback
import warnings

import torch
import torch.ao.quantization as tq
from torch.ao.quantization import observer as ob
from torch.ao.quantization.backend_config import (get_fbgemm_backend_config, get_native_backend_config,
                                                  get_onednn_backend_config, get_qnnpack_backend_config)
from torch.ao.quantization.backend_config.x86 import get_x86_backend_config
from torch.ao.quantization.quantize_fx import prepare_fx

import families

KIND = {"HistogramObserver": "histogram", "MinMaxObserver": "minmax", "FixedQParamsObserver": "fixed_qparams",
        "PerChannelMinMaxObserver": "per_channel_minmax", "PlaceholderObserver": "placeholder"}
PLACEHOLDER = {"observer": "placeholder", "dtype": "float32"}
WEIGHT = {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric"}
QUICK = ["torchvision.mobilenet_v3_small/qnnpack", "timm.ghostnet_050/minmax"]


def everywhere(qconfig):
    return tq.QConfigMapping().set_global(qconfig)


def defaults(name, backend):
    return lambda: (tq.get_default_qconfig_mapping(name), backend(), {"backend": name})


def minmax():
    qconfig = tq.QConfig(activation=ob.MinMaxObserver.with_args(dtype=torch.quint8), weight=tq.default_weight_observer)
    own = {"activation": {"observer": "minmax", "dtype": "quint8"},
           "weight": {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"}}
    return everywhere(qconfig), get_x86_backend_config(), {"backend": "x86", "qconfigs": {"mm": own}, "mapping": {"global": "mm"}}


def preset(name, backend, backend_name):
    return lambda: (everywhere(getattr(tq, f"{name}_qconfig", None) or getattr(tq.qconfig, f"{name}_qconfig")), backend(),
                    {"backend": backend_name, "mapping": {"global": name}})


def weight_only():
    qconfig = tq.QConfig(activation=ob.PlaceholderObserver.with_args(dtype=torch.float), weight=ob.default_per_channel_weight_observer)
    return everywhere(qconfig), get_native_backend_config(), {
        "backend": "native", "qconfigs": {"wo": {"activation": PLACEHOLDER, "weight": WEIGHT}}, "mapping": {"global": "wo"}}


RECIPES = {
    "x86": defaults("x86", get_x86_backend_config),
    "qnnpack": defaults("qnnpack", get_qnnpack_backend_config),
    "onednn": defaults("onednn", get_onednn_backend_config),
    "fbgemm": defaults("fbgemm", get_fbgemm_backend_config),
    "qint8": preset("default_per_channel_symmetric_qnnpack", get_qnnpack_backend_config, "qnnpack"),
    "minmax": minmax,
    "dynamic": preset("default_dynamic", get_native_backend_config, "native"),
    "weight_only": weight_only,
    "fp16_dynamic": preset("float16_dynamic", get_native_backend_config, "native"),
    "fp16_static": preset("float16_static", get_native_backend_config, "native"),
}


class Site:
    """One observed value. `whole`: everybody reads it through this observer."""

    def __init__(self, instance, kind, dtype, value, whole, label):
        self.instance, self.kind, self.dtype, self.value, self.whole, self.label = instance, kind, dtype, value, whole, label

    def same(self, other):
        a, b = self.value, other.value
        return self.kind == other.kind and self.dtype == other.dtype and a.shape == b.shape \
            and bool((a - b).norm() <= 1e-3 * b.norm() + 1e-6)

    def __str__(self):
        return f"{self.label} ({self.kind}, {self.dtype}, {tuple(self.value.shape)})"


def theirs(model, example, mapping, backend):
    """(sites in graph order, number of stored tensors observed, paths of the modules with a quantized weight)."""
    prepared = prepare_fx(families.traced(model, example), mapping, (example,), backend_config=backend)
    modules = dict(prepared.named_modules(remove_duplicate=False))
    found, lists = {}, {}

    class Spy(torch.fx.Interpreter):
        def run_node(self, node):
            if node.op == "call_module" and isinstance(modules[node.target], ob.ObserverBase):
                value = self.fetch_args_kwargs_from_env(node)[0][0]
                found[node] = value.detach().clone()
                return value
            out = super().run_node(node)
            if isinstance(out, (tuple, list)):
                lists[node] = len(out)
            return out

    with torch.no_grad():
        Spy(prepared).run(example)
    order = {node: i for i, node in enumerate(prepared.graph.nodes)}

    def place(source):
        """Where the value is made; of a part of a list of results, where the list is."""
        if source.target is operator.getitem and isinstance(source.args[1], int) and source.args[0] in lists:
            return order[source.args[0]], source.args[1] % lists[source.args[0]]
        return order[source], 0

    sites, stored = [], 0
    for node, value in found.items():
        observer, source = modules[node.target], node.args[0]
        kind = KIND.get(type(observer).__name__, type(observer).__name__)
        if source.op == "get_attr":
            stored += 1
            continue
        # Whoever asks for a shape reads no value.
        whole = {user for user in source.users if user.target not in (getattr, "size", "dim")} == {node}
        site = Site(id(observer), kind, str(observer.dtype).removeprefix("torch."), value, whole, source.name)
        sites.append((place(source), kind, site))
    return [site for *_, site in sorted(sites, key=lambda s: s[:2])], stored


def ours(program, example, folder, recipe, dump):
    path = folder / "recipe.json"
    path.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, **recipe}))
    done = subprocess.run([dump, folder / "model.pt2", path], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    plan = json.loads(done.stdout)
    values = {}

    class Record(torch.fx.Interpreter):
        def run_node(self, node):
            out = super().run_node(node)
            if isinstance(out, torch.Tensor):
                values[node.name] = out.detach().clone()
            return out

    with torch.no_grad():
        Record(program.module()).run(example)
    order, kinds, classes = {}, {}, {}
    for i, node in enumerate(plan["nodes"]):
        classes[node["name"]] = node["module_class"]
        for j, name in enumerate(node["values"]):
            order[name], kinds[name] = (i, j), node["kind"]
            if node["kind"] == "input":
                values[name] = example
    sites, stored = [], 0
    for observer in plan["observers"]:
        spec = observer["spec"]
        for edge in observer["edges"]:
            name = edge["value"]
            if observer["weight_of"] and classes[observer["weight_of"]].startswith("torch.nn."):
                continue  # prepare_fx leaves the weights of modules to convert_fx
            if kinds[name] in ("parameter", "constant"):
                stored += 1
                continue
            if name not in values:
                continue  # made inside a region that the export's own graph spells in several operators
            sites.append((order[name], spec["observer"], Site(observer["id"], spec["observer"], spec["dtype"], values[name],
                                                              not edge["readers"], name)))
    return [site for *_, site in sorted(sites, key=lambda s: s[:2])], stored, plan


def partition(sites):
    first = {}
    return [first.setdefault(site.instance, len(first)) for site in sites]


def problems(our, their, our_stored, their_stored, plan):
    found, i, j = [], 0, 0
    pairs = []
    while i < len(our) or j < len(their):
        if i < len(our) and j < len(their) and our[i].same(their[j]):
            pairs.append((our[i], their[j]))
            i, j = i + 1, j + 1
        elif i < len(our) and any(our[i].same(site) for site in their[j:j + 6]):
            found.append(f"missing {their[j]}")
            j += 1
        elif i < len(our):
            found.append(f"unexpected {our[i]}")
            i += 1
        else:
            found.append(f"missing {their[j]}")
            j += 1
    for a, b in pairs:
        if a.whole != b.whole:
            found.append(f"{a}: read through it by {'all' if a.whole else 'some'}, in torch.ao by {'all' if b.whole else 'some'}")
    if partition([a for a, _ in pairs]) != partition([b for _, b in pairs]):
        mine, other = partition([a for a, _ in pairs]), partition([b for _, b in pairs])
        at = next(k for k in range(len(mine)) if mine[k] != other[k])
        found.append(f"sharing differs first at {pairs[at][0]}, with {pairs[mine.index(mine[at])][0].label}; "
                     f"torch.ao with {pairs[other.index(other[at])][0].label}")
    if our_stored != their_stored:
        found.append(f"{our_stored} stored tensors observed, in torch.ao {their_stored}")
    found += [f"{node['name']} has no reason" for node in plan["nodes"]
              if node["kind"] == "op" and not node["quantized"] and not node["reason"]]
    return found


def one(network, recipes, dump):
    """Prints a line a recipe; returns (pairs compared, pairs that differ)."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    compared = failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            model, example = families.make(network)
            program = torch.export.export(model, (example,))
            torch.export.save(program, folder / "model.pt2")
        except Exception as error:  # noqa: BLE001  whatever torch has against it
            print(f"--   {network}: cannot be exported: {str(error).splitlines()[0][:150]}", flush=True)
            return 0, 0
        for recipe in recipes:
            mapping, backend, document = RECIPES[recipe]()
            try:
                their, their_stored = theirs(model, example, mapping, backend)
            except Exception as error:  # noqa: BLE001
                print(f"--   {network}/{recipe}: torch.ao refuses it: {str(error).splitlines()[0][:150]}", flush=True)
                continue
            our, our_stored, plan = ours(program, example, folder, document, dump)
            compared += 1
            found = problems(our, their, our_stored, their_stored, plan)
            failed += bool(found)
            print(f"{'FAIL' if found else 'ok  '} {network}/{recipe}: {len(their)} observed values in "
                  f"{len(set(s.instance for s in their))} observers, {plan['quantized']} of {plan['total']} operators", flush=True)
            for text in found[:12]:
                print(f"       {text}", flush=True)
    return compared, failed


def guarded(arguments):
    try:
        return one(*arguments)
    except Exception:  # noqa: BLE001
        traceback.print_exc()
        print(f"FAIL {arguments[0]}: the comparison itself broke", flush=True)
        return 1, 1


def main():
    dump, named = sys.argv[1], [a for a in sys.argv[2:] if not a.startswith("--")]
    if "--quick" in sys.argv:
        named = QUICK
    wanted = {}
    for name in named or families.names():
        network, _, recipe = name.partition("/")
        wanted.setdefault(network, []).extend([recipe] if recipe else RECIPES)
    with multiprocessing.get_context("spawn").Pool(int(os.environ.get("PROCESSES", "1")), maxtasksperchild=1) as pool:
        results = list(pool.imap(guarded, [(network, recipes, dump) for network, recipes in wanted.items()]))
    compared, failed = (sum(column) for column in zip(*results))
    asked = sum(len(recipes) for recipes in wanted.values())
    print(f"{compared} of {asked} pairs compared, {failed} differ")
    sys.exit(verdict(asked, compared, failed, bool(named)))


def verdict(asked, compared, failed, by_name):
    """The exit code. Pairs asked for by name must all be compared; of all there are, torch may refuse a tenth."""
    return 1 if failed or not compared or asked - compared > (0 if by_name else asked // 10) else 0


if __name__ == "__main__":
    main()
