# SPDX-License-Identifier: Apache-2.0
"""What `quantscope why` says of each quantizer, against PyTorch: the noise that one site alone leaves is made again from the exported program and the
parameters of result.json, and the predicted share is held to it on networks that are linear, where both are the same in expectation.

    python test_blame.py [NAME ...]      names of the checks below, without `check_`
"""
import contextlib
import itertools
import json
import math
import pathlib
import sys
import tempfile
import warnings

import torch
import torch.utils._pytree as pytree
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import agreement  # noqa: E402

SAME = 1e-4  # of what PyTorch computes: float32 sums in another order
MOST_PROBES, ROWS = 4096, 65536  # what `why` takes at most: of 16 samples 4,096 probes each
ACTIVATION = {"observer": "histogram", "dtype": "quint8", "qscheme": "per_tensor_affine"}
WEIGHT = {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric"}
EIGHT = {"activation": ACTIVATION, "weight": WEIGHT}


class Chain(nn.Module):
    """Three linears; `scale` is on what the first gives and is taken back by the second."""

    def __init__(self, scale=1.0, between=None):
        super().__init__()
        self.first, self.second, self.third = nn.Linear(12, 16), nn.Linear(16, 16), nn.Linear(16, 6)
        self.between = between
        with torch.no_grad():
            self.first.weight *= scale
            self.first.bias *= scale
            self.second.weight /= scale

    def forward(self, x):
        x = self.first(x)
        return self.third(self.second(self.between(x) if self.between else x))


class Branches(nn.Module):
    """Convolutions, a residual that two classes of readers share, a mean over pixels."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.head = nn.Linear(4, 5)

    def forward(self, x):
        x = self.first(x)
        return self.head((x + self.second(x)).mean((2, 3)))


class Several(nn.Module):
    """Two outputs, one a thousand times as large."""

    def __init__(self):
        super().__init__()
        self.trunk, self.small, self.large = nn.Linear(12, 16), nn.Linear(16, 6), nn.Linear(12, 9)
        with torch.no_grad():
            self.large.weight *= 1000

    def forward(self, x, z):
        return self.small(self.trunk(x)), self.large(z)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(8, 12, batch_first=True), nn.Linear(12, 4)

    def forward(self, x):
        return self.head(self.lstm(x)[0])


class Offset(nn.Module):
    """A table that nothing but moves between where it is made and where it is added."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(12, 5)

    def forward(self, x):
        table = torch.arange(12).to(torch.float32)
        return self.head(x + torch.flatten(table.reshape(3, 4)))


class Stepped(nn.Module):
    """A value after which the derivative is zero, and one after which all values are integers."""

    def __init__(self):
        super().__init__()
        self.rounded, self.plain, self.counted = (nn.Linear(12, 6) for _ in range(3))

    def forward(self, x):
        steps = torch.round(64 * self.rounded(x)) / 64
        return steps + self.plain(x) + torch.bucketize(self.counted(x), torch.linspace(-2, 2, 257)).to(torch.float32) / 64


def values(*shape, seed=5):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


class Case:
    """A network that was exported and quantized in a folder."""

    def __init__(self, folder, network, *data, batch=8, backend="onednn", keys=None):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        network.eval()
        self.batch = batch
        self.program = torch.export.export(network, tuple(x[:batch] for x in data), dynamic_shapes=tuple({0: torch.export.Dim("batch")} for _ in data))
        torch.export.save(self.program, self.folder / "model.pt2")
        recipe = {"format": "quantscope.recipe", "version": 1, "backend": backend, "qconfigs": {"eight": EIGHT}, "mapping": {"global": "eight"},
                  "calibration": {"batch_size": batch, "batches": 0}, **(keys or {})}
        (self.folder / "recipe.json").write_text(json.dumps(recipe))
        self.calls = self.write("data.pt", data)
        self.run("quantize", self.folder / "model.pt2", "--recipe", self.folder / "recipe.json", "--data", self.folder / "data.pt", "--export", "none",
                 "--out", self.folder / "out")
        self.nodes = {node["name"]: node for node in json.loads((self.folder / "out" / "result.json").read_text())["nodes"]}

    def write(self, name, data):
        calls = list(zip(*(x.split(self.batch) for x in data)))
        torch.save(calls, self.folder / name)
        return calls

    @staticmethod
    def run(*words):
        code, said, error = agreement.quantscope(*words, "--device", "cpu")
        assert code == 0, f"{' '.join(map(str, words))}: {error}"
        return said

    def text(self, *words, data="data.pt"):
        return self.run("why", self.folder / "out", "--data", self.folder / data, "--json", *words)

    def why(self, *words, data="data.pt"):
        return json.loads(self.text(*words, data=data))

    def exact(self, site=None, calls=None):
        """Noise over signal with one site alone switched on, or all of them (no site), as the mean over the outputs."""
        signal, noise = {}, {}
        with torch.no_grad():
            for call in calls or self.calls:
                clean = Isolated(self).outputs(call)
                noisy = Isolated(self, site).outputs(call)
                for i, (a, b) in enumerate(zip(clean, noisy)):
                    signal[i] = signal.get(i, 0) + float((a.double() ** 2).sum())
                    noise[i] = noise.get(i, 0) + float(((b.double() - a.double()) ** 2).sum())
        return sum(noise[i] / signal[i] for i in signal) / len(signal)


class Isolated(torch.fx.Interpreter):
    """Runs an exported program with the quantizer of one site: for those operators that the site names."""

    def __init__(self, case, site=None):
        super().__init__(case.program.graph_module)
        self.case, self.site = case, site

    def outputs(self, call):
        signature, state = self.case.program.graph_signature, self.case.program.state_dict
        given = [state[signature.inputs_to_parameters[name]] if name in signature.inputs_to_parameters else
                 {**state, **self.case.program.constants}[signature.inputs_to_buffers[name]] if name in signature.inputs_to_buffers else None
                 for name in (node.name for node in self.module.graph.nodes if node.op == "placeholder")]
        rest = iter(call)
        return pytree.tree_leaves(self.run(*(next(rest) if value is None else value for value in given)))

    @staticmethod
    def rounded(value, told):
        scale, zero = torch.tensor(told["scale"]), torch.tensor(told["zero_point"], dtype=torch.int32)
        if len(scale) == 1:
            return torch.fake_quantize_per_tensor_affine(value, float(scale), int(zero), told["quant_min"], told["quant_max"])
        return torch.fake_quantize_per_channel_affine(value, scale, zero, told["axis"], told["quant_min"], told["quant_max"])

    def run_node(self, node):
        site = self.site
        if not site or not (node.name in site["at"] or node.op == "output" and site["readers"] == "output"):
            return super().run_node(node)
        args, keywords = self.fetch_args_kwargs_from_env(node)
        if site["kind"] == "weight":
            args = (args[0], self.rounded(args[1], self.case.nodes[node.name]["weight"]), *args[2:])
        else:
            old = next(self.env[given] for given in node.all_input_nodes if given.name == site["node"])
            new = self.rounded(old, self.case.nodes[site["node"]]["output"])
            args = pytree.tree_map(lambda value: new if value is old else value, args)
        return getattr(self, node.op)(node.target, args, keywords)


def named(site):
    return f"{site['title']} ({site['kind']}, {site['readers']})"


def near(got, wanted, bound):
    return wanted > 0 and abs(got / wanted - 1) <= bound


def made(make, *arguments):
    torch.manual_seed(3)
    return make(*arguments)


def linear_cases(folder):
    yield "chain", Case(folder / "chain", made(Chain), values(16, 12), batch=16)
    yield "branches", Case(folder / "branches", made(Branches), values(16, 3, 5, 6), batch=16)


def check_isolated_noise(report, folder):
    """The noise that one site alone leaves is what PyTorch says, and so are the sites."""
    off, count = 0.0, 0
    cases = [*linear_cases(folder), ("curved", Case(folder / "curved", made(Chain, 1.0, F.relu), values(16, 12)))]
    for name, case in cases:
        told = case.why("--exact", 1000)
        quantized = {node["name"] for node in case.nodes.values() if node["output"]}
        report.expect({site["node"] for site in told["sites"] if site["kind"] == "value"} == quantized, f"{name}: not all of {quantized} are sites")
        weights = {node["name"] for node in case.nodes.values() if node["weight"]}
        report.expect({at for site in told["sites"] if site["kind"] == "weight" for at in site["at"]} == weights, f"{name}: weights of {weights}")
        for site in told["sites"]:
            wanted = case.exact(site)
            report.expect(near(site["exact"], wanted, SAME), f"{name}, {named(site)}: {site['exact']:.6g} exact, PyTorch's {wanted:.6g}")
            off, count = max(off, abs(site["exact"] / wanted - 1)), count + 1
    report.fact(f"{count} sites, off by {off:.1e}")


def check_many_probes(report, folder):
    """On linear networks the mean over 4,096 probes and a few seeds is the isolated noise, within 1 %."""
    seeds, worst = 3, 0.0
    for name, case in linear_cases(folder):
        sums = {}
        for seed in range(seeds):
            told = case.why("--samples", ROWS, "--seed", seed)
            report.expect(told["probes"] == MOST_PROBES and told["samples"] == 16, f"{told['probes']} probes of {told['samples']} samples")
            for site in told["sites"]:
                sums.setdefault(named(site), [site, 0.0])[1] += site["share"] / seeds
        for title, (site, share) in sums.items():
            wanted = case.exact(site)
            report.expect(near(share, wanted, 0.01), f"{name}, {title}: share {share:.6g}, PyTorch's noise {wanted:.6g}")
            worst = max(worst, abs(share / wanted - 1))
    report.fact(f"off by {100 * worst:.2f} % at most")


def check_standard_error(report, folder):
    """Of few probes the shares lie about the isolated noise as the standard errors say."""
    marks = []
    for _, case in linear_cases(folder):
        wanted = {}
        for seed in range(5):
            for site in case.why("--samples", 256, "--seed", seed)["sites"]:  # 16 probes of 16 samples
                if named(site) not in wanted:
                    wanted[named(site)] = case.exact(site)
                report.expect(site["share"] >= 0 and site["standard_error"] > 0, f"{named(site)}: {site['share']} +- {site['standard_error']}")
                marks.append((site["share"] - wanted[named(site)]) / site["standard_error"])
    beyond, spread = sum(abs(mark) > 3 for mark in marks), math.sqrt(sum(mark * mark for mark in marks) / len(marks))
    report.expect(beyond <= 0.02 * len(marks), f"{beyond} of {len(marks)} are more than 3 standard errors off")
    report.expect(0.5 <= spread <= 1.3, f"shares spread by {spread:.2f} standard errors")
    report.fact(f"{len(marks)} shares, {beyond} beyond 3 standard errors, spread {spread:.2f} of them")


def check_scaled_weights(report, folder):
    """2^k on a layer, undone after a relu by the next one, changes no share."""
    plain = Case(folder / "plain", made(Chain, 1.0, F.relu), values(16, 12)).why()
    for power in (-6, 3, 9):
        scaled = Case(folder / f"scaled{power}", made(Chain, 2.0 ** power, F.relu), values(16, 12)).why()
        for a, b in zip(plain["sites"], scaled["sites"]):
            report.expect(named(a) == named(b) and near(b["share"], a["share"], SAME), f"2^{power}: {named(b)} {b['share']}, else {named(a)} {a['share']}")
    report.fact(f"{len(plain['sites'])} sites, three powers")


def check_seeds(report, folder):
    """The same seed says the same to the bit, another one something else; what is measured has no seed."""
    case = Case(folder / "case", made(Branches), values(16, 3, 5, 6), batch=16)
    first, again, other = case.text("--exact", 1000), case.text("--exact", 1000), case.text("--exact", 1000, "--seed", 1)
    report.expect(first == again, "the same seed says two things")
    first, other = ({named(site): site for site in json.loads(text)["sites"]} for text in (first, other))
    report.expect(all(other[title]["share"] != site["share"] for title, site in first.items()), "another seed gives the same shares")
    report.expect(all(other[title]["exact"] == site["exact"] for title, site in first.items()), "another seed measures otherwise")


def check_permuted_samples(report, folder):
    """The order of the samples changes nothing that is measured, and no order of shares that differ clearly."""
    data = values(64, 12)
    case = Case(folder / "case", made(Chain, 1.0, torch.tanh), data)
    case.write("permuted.pt", (data[torch.randperm(len(data), generator=torch.Generator().manual_seed(1))],))
    words = ("--samples", ROWS, "--exact", 1000)
    first, second = ({named(site): site for site in case.why(*words, data=name)["sites"]} for name in ("data.pt", "permuted.pt"))
    report.expect(first.keys() == second.keys(), "other sites")
    for title, site in first.items():
        report.expect(near(second[title]["exact"], site["exact"], SAME), f"{title}: {site['exact']}, permuted {second[title]['exact']}")
    pairs = 0
    for a, b in itertools.permutations(first, 2):
        apart = first[a]["share"] - first[b]["share"] > 4 * math.hypot(first[a]["standard_error"], first[b]["standard_error"])
        pairs += apart
        report.expect(not apart or second[a]["share"] > second[b]["share"], f"{a} and {b} have changed places")
    report.expect(pairs >= 10, f"only {pairs} pairs differ clearly")
    report.fact(f"{len(first)} sites, {pairs} pairs that differ clearly")


def check_several_outputs(report, folder):
    """Each output is divided by its own signal, whatever its size; also where the batches of one are a hundred times as strong as those of the other,
    by the order of the batches."""
    worst = 0.0
    for name, factor in (("alike", 1.0), ("unlike", 10.0)):
        x, z = values(16, 12), values(16, 12, seed=6)
        x[8:] *= factor
        z[:8] *= factor
        case = Case(folder / name, made(Several), x, z)
        sums, seeds = {}, 2
        for seed in range(seeds):
            told = case.why("--samples", ROWS, "--exact", 1000, "--seed", seed)
            report.expect(len(told["outputs"]) == 2, f"outputs {told['outputs']}")
            for site in told["sites"]:
                sums.setdefault(named(site), [site, 0.0])[1] += site["share"] / seeds
        for title, (site, share) in sums.items():
            wanted = case.exact(site)
            report.expect(near(site["exact"], wanted, SAME), f"{name}, {title}: {site['exact']:.6g} exact, PyTorch's {wanted:.6g}")
            report.expect(near(share, wanted, 0.02), f"{name}, {title}: share {share:.6g}, PyTorch's {wanted:.6g}")
            worst = max(worst, abs(share / wanted - 1))
    report.fact(f"shares off by {100 * worst:.2f} % at most")


def check_unlike_batches(report, folder):
    """One output, whose second batch is ten times as large: shares are of the whole signal, not of the mean of the batches' ratios."""
    for order in ((1.0, 10.0), (10.0, 1.0)):
        data = values(16, 12)
        data[:8] *= order[0]
        data[8:] *= order[1]
        case = Case(folder / f"first{order[0]:g}", made(Chain), data)
        told = case.why("--samples", ROWS, "--exact", 1000)
        for site in told["sites"]:
            wanted, bound = case.exact(site), 4 * site["standard_error"] / site["share"]
            report.expect(near(site["exact"], wanted, SAME), f"{named(site)}: {site['exact']:.6g} exact, PyTorch's {wanted:.6g}")
            report.expect(near(site["share"], wanted, bound), f"{named(site)}: share {site['share']:.6g}, PyTorch's {wanted:.6g}, bound {bound:.3f}")


def check_without_derivative(report, folder):
    """Sites whose derivative is zero or missing have no share, are listed with what stops it, and are measured."""
    case = Case(folder / "case", made(Stepped), values(16, 12))
    told = case.why()
    found = {site["node"]: site for site in told["sites"] if site["kind"] == "value"}
    weights = {site["node"]: site for site in told["sites"] if site["kind"] == "weight"}
    for sites, name in itertools.product((found, weights), ("linear", "linear_2")):
        if not report.expect(name in sites, f"{name} is not a site"):
            continue
        site = sites[name]
        report.expect(site["blocked"] and site["share"] == 0, f"{named(site)}: blocked {site['blocked']}, share {site['share']}")
        wanted = case.exact(site)
        report.expect(site["exact"] is not None and near(site["exact"], wanted, SAME), f"{named(site)}: {site['exact']} exact, PyTorch's {wanted}")
    report.expect(not weights["linear_1"]["blocked"] and weights["linear_1"]["share"] > 0, "the layer beside them is blocked")
    lines = "\n".join(told["left_out"])
    for words in ("has a derivative of zero", "gives integers, which have no derivative", "bucketize"):
        report.expect(words in lines, f"'{words}' is not said: {lines}")
    report.fact(f"{sum(site['blocked'] for site in told['sites'])} of {len(told['sites'])} sites are blocked")


def check_stored_chain(report, folder):
    """A stored tensor that is quantized again on its way, on the grid that it lies on already, is one site."""
    case = Case(folder / "case", made(Offset), values(16, 12))
    found = [site for site in case.why("--exact", 1000)["sites"] if site["at"] == ["add"] and site["kind"] == "weight"]
    report.expect(len(found) == 1, f"{len(found)} sites of the table")
    wanted = case.exact({"kind": "value", "node": "flatten", "at": ["add"], "readers": "other"})
    report.expect(found and near(found[0]["exact"], wanted, SAME), f"{[site['exact'] for site in found]} exact, PyTorch's {wanted}")


def check_lstm(report, folder):
    """An LSTM that is quantized inside is one site, weights and all: nothing of it is counted again."""
    case = Case(folder / "case", made(Recurrent), values(16, 10, 8), backend="x86", keys={"prepare": {"custom_modules": ["torch.nn.LSTM"]}})
    told = case.why("--samples", 1024, "--exact", 1000)
    inside = [site for site in told["sites"] if "lstm" in site["node"] and site["kind"] != "value"]
    report.expect([site["kind"] for site in inside] == ["interior"], f"sites of the LSTM: {[named(site) for site in inside]}")
    report.expect([site["at"] for site in inside] == [["lstm"]], f"at {[site['at'] for site in inside]}")
    weights = [site["node"] for site in told["sites"] if site["kind"] == "weight"]
    report.expect(weights == ["linear"], f"weights of {weights}")
    total = sum(site["exact"] for site in told["sites"]) / 10 ** (-told["measured_db"] / 10)
    report.expect(0.5 <= total <= 1.5, f"what the sites leave alone adds up to {total:.2f} of the noise")
    report.fact(f"{len(told['sites'])} sites, which alone add up to {total:.2f} of the noise")


def main():
    warnings.simplefilter("ignore")
    checks = {name.removeprefix("check_"): check for name, check in globals().items() if name.startswith("check_")}
    failed = 0
    for name in sys.argv[1:] or checks:
        report = agreement.Report(name)
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            stack.callback(report.print)
            checks[name](report, pathlib.Path(folder))
        failed += bool(report.problems)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
