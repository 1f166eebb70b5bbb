// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// A runtime in which users run an exported file.
struct Runtime
{
    std::string_view name; ///< "torch.export"
    std::string_view form; ///< the form that it loads, one of `exportForms`
    std::string_view packages; ///< required Python packages: "onnx onnxruntime"
    /// Runs the file operator by operator; false: it fuses operators, which changes roundings.
    bool isExact = true;
    /// Whether `--speed` can time it, float and int8, as a whole and by kind of operator.
    bool timesOperators = false;
    bool isInSetup = true; ///< `pythonSetup` installs its packages
    std::string_view tools = {}; ///< required Debian packages, for compiling
};

/// All runtimes of `verify`, in the order in which they are tried.
std::span<const Runtime> runtimes();
/// The names of all runtimes, each once.
std::vector<std::string> runtimeNames();
/// False for an unknown name.
bool isRuntime(std::string_view name);

/// Arguments of `pip install` for packages: "numpy torch==2.11.0", with this program's version of
/// torch.
std::string pipWords(std::string_view packages);
/// The shell command that makes a virtual environment with the packages of all runtimes with
/// `isInSetup`; it works even if packages cannot be installed in the system's Python. `needsVenv`:
/// first installs Debian's package for virtual environments.
std::string pythonSetup(bool needsVenv = false);
/// Advice if no Python has the packages: the command of `pythonSetup`, and how to pass the Python
/// to `verify`.
std::string setupAdvice(bool needsVenv);

} // namespace qs
