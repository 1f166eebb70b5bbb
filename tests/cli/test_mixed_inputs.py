# SPDX-License-Identifier: Apache-2.0
"""Models of several, nested, integer and half-precision inputs, and data whose shapes vary from call to call."""

import numpy as np
import torch
from harness import by_name, expect_bad, main, run, run_good, run_json, write_recipe
from torch import nn

BATCH = torch.export.Dim("batch", min=1, max=1024)
LENGTH = torch.export.Dim("length", min=1, max=512)


class Nested(nn.Module):
    """A tuple and a dictionary go in, a dictionary with a tuple comes out."""

    def __init__(self):
        super().__init__()
        self.left, self.right, self.table = nn.Linear(4, 4), nn.Linear(4, 4), nn.Embedding(10, 4)

    def forward(self, x, pair, named):
        a = self.left(x) + self.right(pair[0])
        return {"sum": a + self.table(named["ids"]).sum(1), "rest": (pair[1] * 2, named["bias"] + a)}


class OneDict(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, batch):
        return self.fc(batch["b"] - batch["a"])


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.fc = nn.Embedding(20, 8), nn.Linear(8, 5)

    def forward(self, ids, mask):
        return torch.nn.functional.relu(self.fc(self.table(ids) * mask.unsqueeze(-1)))


class FromHalf(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, x):
        return torch.relu(self.conv(x.float()))


def saved(model, example, shapes, path):
    torch.export.save(torch.export.export(model.eval(), example, dynamic_shapes=shapes), path)
    return model


def nested_calls(count, size=3):
    return [(torch.randn(size, 4), (torch.randn(size, 4), torch.randn(size, 4)),
             {"ids": torch.randint(0, 10, (size, 2)), "bias": torch.randn(size, 4)}) for _ in range(count)]


def observed(folder):
    return (folder / "observations.npz").read_bytes()


def test_nested_calls(folder):
    """Tuples and dictionaries as the caller has them; the order of a dictionary's keys does not matter."""
    torch.manual_seed(0)
    path = folder / "nested.pt2"
    calls = nested_calls(4)
    rows = {0: BATCH}
    saved(Nested(), calls[0], (rows, (rows, rows), {"ids": rows, "bias": rows}), path)
    turned = [(x, list(pair), {"bias": d["bias"], "ids": d["ids"]}) for x, pair, d in calls]
    keywords = [{"named": d, "pair": pair, "x": x} for x, pair, d in calls]
    flat = [(x, *pair, d["ids"], d["bias"]) for x, pair, d in calls]
    together = tuple(torch.cat(parts) for parts in zip(*flat))
    results = []
    for name, data in (("calls", calls), ("turned", turned), ("keywords", keywords), ("flat", flat)):
        torch.save(data, folder / f"{name}.pt")
        document = run_json("quantize", path, "--data", folder / f"{name}.pt", "--out", folder / "out")
        results.append(observed(folder / "out"))
        assert results[-1] == results[0], f"{name} is read otherwise"
        assert len(document["outputs"]) == 3
        assert by_name(document)["linear"]["quantized"]
    # The same samples, first dimension = samples, in batches of the size that the calls had.
    recipe = folder / "recipe.json"
    recipe.write_text('{"format": "quantscope.recipe", "version": 1, "calibration": {"batch_size": 3}}')
    x, first, second, ids, bias = together
    for name, data in (("tuple", (x, (first, second), {"bias": bias, "ids": ids})), ("flat_tuple", together),
                       ("dict", {"x": x, "pair": (first, second), "named": {"bias": bias, "ids": ids}})):
        torch.save(data, folder / f"{name}.pt")
        run_good("quantize", path, "--recipe", recipe, "--data", folder / f"{name}.pt", "--out", folder / "out")
        assert observed(folder / "out") == results[0], f"{name} is read otherwise"
    document = run_json("compare", path, "--result", folder / "out", "--data", folder / "calls.pt")
    assert all(output["cumulative"] is not None for output in document["outputs"])


def test_misfits_name_the_argument(folder):
    torch.manual_seed(0)
    path = folder / "nested.pt2"
    call = nested_calls(1)[0]
    saved(Nested(), call, None, path)
    x, pair, named = call
    for name, data, words in (
            ("short", [(x, pair[:1], named)], ["call 0: argument 'pair' is a tuple of 1, the model takes a tuple of 2"]),
            ("key", [(x, pair, {"ids": named["ids"], "other": x})], ["call 0: argument 'named'", "'ids', 'bias'"]),
            ("single", [(x, x, named)], ["call 0: argument 'pair' is a single value"]),
            ("few", [(x, pair)], ["call 0: holds 2 arguments, the model takes 3 ('x', 'pair', 'named')"]),
            ("keywords", [{"x": x, "pear": pair, "named": named}], ["call 0:", "'x', 'pair', 'named'"])):
        torch.save(data, folder / f"{name}.pt")
        expect_bad("quantize", path, "--data", folder / f"{name}.pt", "--out", folder / "out",
                   contains=[folder / f"{name}.pt", *words], out=folder / "out")


def test_one_dictionary_is_the_argument(folder):
    torch.manual_seed(1)
    path = folder / "one.pt2"
    example = {"b": torch.randn(4, 4), "a": torch.randn(4, 4)}
    saved(OneDict(), (example,), ({"b": {0: BATCH}, "a": {0: BATCH}},), path)
    results = []
    for name, data in (("as_is", example), ("turned", {"a": example["a"], "b": example["b"]}),
                       ("labelled", {"labels": torch.tensor([0, 1, 2, 0]), **example}), ("list", [example]),
                       ("wrapped", [(example,)]), ("by_input", {"batch_b": example["b"], "batch_a": example["a"]})):
        torch.save(data, folder / f"{name}.pt")
        document = run_json("quantize", path, "--data", folder / f"{name}.pt", "--out", folder / "out")
        results.append(observed(folder / "out"))
        assert results[-1] == results[0], f"{name} is read otherwise"
        assert (document["labels"] is not None) == (name == "labelled"), document["labels"]


class Optional(nn.Module):
    """An argument left out and a flag, both fixed by the export."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x, extra=None, y=None, double=True):
        z = self.fc(x + y if extra is None else x + extra)
        return z * 2 if double else z


def test_what_the_export_fixed(folder):
    """None and flags may stand in the data where the caller has them; another value than the model's is refused."""
    torch.manual_seed(0)
    path, recipe = folder / "optional.pt2", write_recipe(folder, calibration={"batch_size": 3})
    calls = [(torch.randn(3, 4), torch.randn(3, 4)) for _ in range(4)]
    x, y = calls[0]
    saved(Optional(), (x, None, y, True), None, path)
    whole = tuple(torch.cat(parts) for parts in zip(*calls))
    results = []
    for name, data in (("bare", calls), ("as called", [(x, None, y, True) for x, y in calls]),
                       ("by name", [{"x": x, "extra": None, "y": y, "double": True} for x, y in calls]),
                       ("samples", (whole[0], None, whole[1], True))):
        torch.save(data, folder / f"{name}.pt")
        run_good("quantize", path, "--data", folder / f"{name}.pt", "--recipe", recipe, "--out", folder / "out")
        results.append(observed(folder / "out"))
        assert results[-1] == results[0], f"{name} is read otherwise"
    for call in ((x, None, y, False), (x, x, y, True)):
        torch.save([call], folder / "other.pt")
        expect_bad("quantize", path, "--data", folder / "other.pt", "--out", folder / "bad",
                   contains=("other.pt", "call 0", "another value than the one that the model was exported with"), out=folder / "bad")


def test_shapes_vary_from_call_to_call(folder):
    """Integer ids and a float mask of another length in every call; each call is seen whole."""
    torch.manual_seed(2)
    path = folder / "sequence.pt2"
    shapes = ({0: BATCH, 1: LENGTH}, {0: BATCH, 1: LENGTH})
    model = saved(Sequence(), (torch.randint(0, 20, (2, 7)), torch.ones(2, 7)), shapes, path)
    calls = [(torch.randint(0, 20, (2, length)), torch.rand(2, length)) for length in (3, 11, 1, 64, 8)]
    torch.save(calls, folder / "calls.pt")
    document = run_json("quantize", path, "--data", folder / "calls.pt", "--out", folder / "out")
    highest = max(model(*call).max().item() for call in calls)
    fused = by_name(document)["relu"]["output"]
    assert abs(fused["max"][0] - highest) < 0.1 * highest, (fused, highest)
    compared = run_json("compare", path, "--result", folder / "out", "--data", folder / "calls.pt")
    assert compared["outputs"][0]["cumulative"]["sqnr_db"] > 25
    assert by_name(document)["embedding"]["inputs"], "the table's inputs are listed"
    too_long = folder / "long.pt"
    torch.save([(torch.randint(0, 20, (2, 600)), torch.rand(2, 600))], too_long)
    expect_bad("quantize", path, "--data", too_long, "--out", folder / "bad", contains=["600", "1 to 512"])


def test_half_inputs(folder):
    """Half and bfloat16 models take half data as they are and float32 data with a note."""
    torch.manual_seed(3)
    x = torch.randn(16, 3, 12, 12)
    for dtype in (torch.float16, torch.bfloat16):
        path = folder / f"{dtype}.pt2"
        saved(FromHalf(), (x[:2].to(dtype),), ({0: BATCH},), path)
        torch.save(x.to(dtype), folder / "half.pt")
        torch.save([x[:8].to(dtype), x[8:].to(dtype)], folder / "half_calls.pt")
        torch.save(x, folder / "float.pt")
        np.savez(folder / "float.npz", x=x.numpy())
        files = ["half.pt", "half_calls.pt", "float.pt", "float.npz"]
        if dtype == torch.float16:
            np.savez(folder / "half.npz", x=x.numpy().astype("f2"))
            files.append("half.npz")
        results = []
        for name in files:
            done = run("quantize", path, "--data", folder / name, "--out", folder / "out")
            assert done.returncode == 0, done.stderr
            word = str(dtype).split(".")[1]
            assert ("float32: it is rounded to the " + word in done.stderr) == name.startswith("float"), done.stderr
            results.append(observed(folder / "out"))
            assert results[-1] == results[0], f"{name} is read otherwise"
        compared = run_json("compare", path, "--result", folder / "out", "--data", folder / "half.pt")
        assert compared["outputs"][0]["cumulative"]["sqnr_db"] > 25
    large = x.clone()
    large[3, 1] = 1e6
    torch.save(large, folder / "large.pt")
    done = run("quantize", folder / "torch.float16.pt2", "--data", folder / "large.pt", "--out", folder / "bad")
    assert done.returncode == 1 and "a value too large for float16" in done.stderr, done.stderr


def test_other_number_types(folder):
    """int32 ids, a mask of whole numbers, float64: the same result as the model's own types, told in one note."""
    torch.manual_seed(4)
    path = folder / "sequence.pt2"
    ids, mask = torch.randint(0, 20, (16, 7)), torch.randint(0, 2, (16, 7)).float()
    saved(Sequence(), (ids[:2], mask[:2]), ({0: BATCH}, {0: BATCH}), path)
    torch.save((ids, mask), folder / "own.pt")
    torch.save((ids.int(), mask.double()), folder / "other.pt")
    torch.save((ids.to(torch.uint8), mask.bool()), folder / "bits.pt")
    np.savez(folder / "other.npz", ids=ids.numpy().astype("i2"), mask=mask.numpy().astype("f8"))
    results = []
    for name, given in (("own.pt", None), ("other.pt", "float64"), ("bits.pt", "bool"), ("other.npz", "float64")):
        done = run("quantize", path, "--data", folder / name, "--out", folder / "out")
        assert done.returncode == 0, done.stderr
        told = [line for line in done.stderr.splitlines() if "that input" in line]
        assert [f"is {given}: it is" in line for line in told] == ([True] if given else []), done.stderr
        results.append(observed(folder / "out"))
        assert results[-1] == results[0], f"{name} is read otherwise"
    torch.save((ids + 0.5, mask), folder / "fractions.pt")
    expect_bad("quantize", path, "--data", folder / "fractions.pt", "--out", folder / "bad",
               contains=["tensor 0 holds", "at index [0, 0], which the int64 of input 'ids' cannot hold"])


def test_inputs_that_never_vary(folder):
    """Constant data are calibrated all the same, and told in one line that names the input."""
    torch.manual_seed(5)
    path = folder / "sequence.pt2"
    ids, mask = torch.randint(0, 20, (24, 7)), torch.rand(24, 7)
    saved(Sequence(), (ids[:2], mask[:2]), ({0: BATCH}, {0: BATCH}), path)
    late = torch.zeros(24, 7)
    late[23, 6] = 1
    for name, data, wanted in (
            ("varied", (ids, mask), []),
            ("zeros", (ids, mask * 0), ["warning: input 'mask' is 0 throughout the calibration data"]),
            ("half", (ids, mask * 0 + 0.5), ["warning: input 'mask' is 0.5 throughout the calibration data"]),
            ("late", (ids, late), []),
            ("again", (ids, mask[:1].repeat(24, 1)),
             ["warning: input 'mask' is the same in all 24 samples of the calibration data"]),
            ("words", (ids * 0 + 3, mask), ["note: input 'ids' is 3 throughout the calibration data"]),
            ("calls", [(ids[:n], mask[:n] * 0) for n in (2, 5, 3)], ["warning: input 'mask' is 0 throughout"])):
        torch.save(data, folder / "data.pt")
        done = run("quantize", path, "--data", folder / "data.pt", "--out", folder / "out")
        assert done.returncode == 0, done.stderr
        told = [line for line in done.stderr.splitlines() if "calibration data" in line]
        assert len(told) == len(wanted), f"{name}: {done.stderr}"
        for line, start in zip(told, wanted):
            assert line.startswith(start), f"{name}: {line}"


main(__name__)
