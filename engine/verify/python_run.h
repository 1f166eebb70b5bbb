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
    std::vector<std::string> missing; ///< Python's packages that are not there; nothing ran
    std::vector<std::string> missingTools; ///< Debian's packages that are not there; nothing ran
    bool isOwnPython = false; ///< an environment that the user may install packages into
    bool makesEnvironments = true; ///< `python3 -m venv` works
    std::string error; ///< one line; the runtime could not load or run the file
    std::map<std::string, std::string> versions; ///< of the packages that ran
    std::map<std::string, std::string> notes; ///< "int8_kernels": "12"
    std::vector<std::vector<at::Tensor>> outputs; ///< by call; undefined for non-tensors
    /// Of the first call, by node: the integers of each quantize. Empty if the runtime does not
    /// expose them.
    std::map<std::string, at::Tensor> nodes;
    /// The same where each node was fed our integers; "output.0": the outputs of that run.
    std::map<std::string, at::Tensor> alone;
    std::optional<SpeedReport> speed; ///< against `PythonJob::floatFile`

    /// Whether something has to be installed first.
    bool lacks() const { return !missing.empty() || !missingTools.empty(); }
};

/// The Python of the environment that LibTorch was found in, or `python3`.
std::string usualPython();

/// The Python that runs exports: the one that is asked for; else the one that did so before
/// (`Settings`), while it is there; else the usual one. Errors: settings that cannot be read.
Result<std::string> pythonFor(const std::string& asked);

/// A file, and where it runs.
struct PythonJob
{
    const std::string& python;
    const Runtime& runtime;
    const std::string& file;
    const Graph& model; ///< the form as the file has it, whose call the file keeps
    /// Our own integers of the first batch, by node, for runtimes that can be fed them; may be
    /// null.
    const NodeIntegers* integers = nullptr;
    CallState state = CallState::None; ///< that the calls start from
    /// The float model in the same form, to time the file against on the first batch; "" = not
    /// timed. Timing ends within the time that running took.
    std::string floatFile = {};
};

/// The packages that a run `lacks`, and how to install them: one line.
std::string missingText(const RuntimeRun& run, const std::string& python);

/// Runs the file on the batches' inputs. Errors: Python or the script cannot be started, a
/// temporary folder cannot be written.
Result<RuntimeRun> runInPython(const PythonJob& wanted, const std::vector<Batch>& batches,
                               const JobContext& job);

} // namespace qs
