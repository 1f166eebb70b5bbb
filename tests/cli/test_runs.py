# SPDX-License-Identifier: Apache-2.0
"""Runs side by side: every figure of `diff` is the result document's to the bit; projects keep runs; bad input is one line."""
import csv
import json
import os
import shutil
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))
import harness  # noqa: E402
from harness import SOURCE, expect_bad, run_good, run_json, write_recipe  # noqa: E402
from test_quantized_files import by_pt2e, float_model  # noqa: E402

SAMPLES = SOURCE / "resources" / "samples"
TERMS, METRICS = ("born_here", "cumulative", "isolated", "inherited"), ("sqnr_db", "cosine", "mse", "max_abs")


def quantized(folder, name, model=SAMPLES / "digits.pt2", data=SAMPLES / "calib.npz", **recipe):
    """A result folder of the sample under these decisions, with its document."""
    out = folder / name
    (folder / f"{name}.recipe").mkdir()
    run_good("quantize", model, "--recipe", write_recipe(folder / f"{name}.recipe", backend="x86", **recipe), "--data", data,
             "--device", "cpu", "--export", "torchscript", "--out", out)
    return out, json.loads((out / "result.json").read_text())


def check_figures(table, documents):
    """Each cell of a `diff --json` against the documents; returns how many numbers were compared."""
    seen = 0
    known = [harness.by_name(document) for document in documents]
    for row in table["nodes"]:
        errors = []
        for place, cell in enumerate(row["runs"]):
            if "missing" in cell:
                errors.append({})
                continue
            node = known[place][cell["name"]]
            if "verdict" in node:
                assert cell["verdict"] == node["verdict"] and cell["qconfig"] == (node["qconfig"] or "float"), (cell, node)
                assert cell["dtype"] == ((node["output"] or {}).get("dtype") or ""), (cell, node)
            told = node.get("error") or dict.fromkeys(TERMS)
            assert {term: cell["error"][term] for term in TERMS} == {term: told[term] for term in TERMS}, (cell, node)
            errors.append(told)
        for place in range(1, len(errors)):
            for term in TERMS:
                for metric in METRICS:
                    first, other = ((errors[k].get(term) or {}).get(metric) for k in (0, place))
                    told = row["differences"].get(f"{'ABCD'[place]}-A.{term}.{metric}")
                    assert told == (None if first is None or other is None else other - first), (row["node"], term, metric)
                    seen += told is not None
    return seen


def test_two_recipes_side_by_side(folder):
    first, one = quantized(folder, "first", data=SAMPLES / "test.npz", mapping={"global": "x86"})
    second, two = quantized(folder, "second", data=SAMPLES / "test.npz", mapping={"global": "x86", "module_name": [["stem.conv", None]]},
                            calibration={"batch_size": 8, "batches": 4})
    table = run_json("diff", first, second)
    assert [run["name"] for run in table["runs"]] == ["first", "second"] and table["format"] == "quantscope.diff"
    assert check_figures(table, (one, two)) > 100
    for run, document in zip(table["runs"], (one, two)):
        head = run["headline"]
        assert head["outputs"] == [{k: o[k] for k in ("name", "cumulative", "lowered")} for o in document["outputs"]]
        assert (head["float_top1"], head["int8_top1"]) == (document["labels"]["float_top1"], document["labels"]["int8_top1"])
        assert head["quantized"] == document["coverage"]["quantized"] and head["int8_bytes"] == document["weights"]["int8_bytes"] > 0
    assert table["recipes"] == [{"run": "B", "lines": ["stem.conv: now float", "batches: 16 ► 4"]}], table["recipes"]
    operators = [n["name"] for n in one["nodes"] if n["op"] not in ("input", "parameter", "constant")]
    assert set(operators) <= {row["node"] for row in table["nodes"]}, "one row a node"
    states = {row["node"]: row["state"] for row in table["nodes"]}
    for name in operators:
        a, b = harness.by_name(one)[name], harness.by_name(two)[name]
        same = all(a[k] == b[k] for k in ("verdict", "qconfig")) and (a["output"] or {}).get("dtype") == (b["output"] or {}).get("dtype")
        assert states[name] == ("same" if same else "changed"), name
    assert "changed" in states.values() and set(states.values()) <= {"same", "changed"}
    # What lost most comes first; a column sorts; --changed leaves the rest out.
    losses = [row["differences"].get("B-A.cumulative.sqnr_db") for row in table["nodes"]]
    told = [loss for loss in losses if loss is not None]
    assert told == sorted(told) and losses[:len(told)] == told
    by_column = run_json("diff", first, second, "--sort", "A.born_here.sqnr_db", "--descending")
    column = [(row["runs"][0]["error"]["born_here"] or {}).get("sqnr_db") for row in by_column["nodes"]]
    told = [value for value in column if value is not None]
    assert told == sorted(told, reverse=True) and column[:len(told)] == told
    changed = run_json("diff", first, second, "--changed")
    assert {row["node"] for row in changed["nodes"]} == {name for name, state in states.items() if state == "changed"}
    text = run_good("diff", first, second, "--csv", folder / "table.csv")
    assert "stem.conv: now float" in text and "Decisions of A ► B" in text and "B − A born here dB" in text
    rows = list(csv.DictReader((folder / "table.csv").open(newline="")))
    assert [row["node"] for row in rows] == [row["node"] for row in table["nodes"]]
    for row, entry in zip(rows, table["nodes"]):
        told = (entry["runs"][1]["error"]["cumulative"] or {}).get("mse")
        assert (float(row["B cumulative MSE"]) if row["B cumulative MSE"] else None) == told


def test_an_edit_and_another_export(folder):
    """Nodes keep their rows when an edit puts another of their kind before them, and when the model is exported again."""
    net, x = float_model(folder)
    first, one = quantized(folder, "first", folder / "float.pt2", folder / "data.npz", mapping={"global": "x86"})
    added = {"do": "insert", "op": "aten.relu.default", "name": "more",
             "at": {"module": "body", "op": "aten.conv2d.default"}}
    second, two = quantized(folder, "second", folder / "float.pt2", folder / "data.npz", mapping={"global": "x86"}, edits=[added])
    table = run_json("diff", first, second)
    rows = {row["node"]: row for row in table["nodes"]}
    assert rows["more"]["state"] == "added" and rows["more"]["where"] == "only in B" and rows["more"]["runs"][0] == {"missing": "no counterpart"}
    assert check_figures(table, (one, two)) > 30
    for name, row in rows.items():
        if name != "more":
            assert [cell["name"] for cell in row["runs"]] == [name, name], row
    assert table["recipes"][0]["lines"] == ["edit: now insert aten.relu.default after body · conv2d"], table["recipes"]
    assert table["runs"][1]["model"]["edited"] and not table["runs"][0]["model"]["edited"]
    assert "more (aten.relu.default): only in B" in run_good("diff", first, second)
    again = net.__class__()
    again.load_state_dict(net.state_dict())
    torch.export.save(torch.export.export(again.eval(), (torch.randn(8, 3, 12, 12),), strict=False), folder / "again.pt2")
    third, three = quantized(folder, "third", folder / "again.pt2", folder / "data.npz", mapping={"global": "x86"})
    assert one["model"]["sha256"] != three["model"]["sha256"]
    table = run_json("diff", first, third, second)
    for row in table["nodes"]:
        if row["node"] != "more":
            here = [harness.by_name(document)[cell["name"]] for document, cell in zip((one, three, two), row["runs"])]
            assert len({(n["module"], n["op"], n["call_index"]) for n in here}) == 1, row
    assert {row["node"]: row["where"] for row in table["nodes"]}["more"] == "only in C"


def test_a_file_of_another_program(folder):
    net, x = float_model(folder)
    torch.export.save(torch.export.export(by_pt2e(net, x), (x,), strict=True), folder / "int8.pt2")
    first, one = quantized(folder, "first", folder / "float.pt2", folder / "data.npz", mapping={"global": "x86"})
    told = run_good("compare", folder / "float.pt2", "--result", folder / "int8.pt2", "--data", folder / "data.npz", "--json")
    (folder / "pt2e.json").write_text(told)
    foreign = json.loads(told)
    table = run_json("diff", first, folder / "pt2e.json")
    assert table["runs"][1]["compared"] == foreign["compared"] and table["runs"][1]["name"] == "pt2e"
    assert table["recipes"] == [{"run": "B", "lines": ["B has no recipe: another program quantized it"]}]
    assert check_figures(table, (one, foreign)) >= 4
    compared = {row["node"] for row in table["nodes"] if "missing" not in row["runs"][1]}
    assert compared == {node["name"] for node in foreign["nodes"]}
    missing = {row["node"] for row in table["nodes"] if row["runs"][1].get("missing") == "no counterpart"}
    assert missing == set(foreign["unmatched"]["model"])
    assert {row["node"] for row in table["nodes"] if row["state"] == "added"} == set(foreign["unmatched"]["compared"])
    assert "another program's" in run_good("diff", first, folder / "pt2e.json")


def project_of(folder, result):
    path = folder / "work.project.json"
    recipe = json.loads((result / "recipe.json").read_text())
    path.write_text(json.dumps({"format": "quantscope.project", "version": 1, "model": str(SAMPLES / "digits.pt2"),
                                "data": str(SAMPLES / "calib.npz"), "result": str(result), "recipe": recipe}))
    return path


def test_a_project_keeps_runs(folder):
    first, one = quantized(folder, "first", mapping={"global": "x86"})
    second, two = quantized(folder, "second", mapping={"global": "x86", "module_name": [["head", None]]})
    project = project_of(folder, first)
    assert run_json("runs", project) == {"runs": []}
    for name in ("all int8", "all int8"):
        run_good("runs", project, "keep", name, "--note", "as it came")
    run_good("runs", project, "keep", "head float", "--from", second)
    runs = {run["name"]: run for run in run_json("runs", project, "list")["runs"]}
    assert set(runs) == {"all int8", "all int8 2", "head float"} and all(run["problem"] is None for run in runs.values())
    assert runs["all int8"]["note"] == "as it came" and runs["head float"]["decisions"] == "x86, 1 rule"
    made = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime((first / "result.json").stat().st_mtime))
    assert runs["all int8"]["created"] == made
    kept = folder / "work.project.runs" / "head float"
    assert sorted(os.listdir(kept)) == ["recipe.json", "result.json", "run.json"] and sorted(os.listdir(kept.parent)) == sorted(runs)
    table = run_json("diff", f"{project}:all int8", f"{project}:head float", project)
    assert [run["name"] for run in table["runs"]] == ["all int8", "head float", "work, current"]
    assert check_figures(table, (one, two, one)) > 100
    run_good("runs", project, "rename", "head float", "head in float")
    run_good("runs", project, "note", "head in float", "loses less")
    run_good("runs", project, "remove", "all int8 2")
    runs = {run["name"]: run for run in run_json("runs", project)["runs"]}
    assert set(runs) == {"all int8", "head in float"} and runs["head in float"]["note"] == "loses less"
    assert "loses less" in run_good("runs", project)
    # Kept runs outlive what they were kept from.
    shutil.rmtree(second)
    run_json("diff", f"{project}:head in float", first)
    # A damaged run is listed with its reason and stops nobody else's.
    (folder / "work.project.runs" / "all int8" / "recipe.json").write_text("{")
    (folder / "work.project.runs" / "no run").mkdir()
    damaged = {run["name"]: run["problem"] for run in run_json("runs", project)["runs"]}
    assert damaged["head in float"] is None and "recipe.json" in damaged["all int8"] and "run.json" in damaged["no run"], damaged
    assert "all int8 is damaged" in run_good("runs", project)
    expect_bad("diff", f"{project}:all int8", first, contains=["all int8", "damaged"])
    run_good("runs", project, "remove", "no run")


def test_bad_input(folder):
    first, _ = quantized(folder, "first", mapping={"global": "x86"})
    project = project_of(folder, first)
    expect_bad("diff", first, folder / "nothing", contains=["nothing", "no such result"])
    (folder / "broken.json").write_text('{"format": "quantscope.result", "version": 1')
    expect_bad("diff", first, folder / "broken.json", contains=["broken.json", "not a result"])
    document = json.loads((first / "result.json").read_text())
    document["nodes"][0] = 3
    (folder / "odd.json").write_text(json.dumps(document))
    expect_bad("diff", folder / "odd.json", first, contains=["odd.json", "not a result"])
    expect_bad("diff", first, f"{project}:nobody", contains=["nobody", "no run was kept"])
    run_good("runs", project, "keep", "first one")
    expect_bad("diff", first, f"{project}:first on", contains=["did you mean 'first one'"])
    expect_bad("diff", first, first, "--sort", "B.born_here.sqnr", code=2, contains=["B.born_here.sqnr", "B.born_here.sqnr_db"])
    expect_bad("diff", first, code=2)
    expect_bad("diff", first, first, first, first, first, code=2)
    expect_bad("runs", first / "recipe.json", "list", contains=["not a Quantscope project"])
    expect_bad("runs", project, "remove", "nobody", contains=["nobody", "first one"])
    run_good("runs", project, "keep", "../..")
    run_good("runs", project, "keep", "second")
    expect_bad("runs", project, "rename", "second", "first one", contains=["another run", "first one"])
    assert all(path.parent == folder / "work.project.runs" for path in map(Path, (run["folder"] for run in run_json("runs", project)["runs"])))


if __name__ == "__main__":
    harness.main(__name__)
