# SPDX-License-Identifier: Apache-2.0
"""What `verify` says of torch.compile: what it must be told, and where it fails."""
import sys

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from harness import SOURCE, export_model, in_full, main, run, run_good

sys.path.insert(0, str(SOURCE / "resources" / "verify"))
import inductor_run  # noqa: E402


@in_full
def test_a_loop_over_a_sequence_compiles(folder):
    """Inductor reads the length of the scan from a tensor, which it must be allowed to."""
    torch.manual_seed(0)
    model, calls = torch.nn.LSTM(8, 8, batch_first=True), [(torch.randn(4, 5, 8),) for _ in range(2)]
    export_model(model, calls[0], folder / "model.pt2", dynamic=False)
    torch.save(calls, folder / "calls.pt")
    run_good("quantize", folder / "model.pt2", "--data", folder / "calls.pt", "--export", "pt2", "--out", folder / "out")
    done = run("verify", folder / "out", "--data", folder / "calls.pt", "--python", sys.executable, "--runtime", "torch.compile")
    assert done.returncode == 0 and "capture_scalar_outputs = True" in done.stdout, (done.stdout, done.stderr)


def test_a_known_fault_of_the_compiler_is_said(_):
    def told(model, example, error):
        return str(inductor_run.compiler_cause(torch, RuntimeError(error), torch.export.export(model, example)))

    class Quantized(torch.nn.Conv1d):
        def forward(self, x):
            steps = torch.ops.quantized_decomposed
            x = steps.quantize_per_tensor(x, 0.1, 0, 0, 255, torch.uint8)
            return super().forward(steps.dequantize_per_tensor(x, 0.1, 0, 0, 255, torch.uint8))

    shape, example = "shape '[80, 24]' is invalid for input of size 2112", (torch.ones(1, 4, 9),)
    line = told(Quantized(4, 4, 3), example, shape)
    assert "keep torch.nn.Conv1d float" in line and shape in line, line
    assert told(torch.nn.Conv1d(4, 4, 3), example, shape) == shape
    assert told(Quantized(4, 4, 3), example, "no compiler is installed") == "no compiler is installed"


if __name__ == "__main__":
    main(__name__)
