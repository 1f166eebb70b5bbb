// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/extension_packs.h"
#include "engine/custom_modules/custom_module.h"

#include <span>

namespace qs {

/// Returns "mypack.unit_int8.default" for "mypack::unit_int8". Fails (Unsupported) if LibTorch has
/// no such operator.
Result<std::string> callTarget(const std::string& kernel);

/// Returns the number of results of the call's operator; 0 if LibTorch does not have it.
std::size_t resultCount(const PackCall& call);

/// Returns a body with the gathered module's inputs that calls the operator in float.
GraphEdit observedBody(const Node& module, const PackCall& call);

/// Builds the arguments of a kernel that replaces a gathered module in a lowered draft.
class PackCallArguments
{
public:
    /// `isStatic`: the inputs are quantized, except those in `carried`. `module` is the float node;
    /// the draft's node has the same arguments.
    PackCallArguments(ModuleDraft& draft, const Node& module, std::span<const std::size_t> carried,
                      std::span<const std::optional<InteriorGrid>> grids, bool isStatic);

    Result<std::vector<NamedArgument>> all(const std::vector<KernelArgument>& wanted);

private:
    Result<Argument> one(const KernelArgument& wanted);

    ModuleDraft& m_draft;
    const Node& m_module;
    std::span<const std::size_t> m_carried;
    std::span<const std::optional<InteriorGrid>> m_grids;
    bool m_isStatic;
};

} // namespace qs
