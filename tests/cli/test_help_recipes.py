# SPDX-License-Identifier: Apache-2.0
"""Every recipe in the help and the README runs, with --strict: blocks, and fragments in a sentence such as `"calibration": {...}`, which
are made whole. What the pages' commands do is held by test_documents.py."""
import json
import re

import torch
from harness import SOURCE, export_model, main, run, run_good, write_recipe
from pages import blocks
from torch import nn
from torch.ao.quantization import qconfig, qconfig_mapping

SAMPLE = SOURCE / "resources" / "samples" / "digits.pt2"
DATA = SOURCE / "resources" / "samples" / "calib.npz"
PAGES = [SOURCE / "README.md", *sorted((SOURCE / "resources" / "help").rglob("*.md"))]
HELP = SOURCE / "resources" / "help"
GENERATED = {"recipe": "recipe-keys.md", "backend": "backend-file.md", "lowering": "lowering-rows.md"}
TERMS = ("prepare_fx convert_fx convert_to_reference_fx prepare_qat_fx PrepareCustomConfig non_traceable_module_name from_observed "
         "STATIC_LOWER_FUSED_MODULE_MAP _lower_to_native_backend qconfig_map node_name_to_scope march qconfig_setter fx_wrap FloatFunctional "
         "hybrid DeQuantStub X86InductorQuantizer").split()
PLACES = {"mapping": {"global", "object_type", "module_name_regex", "module_name", "module_name_object_type_order", "node", "edge"},
          "prepare": {"custom_modules", "unfuse"}}
WHOLE = {"format", "version", "backend", "qconfigs", "mapping", "prepare", "convert", "calibration", "edits", "cures", "limits"}
PLACEHOLDER = re.compile(r"\[names\]|ADDRESS|\.\.\.|…")


def fragments(text):
    """What a page shows of a recipe within a sentence; rules that a line shows side by side are one."""
    for line in text.splitlines():
        rules = {}
        for code in re.findall(r"`([^`\n]+)`", line):
            if PLACEHOLDER.search(code) or not re.match(r'\{|"[a-z_]+": ', code):
                continue
            part = json.loads(code if code.startswith("{") else "{" + code + "}")
            if set(part) <= PLACES["mapping"]:
                rules.update(part)
            else:
                yield part
        if rules:
            yield rules


def whole(part):
    """A fragment in the place where a recipe has it; None for text that is not part of a recipe."""
    keys = set(part)
    if keys <= WHOLE:
        return part
    if keys <= PLACES["mapping"]:
        return {"mapping": {"global": "x86", **part}}
    return {"prepare": part} if keys <= PLACES["prepare"] else None


def shown():
    seen = []
    for page in PAGES:
        documents = [json.loads(block.text) for block in blocks(page) if "recipe" in block.flags and not block.file]
        for number, found in enumerate([*documents, *fragments(page.read_text(encoding="utf-8"))]):
            recipe = whole(found)
            if recipe and recipe not in seen:  # pages repeat each other
                seen.append(recipe)
                yield f"{page.relative_to(SOURCE)}:{number}", recipe


def test_recipes_of_the_help(folder):
    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.fc = nn.LSTM(4, 4), nn.Linear(4, 2)

        def forward(self, x):
            return self.fc(self.lstm(x)[0])

    recurrent = folder / "m.pt2", folder / "d.pt"
    export_model(Recurrent(), (torch.randn(5, 3, 4),), recurrent[0], dynamic=False)
    torch.save([torch.randn(5, 3, 4) for _ in range(3)], recurrent[1])
    recipes = list(shown())
    assert len(recipes) >= 7 and any("qconfigs" in recipe for _, recipe in recipes), recipes
    for place, recipe in recipes:
        keys = {key: value for key, value in recipe.items() if key not in ("format", "version")}
        file = write_recipe(folder, **keys)
        model, data = recurrent if "torch.nn.LSTM" in json.dumps(recipe) else (SAMPLE, DATA)
        done = run("quantize", model, "--data", data, "--recipe", file, "--device", "cpu", "--export", "none", "--strict", "--out",
                   folder / "out", "--json")
        lines = done.stderr.splitlines()
        assert done.returncode == 0, f"{place}: {recipe}\n{done.stderr}"
        assert not [line for line in lines if "warning" in line], f"{place}: {lines}"
        coverage = json.loads(done.stdout)["coverage"]
        assert coverage["quantized"] > 0, (place, coverage)


def test_pages_are_those_of_the_tables(folder):
    """Written by `quantscope keys DOCUMENT --page` from the tables that the readers check by."""
    for document, name in GENERATED.items():
        made = run_good("keys", document, "--page")
        assert (HELP / name).read_text(encoding="utf-8") == made, f"write it anew: quantscope keys {document} --page > resources/help/{name}"


def test_presets_are_called_so_in_torch(_folder):
    """Each name that the page gives for a preset is one of torch.ao's, and each kind of edit is explained."""
    text = (HELP / "recipe-keys.md").read_text(encoding="utf-8")
    names = re.findall(r"^\| `\w+`\*? \| `([\w(\"=, )]+)` \|$", text.split("## Presets")[1].split("\n## ")[0], re.MULTILINE)
    assert len(names) > 30, names
    for name in names:
        assert eval(name, {**vars(qconfig), **vars(qconfig_mapping)}), name  # noqa: S307
    edits = text.split("## `edits[0]`")[1].splitlines()
    assert not [line for line in edits if line.startswith("|") and line.endswith("|  |")], edits


def test_files_to_save_are_named(_folder):
    """An info string is not shown: the paragraph before a file says what to save it as."""
    for page in PAGES:
        lines = page.read_text(encoding="utf-8").splitlines()
        for block in blocks(page):
            before = next(line for line in reversed(lines[:block.line - 1]) if line.strip())
            assert not block.file or f"`{block.file}`" in before, block.place


def test_terms_have_their_counterpart(folder):
    """Each term that readers come with is found on the page; what it says of functional modules and stubs is so."""
    text = (HELP / "coming-from-torch-ao.md").read_text(encoding="utf-8")
    for term in TERMS:
        assert re.search(rf"^\| [^|]*`[\w.]*{term}", text, re.MULTILINE), term

    class Functional(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.sum = nn.Conv2d(3, 4, 1), nn.Conv2d(3, 4, 1), torch.ao.nn.quantized.FloatFunctional()
            self.out = torch.ao.quantization.DeQuantStub()

        def forward(self, x):
            return self.out(self.sum.add(self.a(x), self.b(x)))

    export_model(Functional(), (torch.randn(2, 3, 4, 4),), folder / "m.pt2")
    done = run("plan", folder / "m.pt2", "--json")
    nodes = json.loads(done.stdout)["nodes"]
    assert done.returncode == 0 and all(node["quantized"] for node in nodes if "add" in node["op"] or "conv2d" in node["op"]), nodes


def test_a_rule_without_effect_is_found(folder):
    """What the user wrote and what was lost: the same recipe with a rule for what is fused."""
    for rules in ([["stem.bn", None]], [["stem.conv", "x86"], ["stem.relu", None]]):
        file = write_recipe(folder, backend="x86", mapping={"global": "x86", "module_name": rules})
        done = run("quantize", SAMPLE, "--data", DATA, "--recipe", file, "--export", "none", "--strict", "--out", folder / "out")
        assert done.returncode == 1 and "has no effect" in done.stderr and "fused into" in done.stderr, done.stderr
    plan = run("plan", SAMPLE, "--recipe", write_recipe(folder, backend="x86", mapping={"global": "x86", "module_name": [["stem.bn", None]]}),
               "--json")
    node = next(node for node in json.loads(plan.stdout)["nodes"] if node["module"] == "stem.bn")
    assert node["quantized"] and [rule["key"] for rule in node["rule"]["overrides"]] == ["stem.bn"], node


def test_embeddings_are_not_meant(folder):
    """A qconfig for everything is not meant for what the backend quantizes by its weight alone; one by name is."""
    model = nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))
    export_model(model, (torch.randint(0, 20, (4, 5)),), folder / "m.pt2")
    torch.save([torch.randint(0, 20, (4, 5)) for _ in range(3)], folder / "d.pt")
    for mapping, code in (({"global": "x86"}, 0), ({"global": "x86", "object_type": [["torch.nn.Embedding", "x86"]]}, 1)):
        done = run("quantize", folder / "m.pt2", "--data", folder / "d.pt", "--recipe", write_recipe(folder, backend="x86", mapping=mapping),
                   "--device", "cpu", "--export", "none", "--strict", "--out", folder / "out")
        assert done.returncode == code and ("Embedding" in done.stderr) == bool(code), (mapping, done.stderr)


if __name__ == "__main__":
    main(__name__)
