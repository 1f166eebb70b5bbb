// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph_edit.h"

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace torch::jit {
struct Value;
}

namespace qs {

class ScriptScope;
struct ScriptContainer;
using ScriptContainerPtr = std::shared_ptr<ScriptContainer>;

/// A value that a node of some scope makes.
struct ScopedRef
{
    ScriptScope* scope = nullptr;
    ValueRef ref;
    bool maybeNone = false; ///< an optional, known only at run time
    friend bool operator==(const ScopedRef&, const ScopedRef&) = default;
};

/// The knowledge of a TorchScript value while its program is read: a plain constant (never a
/// tensor), something a node makes, or a tuple, list, dict or object whose parts are known one by
/// one. monostate: a value that no path reads (prim::Uninitialized).
using ScriptItem = std::variant<std::monostate, at::IValue, ScopedRef, ScriptContainerPtr>;

using ScriptItems = std::vector<ScriptItem>;

/// The item of a program's node that needs no operator; else nothing.
using ScriptAnswer = std::optional<ScriptItem>;

/// The items of the values of one call of a function.
using ScriptEnv = std::unordered_map<const torch::jit::Value*, ScriptItem>;

/// A tuple, list, dict or object. Lists, dicts and objects have identity and may change while the
/// program is read; tuples do not.
struct ScriptContainer
{
    enum class Kind
    {
        Tuple,
        List,
        Dict,
        Object
    };
    Kind kind = Kind::Tuple;
    c10::TypePtr type; ///< of the container itself
    std::vector<ScriptItem> items; ///< elements, dict values, or the object's slots in order
    std::vector<at::IValue> keys; ///< of a dict
    std::optional<ScopedRef> runtime; ///< known as a whole only at run time; `items` is empty then
    std::optional<ScopedRef> sizesOf; ///< a list that is the sizes of this tensor
    std::string path; ///< of a module: its dotted path
    at::IValue saved; ///< the object as the file has it; None of one that the program made
};

/// True when the items are the same thing: equal constants, the same value, the same object, tuples
/// of same things.
bool sameItem(const ScriptItem& a, const ScriptItem& b);

inline const at::IValue* knownValue(const ScriptItem& item)
{
    return std::get_if<at::IValue>(&item);
}
inline const ScopedRef* runtimeValue(const ScriptItem& item)
{
    return std::get_if<ScopedRef>(&item);
}
/// Null if the item is not a container.
inline ScriptContainer* containerOf(const ScriptItem& item)
{
    const auto* held = std::get_if<ScriptContainerPtr>(&item);
    return held ? held->get() : nullptr;
}
ScriptContainer::Kind kindOf(const c10::Type& type);
/// The tuple, list or dict whose parts are known one by one; null for other items.
const ScriptContainer* takenApart(const ScriptItem& item);

ScriptItem makeContainer(ScriptContainer::Kind kind, c10::TypePtr type,
                         std::vector<ScriptItem> items);

/// The item as a value that LibTorch's own lists and dicts can hold and hand on.
at::IValue handleOf(const ScriptItem& item);
/// The item of such a value; null for others.
const ScriptItem* heldItem(const at::IValue& value);

/// Remembers how containers were before they were first changed since a mark, so that the changes
/// of a branch can be read and taken back.
class ScriptJournal
{
public:
    using Changes = std::vector<std::pair<ScriptContainerPtr, ScriptContainer>>;

    /// Call before a container changes.
    void touch(const ScriptContainerPtr& container);
    /// Opens a mark.
    void open() { m_marks.emplace_back(); }
    /// Closes the innermost mark: every container changed since, with its new contents; restores
    /// the old ones.
    Changes closeAndRestore();
    /// Closes the innermost mark, the changes stay (and belong to the mark around it).
    void closeAndKeep();

private:
    std::vector<Changes> m_marks; ///< containers as they were
};

/// The content type of an optional; any other type itself.
c10::TypePtr unwrapped(const c10::TypePtr& type);
/// The element type of a tuple at the place, or of a list or dict.
c10::TypePtr partType(const c10::TypePtr& type, std::size_t place);
/// The elements of LibTorch's tuple, list or dict, and the keys of a dict.
std::vector<at::IValue> partsOf(const at::IValue& whole, std::vector<at::IValue>& keys);
/// The elements of a list or dict that a program reads.
struct ScriptParts
{
    std::size_t count = 0; ///< elements read one by one
    std::vector<std::string> keys;
    bool isReadWhole = false; ///< by something else, too
};
ScriptParts partsUsed(const torch::jit::Value& value);
/// A value that a node makes, as an item of the type: lists and dicts are containers.
ScriptItem runtimeItem(ScopedRef ref, const c10::TypePtr& type);
/// The run-time type of a value of this TorchScript type.
ValueType runtimeType(const c10::TypePtr& type);

/// The graph that nodes are being added to: the model's, or the body of a branch or loop. A body
/// reads values of the graphs around it through its inputs.
class ScriptScope
{
public:
    ScriptScope(ScriptScope* parent, std::shared_ptr<StoredTensors> tensors);

    ScriptScope* parent() const { return m_parent; }
    GraphEdit& edit() { return m_edit; }
    /// Appends a node and returns its id.
    NodeId append(Node node);
    /// Adds an input, parameter or constant, before the operators.
    NodeId addSource(Node node);
    /// The value as this scope sees it: its own, or an input for one of a scope around. Errors
    /// (Internal): the value belongs to a scope that has ended.
    Result<ValueRef> use(const ScopedRef& ref);
    /// From now on `inside`, an input, represents a value of the scope around.
    void bind(ValueRef outside, ValueRef inside) { m_inside[outside] = inside; }
    /// The outer values of the inputs made by `use`, in their order.
    const std::vector<ValueRef>& captures() const { return m_captures; }
    const Value& value(ValueRef ref) const;

    /// Number of appended nodes; `rollBack` removes those after it, which must be unread.
    std::size_t mark() const { return m_appended.size(); }
    void rollBack(std::size_t mark);

private:
    ScriptScope* m_parent;
    GraphEdit m_edit;
    std::vector<NodeId> m_appended;
    NodeId m_firstOperator;
    std::vector<ValueRef> m_captures;
    std::unordered_map<ValueRef, ValueRef> m_inside;
};

inline const Value& scopedValue(const ScopedRef& ref)
{
    return ref.scope->value(ref.ref);
}

} // namespace qs
