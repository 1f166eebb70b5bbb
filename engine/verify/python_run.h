// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/verify/certificate.h"
#include "engine/verify/own_integers.h"
#include "engine/verify/runtimes.h"
#include "engine/verify/speed.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// Result of an exported file's run in a runtime, in a separate process.
struct RuntimeRun
{
    std::vector<std::string> missing; ///< missing Python packages; if any, nothing ran
    std::vector<std::string> missingTools; ///< missing Debian packages; if any, nothing ran
    bool isOwnPython = false; ///< an environment in which the user may install packages
    bool makesEnvironments = true; ///< `python3 -m venv` works
    std::string error; ///< one line; the runtime could not load or run the file
    std::map<std::string, std::string> versions; ///< of the packages that ran
    std::map<std::string, std::string> notes; ///< "int8_kernels": "12"
    std::vector<std::vector<at::Tensor>> outputs; ///< by call; undefined for non-tensors
    /// Of the first call, by node: the integers of each quantize. Empty if the runtime does not
    /// expose them.
    std::map<std::string, at::Tensor> nodes;
    /// Integers by node of a run in which each node read our integers; "output.0" and so on: the
    /// outputs of that run.
    std::map<std::string, at::Tensor> alone;
    std::optional<SpeedReport> speed; ///< against `PythonJob::floatFile`

    /// Whether something has to be installed first.
    bool lacks() const { return !missing.empty() || !missingTools.empty(); }
};

/// The Python of the environment in which LibTorch was found, else `python3`.
std::string usualPython();

/// The Python that runs exports: `asked` if it is not empty; else the one used before (`Settings`)
/// if it still exists; else `usualPython`. Errors: the settings cannot be read.
Result<std::string> pythonFor(const std::string& asked);

/// An exported file and how to run it. Borrows what it refers to.
struct PythonJob
{
    const std::string& python;
    const Runtime& runtime;
    const std::string& file;
    const Graph& model; ///< the form as in the file; gives the arguments of the calls
    /// Our integers of the first batch, for runtimes that can take them as inputs; may be null.
    const NodeIntegers* integers = nullptr;
    CallState state = CallState::None; ///< state from which calls start
    /// File of the float model in the same form, for timing on the first batch; "" = no timing.
    /// Timing takes no longer than the run itself.
    std::string floatFile = {};
};

/// The packages that a run `lacks`, and how to install them: one line.
std::string missingText(const RuntimeRun& run, const std::string& python);

/// Runs the file on the batches' inputs. Errors: Python or the script cannot be started, a
/// temporary folder cannot be written.
Result<RuntimeRun> runInPython(const PythonJob& wanted, const std::vector<Batch>& batches,
                               const JobContext& job);

} // namespace qs
