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
    /// Key "result": "float": the result of a weighted operator is float; the activation observer
    /// applies to its inputs. Corresponds to an annotation without `output_qspec` in PT2E's
    /// quantizers.
    bool floatResult = false;
    friend bool operator==(const QConfig&, const QConfig&) = default;
};

/// An optional qconfig, stored as one shared pointer because thousands of nodes carry the same few
/// qconfigs. Interface of std::optional<QConfig>; compares by content.
class SharedQConfig
{
public:
    SharedQConfig() = default;
    SharedQConfig(std::nullopt_t) { }
    SharedQConfig(QConfig qconfig)
        : m_value(std::make_shared<const QConfig>(std::move(qconfig)))
    {
    }
    SharedQConfig(std::optional<QConfig> qconfig)
        : m_value(qconfig ? std::make_shared<const QConfig>(std::move(*qconfig)) : nullptr)
    {
    }
    explicit operator bool() const { return bool(m_value); }
    bool has_value() const { return bool(m_value); }
    const QConfig& operator*() const { return *m_value; }
    const QConfig* operator->() const { return m_value.get(); }
    friend bool operator==(const SharedQConfig& a, const SharedQConfig& b)
    {
        return a.m_value == b.m_value || (a.m_value && b.m_value && *a.m_value == *b.m_value);
    }

private:
    std::shared_ptr<const QConfig> m_value;
};

/// A qconfig with its name in rules; `config` empty = "keep float" (null in a recipe).
struct NamedQConfig
{
    std::string name; ///< "x86", "act7", "" for null
    SharedQConfig config;
    friend bool operator==(const NamedQConfig&, const NamedQConfig&) = default;
};

/// True if the activation or the weight has a fake-quantize: a qconfig for training.
bool isForTraining(const QConfig& qconfig);

/// Returns a preset by name. Names: those of `get_default_qconfig` ("x86", "fbgemm", "qnnpack",
/// "onednn") and of `get_default_qat_qconfig` ("x86_qat", version 0: "x86_qat_v0"); those of
/// torch.ao.quantization.qconfig without `_qconfig` ("default", "default_per_channel",
/// "default_qat_v2" ...); "symmetric_qnnpack(_qat)" and "tensorrt", which also name whole mappings.
std::optional<QConfig> presetQConfig(std::string_view name);
std::vector<std::string> presetNames();

} // namespace qs
