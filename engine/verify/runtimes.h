// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// One way in which people run an exported file.
struct Runtime
{
    std::string_view name; ///< "torch.export"
    std::string_view form; ///< of `exportForms`: the file that it loads
    std::string_view packages; ///< of Python, that it and the comparison need: "onnx onnxruntime"
    /// Runs the file operator by operator; else it fuses, and rounds elsewhere.
    bool isExact = true;
    /// Whether `--speed` can time it, float and int8, as a whole and by kind of operator.
    bool timesOperators = false;
    bool isInSetup = true; ///< `pythonSetup` installs its packages
    std::string_view tools = {}; ///< Debian's packages that it needs, since it compiles
};

/// All runtimes of `verify`, in the order in which they are tried.
std::span<const Runtime> runtimes();
/// Their names, each once.
std::vector<std::string> runtimeNames();
/// False for an unknown name.
bool isRuntime(std::string_view name);

/// Arguments of `pip install` for packages: "numpy torch==2.11.0", torch as this program's.
std::string pipWords(std::string_view packages);
/// The command that makes a virtual environment with all that the runtimes need (`isInSetup`); it
/// works where the system's Python takes no packages. `needsVenv`: Debian's package that makes
/// environments is installed first.
std::string pythonSetup(bool needsVenv = false);
/// Advice if no Python has the packages: that command, and how to name the Python to `verify`.
std::string setupAdvice(bool needsVenv);

} // namespace qs
