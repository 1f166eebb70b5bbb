# SPDX-License-Identifier: Apache-2.0
"""Projects, results and recipes of somebody else's that ask for more than such a document ever does."""

import json
import resource
import subprocess

from harness import PROGRAM, expect_bad, main, run, run_good, write_recipe
from models import residual


def within(seconds, *words):
    """A run that may take so much of the processor and two gigabytes."""

    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    process = subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=limits)
    out, errors = process.communicate(timeout=300)
    assert process.returncode >= 0, (words, process.returncode)
    return process.returncode, out, errors


def histories():
    """Changes that double a recipe, that nest it, that never end; steps without number."""
    grow = [{"op": "add", "path": "/calibration", "value": [1]}] + 40 * [{"op": "copy", "from": "/calibration", "path": "/calibration/-"}]
    deep = {"x": 0}
    for _ in range(50):
        deep = {"x": deep}
    place = "/prepare"
    nest = [{"op": "add", "path": place, "value": deep}]
    for _ in range(17):
        nest.append({"op": "copy", "from": "/prepare", "path": place + "/x"})
        place += "/x" * 50
    far = [{"op": "add", "path": "/prepare" + "/x" * n, "value": {}} for n in range(500)]
    return {"doubled": [{"text": "a", "change": grow}], "nested": [{"text": "a", "change": nest}], "deep path": [{"text": "a", "change": far}],
            "many": [{"text": "a", "change": []} for _ in range(50_000)], "no change": [{"text": "a", "change": [{"op": "move", "from": "/a", "path": "/b"}]}],
            "no list": [{"text": "a", "change": {"op": 3}}]}


def test_histories_that_grow(folder):
    """The project opens without its history."""
    _, model, data, _ = residual(folder)
    recipe = {"format": "quantscope.recipe", "version": 1, "backend": "x86", "mapping": {"global": "x86"}}
    for name, steps in histories().items():
        project = folder / "work.project.json"
        project.write_text(json.dumps({"format": "quantscope.project", "version": 1, "model": "residual.pt2", "data": str(data), "device": "cpu", "result": "",
                                       "recipe": recipe, "history": {"version": 1, "current": 0, "first": recipe, "steps": steps}}))
        code, out, errors = within(20, "plan", project)
        assert code == 0 and "coverage" not in errors and out, (name, code, errors[-300:])
        assert "history" in errors and "damaged" in errors and len(errors.splitlines()) == 1, (name, errors)
    run_good("plan", model)


def test_bins_without_number(folder):
    """A range that is tried for each bin has a bound; statistics of more bins tell of other ways to quantize all the same."""
    _, model, data, _ = residual(folder)
    words = ("quantize", model, "--data", data, "--device", "cpu", "--export", "none", "--out", folder / "out")
    observer = {"observer": "histogram", "dtype": "quint8", "qscheme": "per_tensor_affine", "bins": 1_000_000}
    weight = {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric"}
    for method in ("entropy", "mse"):
        recipe = write_recipe(folder, backend="x86", qconfigs={"z": {"activation": {**observer, "range": method}, "weight": weight}}, mapping={"global": "z"})
        expect_bad(*words, "--recipe", recipe, contains=("'bins' must be at most 32768", method, "qconfigs.z.activation"))
    few = write_recipe(folder, backend="x86", mapping={"global": "z"}, calibration={"batch_size": 8, "batches": 2},
                       qconfigs={"z": {"activation": {**observer, "bins": 200_000, "range": "percentile"}, "weight": weight}})
    code, _, errors = within(120, *words, "--recipe", few, "--alternatives")
    assert code == 0, errors
    told = json.loads((folder / "out" / "result.json").read_text())
    names = {one["name"] for node in told["nodes"] for one in (node.get("output") or {}).get("alternatives", [])}
    assert any("entropy" in name for name in names), names


def test_a_result_whose_parts_do_not_fit(folder):
    _, model, data, _ = residual(folder)
    out = folder / "out"
    run_good("quantize", model, "--data", data, "--device", "cpu", "--export", "torchscript", "--out", out)
    sound = json.loads((out / "result.json").read_text())
    changed = json.loads(json.dumps(sound))
    observed = changed["observations"][0]["node"]
    for node in changed["nodes"]:
        if node["name"] == observed:
            node["name"] = "another"
    (out / "result.json").write_text(json.dumps(changed))
    expect_bad("report", out, "--html", folder / "r.html", contains=(str(out / "result.json"), observed, "quantscope quantize"))
    changed = json.loads(json.dumps(sound))
    changed["exports"] = {"torchscript": "/dev/zero"}
    (out / "result.json").write_text(json.dumps(changed))
    code, _, errors = within(20, "report", out, "--html", folder / "r.html")
    assert code == 0 and "no longer in the folder" in (folder / "r.html").read_text(), errors


def test_dumps_under_every_key(folder):
    """What torch.ao prints, under each key of a recipe, with and without the keys that translating a dump adds to."""
    import torch.ao.quantization.quantize_fx  # noqa: F401  loads what the next line takes for granted
    from torch.ao.quantization import get_default_qconfig_mapping
    from torch.ao.quantization.backend_config import get_native_backend_config

    _, model, _, _ = residual(folder)
    mapping = json.loads(json.dumps(get_default_qconfig_mapping("x86").set_module_name("conv1", None).to_dict(), default=str))
    backend = json.loads(json.dumps(get_native_backend_config().to_dict(), default=str))
    head = {"format": "quantscope.recipe", "version": 1}
    sound = {"mapping": {"mapping": mapping}, "convert": {"convert": {"qconfig_mapping": mapping}}}
    sound["both"] = {**sound["mapping"], **sound["convert"]}
    words = ("plan", model, "--recipe", folder / "recipe.json")
    for name, keys in sound.items():
        for more in ({}, {"backend": "x86"}, {"backend": "x86", "qconfigs": {}}, {"backend": "x86", "qconfigs": None, "calibration": {}}):
            for document in ({**head, **more, **keys}, {**keys, **more, **head}):
                (folder / "recipe.json").write_text(json.dumps(document))
                code, out, errors = within(20, *words, "--json")
                assert code == 0, (name, more, errors)
                nodes = {node["module"]: node for node in json.loads(out)["nodes"] if node["module"]}
                assert nodes["fc"]["quantized"] and nodes["conv1"]["quantized"] is False, (name, more, nodes["conv1"])
    for dump in (mapping, backend):
        for key in ("backend", "qconfigs", "mapping", "prepare", "convert", "calibration", "edits", "limits", "extensions", "custom_modules", "unknown"):
            for document in ({**head, key: dump}, {"backend": "x86", key: {"qconfig_mapping": dump, "mapping": dump}, **head}):
                (folder / "recipe.json").write_text(json.dumps(document))
                code, _, errors = within(20, *words)
                assert code == 1 and str(folder / "recipe.json") in errors or code == 0 and key == "mapping", (key, code, errors[-300:])


def test_names_that_a_terminal_or_spreadsheet_would_run(folder):
    _, model, data, _ = residual(folder)
    out = folder / "out"
    run_good("quantize", model, "--data", data, "--device", "cpu", "--export", "none", "--out", out)
    changed = json.loads((out / "result.json").read_text())
    names = ["=1+1", "\x1b[2Jgone", "two\nok      lines", "-7.5"]
    for node, name in zip([n for n in changed["nodes"] if n["op"].startswith("aten")], names):
        node["name"] = name
    changed["observations"] = []
    (out / "result.json").write_text(json.dumps(changed))
    run_good("report", out, "--csv", folder / "r.csv")
    rows = (folder / "r.csv").read_bytes()
    assert b"\x1b" not in rows and b"\r\n'=1+1," in rows and b"\r\n-7.5," in rows, rows[:600]
    done = run("check", out, "--min-sqnr", "500", "--node", "two*: 500")
    assert "\nok      lines" not in done.stdout, done.stdout


if __name__ == "__main__":
    main(__name__)
