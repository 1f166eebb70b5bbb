// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/lowering_row_check.h"

#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"
#include "engine/configure/backend/lowering_names.h"
#include "engine/configure/backend/lowering_table.h"
#include "engine/configure/dumps/torch_names.h"
#include "engine/graph/operators/operator_name.h"
#include "engine/graph/operators/operators.h"

#include <algorithm>
#include <set>

namespace qs {

namespace {

std::string joined(const std::vector<std::string>& words)
{
    std::string out;
    for (const auto& word : words)
        out += (out.empty() ? "" : ", ") + word;
    return out;
}

/// The names known to PyTorch, for checking a recipe's rows.
class KnownNames
{
public:
    KnownNames()
    {
        if (auto names = TorchNames::load())
            m_torch = std::move(*names);
        for (const KernelRow& row : defaultKernelRows())
            for (const std::string& kind : row.pattern)
                m_kinds.insert({kind, row.pack.empty() ? kind.substr(0, kind.find('.')) : kind});
        for (const std::string& target : packOperators())
            m_kinds.insert(target);
    }
    /// Accepts all names of ATen operators: LibTorch checks them later.
    bool has(const std::string& given) const
    {
        const std::string name = fullTorchName(given);
        if (isOperatorName(given))
            return m_kinds.contains(operatorTarget(given))
                || operatorTarget(given).starts_with("aten.");
        if (m_torch.empty() || given.starts_with("aten.") || given.starts_with("aten::")
            || m_kinds.contains(given) || m_torch.has(name))
            return true;
        if (operatorParts(lastPart(name)).isInPlace())
            return has(name.substr(0, name.size() - 1));
        // Each function is listed under one name: torch.conv2d as torch.nn.functional.conv2d.
        const bool isWord = name.find('.') == std::string::npos;
        return (isWord || name == "torch." + lastPart(name))
            && (m_torch.has("torch." + lastPart(name))
                || m_torch.has("torch.nn.functional." + lastPart(name)));
    }
    /// Returns the first name of the pattern unknown to PyTorch, or null.
    const std::string* unknownOf(const std::vector<std::string>& pattern) const
    {
        const auto it = std::find_if(pattern.begin(), pattern.end(),
                                     [&](const std::string& name) { return !has(name); });
        return it == pattern.end() ? nullptr : &*it;
    }
    /// Returns "did you mean 'torch.nn.Linear'?" or "".
    std::string suggestion(const std::string& name) const
    {
        const bool isWord = name.find('.') == std::string::npos;
        if (isOperatorName(name)) {
            const std::string near
                = nearestName(operatorTarget(name), {m_kinds.begin(), m_kinds.end()});
            return near.empty()
                ? "give the folder of the extension pack that has it: --extension DIR"
                : "did you mean '" + near + "'?";
        }
        const std::string near = isWord ? nearestName(name, {m_kinds.begin(), m_kinds.end()})
                                        : m_torch.nearest(fullTorchName(name));
        return near.empty() ? "" : "did you mean '" + near + "'?";
    }

private:
    static bool isOperatorName(const std::string& name)
    {
        return name.starts_with("torch.ops.") || name.find("::") != std::string::npos;
    }

    TorchNames m_torch; ///< empty if the list is missing: then all names are accepted
    std::set<std::string> m_kinds;
};

} // namespace

std::string removalWarning(const LoweringRow& removal)
{
    const KnownNames names;
    std::string text
        = "convert.lowering.remove: the row [" + joined(removal.pattern) + "] removes nothing: ";
    if (const std::string* unknown = names.unknownOf(removal.pattern)) {
        const std::string near = names.suggestion(*unknown);
        return text + "PyTorch has no '" + *unknown + "'" + (near.empty() ? "" : "; " + near);
    }
    std::vector<std::string> patterns;
    for (const KernelRow& row : defaultKernelRows())
        patterns.push_back(joined(row.pattern));
    const std::string near = nearestName(joined(operatorKindsOf(removal.pattern)), patterns);
    return text + "the table has no such row"
        + (near.empty() ? std::string() : "; did you mean [" + near + "]?");
}

bool isKernelName(const std::string& to)
{
    return to.find("::") != std::string::npos || to == kSameKernel || to == kNoKernel;
}

Result<void> checkAddedRow(const LoweringRow& added)
{
    const KnownNames names;
    const std::string place = "convert.lowering.add: ";
    if (added.pattern.empty() || added.to.empty())
        return fail(makeError(ErrorCode::BadInput,
                              place + "a lowering row needs a pattern and a kernel (\"to\")")
                        .atNode(joined(added.pattern)));
    if (const std::string* unknown = names.unknownOf(added.pattern))
        return fail(makeError(ErrorCode::BadInput,
                              place + "the row [" + joined(added.pattern) + "] names '" + *unknown
                                  + "', which PyTorch does not have")
                        .withHint(names.suggestion(*unknown)));
    if (!isKernelName(added.to) && !names.has(added.to))
        return fail(makeError(ErrorCode::BadInput,
                              place + "the row [" + joined(added.pattern)
                                  + "] requires the kernel '" + added.to
                                  + "', which PyTorch does not have")
                        .withHint(names.suggestion(added.to)));
    return {};
}

} // namespace qs
