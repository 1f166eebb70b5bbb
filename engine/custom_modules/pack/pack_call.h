// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/extension_packs.h"
#include "engine/custom_modules/custom_module.h"

#include <span>

namespace qs {

/// "mypack.unit_int8.default" for "mypack::unit_int8". Errors (Unsupported): LibTorch has no such
/// operator.
Result<std::string> callTarget(const std::string& kernel);

/// How many values the call's operator gives; 0 if LibTorch does not have it.
std::size_t resultCount(const PackCall& call);

/// A body, with the inputs of the gathered module's, that calls the operator in float.
GraphEdit observedBody(const Node& module, const PackCall& call);

/// The arguments of a kernel that takes a gathered module's place in a lowered draft.
class PackCallArguments
{
public:
    /// `isStatic`: the inputs are quantized, except those of `carried`. `module` is the float node;
    /// the draft's has the same arguments.
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
