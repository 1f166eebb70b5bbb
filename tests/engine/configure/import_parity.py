# SPDX-License-Identifier: Apache-2.0
"""JSON dumps of torch.ao's QConfigMapping and BackendConfig, made as users make them, read back by this program."""
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
import torch
import torch.ao.quantization as tq
import torch.ao.quantization.backend_config.utils

sys.path.insert(0, os.path.join(os.environ["QUANTSCOPE_SOURCE"], "resources", "backends"))
import make_backends
import oracle_fields
from oracle_fields import DUMP, compare, default_mappings, ours

FOLDER = tempfile.TemporaryDirectory()


def written(document, name="dump.json", default=str):
    path = os.path.join(FOLDER.name, name)
    with open(path, "w") as file:
        json.dump(document, file, default=default)
    return path


def refused(document, *words, verb="recipe"):
    done = subprocess.run([DUMP, verb, written(document)], capture_output=True, text=True, check=False)
    line = done.stderr.splitlines()[-1] if done.stderr else ""
    assert done.returncode == 1 and line.count("\n") == 0, (document, done)
    for word in words:
        assert word in line, f"'{word}' is not in: {line}"


def plain_name(obj):
    """A hand-made variant: dotted names instead of what Python prints, inner modules and all."""
    if isinstance(obj, type) or callable(obj):
        module = getattr(obj, "__module__", None)
        public = make_backends.type_name(obj)
        inner = f"{module}.{obj.__qualname__}" if isinstance(obj, type) else public
        return inner if isinstance(obj, type) else public
    return str(obj)


def rules_of(path):
    """(kind, key) to rule; the last one of a key wins, as in a Python dict."""
    document = ours("recipe", path)
    return {(r["kind"], r["key"]): r for r in document["rules"]}, document["recipe"]


def check_mapping(name, mapping, default, globally=None):
    rules, recipe = rules_of(written(mapping.to_dict(), default=default))
    if mapping.global_qconfig is None:
        assert recipe["mapping"].get("global") is None
    else:
        compare(f"{name}.global", rules["global", ""]["qconfig"], mapping.global_qconfig)
    theirs = {("object_type", make_backends.type_name(k)): v for k, v in mapping.object_type_qconfigs.items()}
    theirs.update({("module_name_regex", k): v for k, v in mapping.module_name_regex_qconfigs.items()})
    theirs.update({("module_name", k): v for k, v in mapping.module_name_qconfigs.items()})
    theirs.update({("module_name_object_type_order", k[0]): v
                   for k, v in mapping.module_name_object_type_order_qconfigs.items()})
    assert {k for k in rules if k[0] != "global"} == set(theirs), (name, set(rules) ^ set(theirs))
    for key, qconfig in theirs.items():
        if qconfig is None:
            assert rules[key]["qconfig"] is None, key
        else:
            compare(f"{name}.{key}", rules[key]["qconfig"], qconfig)
    if globally:
        assert recipe["mapping"]["global"] == globally, recipe["mapping"]
        assert recipe["qconfigs"] == {} or globally not in recipe["qconfigs"]
    return recipe


def mappings():
    count = 0
    for name, mapping in default_mappings().items():
        for default in (str, repr):
            recipe = check_mapping(name, mapping, default)
            # Equal default mappings have several names; the first is taken.
            first = recipe["mapping"]["global"]
            assert first == name or default_mappings()[first].to_dict().keys() and first[:3] in ("x86", "qnn", "one", "fbg"), name
            assert recipe["mapping"]["object_type"] == [], (name, recipe["mapping"]["object_type"])
            count += 1
    own = tq.QConfigMapping().set_global(tq.get_default_qconfig("x86"))
    recipe = check_mapping("only global", own, str)
    assert recipe["mapping"]["global"] == "imported_1", "the name x86 would bring its default entries"
    own = (tq.get_default_qconfig_mapping("qnnpack").set_object_type(torch.nn.LayerNorm, None)
           .set_object_type(torch.nn.functional.relu, tq.default_dynamic_qconfig).set_object_type(torch.relu, None)
           .set_object_type(torch.add, None).set_object_type("view", tq.float16_static_qconfig)
           .set_module_name("head", tq.default_qat_qconfig_v2).set_module_name_regex("body.*", None)
           .set_module_name_object_type_order("body", torch.nn.functional.linear, 2, tq.default_per_channel_qconfig))
    recipe = check_mapping("own", own, str, "qnnpack")
    assert ["torch.nn.LayerNorm", None] in recipe["mapping"]["object_type"]
    assert recipe["mapping"]["module_name"] == [["head", "default_qat_v2"]]
    assert recipe["mapping"]["module_name_object_type_order"] == [
        ["body", "torch.nn.functional.linear", 2, "default_per_channel"]]
    odd = tq.QConfig(tq.HistogramObserver.with_args(bins=99).with_args(eps=0.5), tq.MinMaxObserver)
    recipe = check_mapping("odd", tq.QConfigMapping().set_module_name("a", odd).set_module_name("b", odd), repr)
    assert recipe["mapping"]["module_name"] == [["a", "imported_1"], ["b", "imported_1"]]
    return count + 4


def inside_a_recipe():
    """Under "mapping" of a recipe, and with the hand-made forms."""
    dump = json.loads(json.dumps(tq.get_default_qconfig_mapping("fbgemm").to_dict(), default=str))
    taken = {"imported_1": {"activation": {"observer": "minmax"}, "weight": {"observer": "minmax", "dtype": "qint8"}}}
    dump["module_name"] = [["a", ["HistogramObserver.with_args(bins=77)", "torch.ao.quantization.observer.MinMaxObserver"]],
                           ["b", "torch.ao.quantization.default_dynamic_qconfig"], ["c", "per_channel_dynamic"],
                           ["d", {"activation": {"observer": "minmax"}, "weight": {"observer": "minmax", "dtype": "qint8"}}],
                           ["e", "QConfig(activation=<class 'torch.ao.quantization.observer.NoopObserver'>, weight=None)"],
                           ["f", None]]
    document = {"format": "quantscope.recipe", "version": 1, "backend": "fbgemm", "qconfigs": taken, "mapping": dump}
    rules, recipe = rules_of(written(document))
    assert recipe["backend"] == "fbgemm" and recipe["mapping"]["global"] == "x86"  # equal; the first name
    names = dict(recipe["mapping"]["module_name"])
    assert names["b"] == "default_dynamic" and names["c"] == "per_channel_dynamic" and names["f"] is None
    assert names["a"] not in taken and rules["module_name", "a"]["qconfig"]["activation"]["bins"] == 77
    assert rules["module_name", "e"]["qconfig"]["activation"]["observer"] == "noop"
    assert rules["module_name", "e"]["qconfig"]["weight"]["observer"] == "identity"
    # The written recipe reads back to itself.
    again = ours("recipe", written(recipe))
    assert again["recipe"] == recipe
    as_dicts = {"": None, "object_type": {"torch.nn.modules.conv.Conv2d": "default"}, "module_name": {"a": None}}
    rules, recipe = rules_of(written(as_dicts))
    assert recipe["mapping"]["object_type"] == [["torch.nn.Conv2d", "default"]]


def refusals():
    pair = ["<class 'torch.ao.quantization.observer.MinMaxObserver'>"] * 2
    refused({"": ["<class 'my.Observer'>", pair[0]]}, "unknown observer class 'my.Observer'")
    refused({"": ["<class 'torch.ao.quantization.observer.MinMaxObservr'>", pair[0]]}, "did you mean 'MinMaxObserver'")
    refused({"": ["functools.partial(<class 'x", pair[0]]}, "cannot be read", "'>' is missing")
    refused({"": pair, "object_types": []}, "unknown key 'object_types'", "object_type")
    refused({"": "default_qconfg"}, "unknown qconfig", "did you mean 'default_qconfig'")
    refused({"": pair, "module_name": [["a"]]}, "module_name[0]", "[key, qconfig]")
    refused({"": ["functools.partial(<class 'torch.ao.quantization.observer.MinMaxObserver'>, bins=4){}", pair[0]]},
            "unknown key 'bins'")
    refused({"": pair, "object_type": [["<function boolean_dispatch.<locals>.fn at 0x7f>", None]]},
            "Python prints several functions", "torch.nn.functional.max_pool2d")


def normal(backend):
    return [{**entry, "pattern": entry.get("pattern")} for entry in backend["patterns"]]


def backends():
    count = 0
    for name in make_backends.BACKENDS:
        module = importlib.import_module(f"torch.ao.quantization.backend_config.{name}")
        config = getattr(module, f"get_{name}_backend_config")()
        shipped = ours("backend", name)
        for how in (str, repr):
            read = ours("backend", written(config.to_dict(), default=how))
            assert read["name"] == name and read["default_qconfig"] == shipped["default_qconfig"]
            assert len(read["patterns"]) == len(shipped["patterns"])
            for mine, theirs in zip(read["patterns"], shipped["patterns"]):
                assert mine == theirs, f"{name}: {mine} is not {theirs}"
                count += 1
    return count


def a_backend_by_hand():
    entry = {"pattern": ["torch.nn.modules.conv.Conv2d", "torch.nn.modules.activation.ReLU"],
             "observation_type": "OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT", "root_node_getter": "<function f at 0x1>",
             "dtype_configs": [{"input_dtype": "torch.quint8", "is_dynamic": None, "weight_dtype": {
                 "dtype": "torch.qint8", "quant_min_lower_bound": -127, "quant_max_upper_bound": 127,
                 "scale_exact_match": None}}],
             "fused_module": "torch.ao.nn.intrinsic.modules.fused.ConvReLU2d", "fuser_method": "my_fuser",
             "reference_quantized_module": None}
    own = {"pattern": "<class 'models.Head'>", "observation_type": "<ObservationType.INPUT_OUTPUT_NOT_OBSERVED: 2>",
           "dtype_configs": [{}]}
    read = ours("backend", written({"name": "", "configs": [entry, own]}))
    assert read["name"] == "imported" and "default_qconfig" not in read
    conv = read["patterns"][0]
    assert conv["pattern"] == ["torch.nn.Conv2d", "torch.nn.ReLU"] and conv["fuser_method"] == "my_fuser"
    assert conv["fused_module"] == "torch.ao.nn.intrinsic.ConvReLU2d"
    assert conv["dtype_configs"] == [{"input_dtype": "quint8", "weight_dtype": {
        "dtype": "qint8", "quant_min_lower_bound": -127, "quant_max_upper_bound": 127}}]
    assert read["patterns"][1]["pattern"] == ["models.Head"]
    assert read["patterns"][1]["observation_type"] == "input_output_not_observed"
    refused({"configs": [{**own, "dtype_configs": [{"input_dtype": "DTypeWithConstraints(dtype=torch.quint8"}]}]},
            "configs[0].dtype_configs[0].input_dtype", "cannot be read", verb="backend")
    refused({"configs": [{**own, "observation_type": "ObservationType.SHARE"}]}, "unknown observation type",
            verb="backend")
    refused({"configs": [{**own, "patern": 1}]}, "unknown key 'patern'", "'pattern'", verb="backend")


n_mappings = mappings()
inside_a_recipe()
refusals()
n_entries = backends()
a_backend_by_hand()
assert n_mappings >= 30 and n_entries > 2000 and oracle_fields.checked > 3000
print(f"{n_mappings} dumped mappings with {oracle_fields.checked} observer fields and {n_entries} dumped backend entries "
      f"equal torch.ao {torch.__version__}")
