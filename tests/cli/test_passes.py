# SPDX-License-Identifier: Apache-2.0
"""`inspect --passes`, `--after` and `--without`: what each rewrite of the graph did, the graph behind one, and a form without one."""

from harness import expect_bad, main, run_good
from models import residual


def test_passes_of_a_form(folder):
    def rows(*words):
        """Of each pass: nodes before and after, and what is said of it."""
        lines = run_good("inspect", path, "--passes", *words).splitlines()[2:]
        return {name: (int(before), int(after), " ".join(said)) for name, before, after, _, *said in map(str.split, lines)}

    def graph(*words):
        return [line for line in run_good("inspect", path, "--after", *words).splitlines() if " = op " in line]

    _, path, _, _ = residual(folder)
    assert list(rows()) == ["remove-fake-quantizers", "part-fused-activations", "functionalize", "drop-idle-updates", "drop-read-backs",
                            "correct-recurrent-shapes"]
    lowered = rows("--form", "lowered")
    assert list(lowered)[-4:] == ["fuse-batch-norms", "insert-observers", "quantize-dequantize", "lower"]
    assert all(lowered[a][1] == lowered[b][0] for a, b in zip(list(lowered), list(lowered)[1:]))
    before, after, said = lowered["insert-observers"]
    observers = [line for line in graph("insert-observers", "--form", "lowered") if '"quantscope.observe' in line]
    assert after - before == len(observers) > 0 and said == "", lowered
    assert lowered["functionalize"][2] == "as it was"
    assert any('"quantized.conv2d' in line for line in graph("lower", "--form", "lowered"))
    assert not any('"quantized.' in line for line in graph("quantize-dequantize", "--form", "lowered"))
    assert rows("--without", "drop-read-backs")["drop-read-backs"][2] == "left out"
    expect_bad("inspect", path, "--passes", "--without", "functionalize", code=2, contains=["'functionalize' is needed by what comes after"])
    expect_bad("inspect", path, "--after", "lower", code=2, contains=["no pass 'lower' ran", "drop-read-backs"])
    expect_bad("inspect", path, "--without", "lower", code=2, contains=["--passes or --after"])


main(__name__)
