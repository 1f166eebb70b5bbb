// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/import/torchscript/walk/torchscript_values.h"

#include <vector>

namespace qs {

/// What several ways through a program agree on for one value, part by part: parts that are the
/// same whichever way is taken, and leaves known only at run time, which the node of the branch or
/// loop makes.
class ScriptPattern
{
public:
    /// Everything as it is now. Values that `outer` cannot see (a way's own) are leaves.
    static ScriptPattern of(const ScriptItem& item, const ScriptScope* outer);
    /// Weakens the pattern so that it covers `item` too. True when it changed.
    bool join(const ScriptItem& item);
    /// The parts of `item` at the leaves, in order.
    void collect(const ScriptItem& item, std::vector<ScriptItem>& leaves) const;
    /// The item with a value for each leaf, taken from `values` in order.
    ScriptItem build(const std::vector<ScopedRef>& values, std::size_t& next) const;
    /// Types of the leaves in order.
    void types(std::vector<ValueType>& out) const;

private:
    enum class Form
    {
        Fixed, ///< `fixed`, whichever way
        Parts, ///< a container of known parts
        Leaf
    };
    Form m_form = Form::Fixed;
    const ScriptScope* m_outer = nullptr;
    ScriptItem m_fixed;
    ScriptContainer m_shell; ///< of Parts: kind, type, keys, path
    std::vector<ScriptPattern> m_parts;
    ValueType m_type; ///< of a leaf
    c10::TypePtr m_listType; ///< of a leaf that is a list or dict
    bool m_maybeNone = false;

    void becomeLeaf(const ScriptItem& a, const ScriptItem& b);
};

/// Types of the leaves of all, in order.
std::vector<ValueType> leafTypes(const std::vector<ScriptPattern>& patterns);
/// The items of all with a value for each leaf, in order; there may be more values.
std::vector<ScriptItem> itemsOf(const std::vector<ScriptPattern>& patterns,
                                const std::vector<ScopedRef>& values);

/// What is known of the run-time value an item stands for.
ValueType itemType(const ScriptItem& item);

} // namespace qs
