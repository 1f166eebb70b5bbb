// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/observer_spec.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace qs {

/// torch.ao's DTypeWithConstraints.
struct DTypeWithConstraints
{
    std::optional<DType> dtype;
    std::optional<std::int64_t> quantMinLowerBound;
    std::optional<std::int64_t> quantMaxUpperBound;
    std::optional<double> scaleMinLowerBound;
    std::optional<double> scaleMaxUpperBound;
    std::optional<double> scaleExactMatch;
    std::optional<std::int64_t> zeroPointExactMatch;
    friend bool operator==(const DTypeWithConstraints&, const DTypeWithConstraints&) = default;
};

/// torch.ao's DTypeConfig: one supported combination of dtypes.
struct DTypeConfig
{
    DTypeWithConstraints input, output, weight;
    std::optional<DType> biasDType;
    bool isDynamic = false;
    friend bool operator==(const DTypeConfig&, const DTypeConfig&) = default;
};

enum class ObservationType : std::uint8_t
{
    OutputUseDifferentObserver,
    OutputShareObserver,
    InputOutputNotObserved
};

/// One entry of a backend: a pattern and how it is quantized and fused. Names are those of
/// PyTorch's users: "torch.nn.Conv2d", "torch.nn.functional.relu", "torch.add", "operator.add"; a
/// tensor method is a bare word, as in torch.ao ("reshape").
struct BackendPattern
{
    std::vector<std::string>
        pattern; ///< forward order: {"torch.nn.Conv2d", "torch.nn.ReLU"}; one entry for a single op
    std::string complexFormat; ///< JSON text of `pattern_complex_format`; "" if the entry has none
    ObservationType observationType = ObservationType::OutputUseDifferentObserver;
    std::vector<DTypeConfig> dtypeConfigs; ///< empty = a fusion entry
    std::string rootModule, qatModule, referenceModule, fusedModule, fuserMethod;
    std::map<std::string, int> inputTypeToIndex;
    std::map<int, ObservationType> numTensorArgsToObservationType;
    friend bool operator==(const BackendPattern&, const BackendPattern&) = default;
};

/// torch.ao's BackendConfig: what a target supports. A value type; read from JSON
/// (resources/backends/*.json or a user's).
struct Backend
{
    std::string name;
    std::string description;
    std::string defaultQConfig; ///< its preset: the default of "global" in recipes; "" = none
    std::vector<BackendPattern> patterns; ///< in file order, which is torch.ao's order
};

class JsonPlace;
/// Reads one entry of a backend's "patterns".
Result<BackendPattern> readBackendPattern(const JsonPlace& place);
/// Reads a backend file. Errors name the file, the entry and the key.
Result<Backend> readBackend(const std::string& path);
Result<Backend> parseBackend(const std::string& json, const std::string& path);
/// Returns a shipped backend by name ("x86") or a user's backend by path. NotFound lists the
/// available names.
Result<Backend> findBackend(const std::string& nameOrPath);
std::vector<std::string> shippedBackends();
/// True for a name that denotes a file: it contains a '/' or ends in ".json". The file need not
/// exist.
bool isBackendPath(const std::string& nameOrPath);
std::string backendToJson(const Backend& backend);
/// True if the fusion's second operator is a batch norm that is folded into the first operator's
/// weights.
bool foldsBatchNorm(const BackendPattern& entry);
/// Returns the module that a fusion entry produces in eval mode, where batch norms are folded:
/// "torch.nn.Conv2d" for (Conv2d, BatchNorm2d), "torch.ao.nn.intrinsic.ConvReLU2d" for (Conv2d,
/// BatchNorm2d, ReLU). Empty for an entry that fuses nothing.
std::string fusedModuleInEval(const BackendPattern& entry);

} // namespace qs
