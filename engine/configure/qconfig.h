// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/observer_spec.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// torch.ao's QConfig: how activations and weights of an operator are observed. A value.
struct QConfig
{
    ObserverSpec activation;
    ObserverSpec weight;
    friend bool operator==(const QConfig&, const QConfig&) = default;
};

/// A qconfig as rules name it; `config` empty = "keep float" (null in a recipe).
struct NamedQConfig
{
    std::string name; ///< "x86", "act7", "" for null
    std::optional<QConfig> config;
    friend bool operator==(const NamedQConfig&, const NamedQConfig&) = default;
};

/// The presets: names of `get_default_qconfig` ("x86", "fbgemm", "qnnpack", "onednn") and those of
/// torch.ao.quantization.qconfig without `_qconfig` ("default", "default_per_channel",
/// "default_symmetric_qnnpack" ...).
std::optional<QConfig> presetQConfig(std::string_view name);
std::vector<std::string> presetNames();

} // namespace qs
