// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/custom_modules/custom_module.h"

namespace qs {

/// The lowered draft as the custom module `id` sees it.
class LoweredModuleDraft : public ModuleDraft
{
public:
    LoweredModuleDraft(GraphEdit& edit, NodeId id);

    const Node& module() const override { return m_module; }
    Result<ValueRef> quantized(const Argument& argument, const std::string& what) const override;
    Result<ValueRef> quantizedWeight(ValueRef dequantized) const override;
    Result<ValueRef> pack(const std::string& packing,
                          std::vector<NamedArgument> arguments) override;
    NodeId call(Node node) override;

private:
    GraphEdit& m_edit;
    const Node m_module;
};

} // namespace qs
