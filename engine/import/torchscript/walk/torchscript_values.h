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

/// A value computed by a node of a scope.
struct ScopedRef
{
    ScriptScope* scope = nullptr;
    ValueRef ref;
    bool maybeNone = false; ///< an optional, known only at run time
    friend bool operator==(const ScopedRef&, const ScopedRef&) = default;
};

/// What is known of a TorchScript value during evaluation: a plain constant (never a tensor), a
/// value computed by a node, or a tuple, list, dict or object with individually known parts.
/// monostate: a value that no path reads (prim::Uninitialized).
using ScriptItem = std::variant<std::monostate, at::IValue, ScopedRef, ScriptContainerPtr>;

using ScriptItems = std::vector<ScriptItem>;

/// The result of a program's node that needs no operator; nullopt if it needs one.
using ScriptAnswer = std::optional<ScriptItem>;

/// The items of all values of one function call.
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
    std::optional<ScopedRef> runtime; ///< set if known only at run time; `items` is then empty
    std::optional<ScopedRef> sizesOf; ///< set if the list is the sizes of this tensor
    std::string path; ///< dotted path of a module
    at::IValue saved; ///< the object in the file; None if the program created it
};

/// True if the items are identical: equal constants, the same value, the same object, or tuples of
/// identical items.
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
/// Returns the tuple, list or dict with individually known parts; null for other items.
const ScriptContainer* takenApart(const ScriptItem& item);

ScriptItem makeContainer(ScriptContainer::Kind kind, c10::TypePtr type,
                         std::vector<ScriptItem> items);

/// Wraps the item in a value that LibTorch's lists and dicts can store.
at::IValue handleOf(const ScriptItem& item);
/// Returns the item wrapped in such a value; null for others.
const ScriptItem* heldItem(const at::IValue& value);

/// Saves containers before their first change since a mark, so that the changes of a branch can be
/// read and undone.
class ScriptJournal
{
public:
    using Changes = std::vector<std::pair<ScriptContainerPtr, ScriptContainer>>;

    /// Call before a container changes.
    void touch(const ScriptContainerPtr& container);
    /// Opens a mark.
    void open() { m_marks.emplace_back(); }
    /// Closes the innermost mark. Returns every container changed since with its new contents, and
    /// restores the old ones.
    Changes closeAndRestore();
    /// Closes the innermost mark and keeps the changes, which then belong to the enclosing mark.
    void closeAndKeep();

private:
    std::vector<Changes> m_marks; ///< saved containers
};

/// Returns the content type of an optional; other types unchanged.
c10::TypePtr unwrapped(const c10::TypePtr& type);
/// Returns a tuple's element type at `place`, or the element type of a list or dict.
c10::TypePtr partType(const c10::TypePtr& type, std::size_t place);
/// Returns the elements of LibTorch's tuple, list or dict, and stores the keys of a dict.
std::vector<at::IValue> partsOf(const at::IValue& whole, std::vector<at::IValue>& keys);
/// The elements of a list or dict read by a program.
struct ScriptParts
{
    std::size_t count = 0; ///< number of elements read individually
    std::vector<std::string> keys;
    bool isReadWhole = false; ///< also read in another way
};
ScriptParts partsUsed(const torch::jit::Value& value);
/// Returns a node's value as an item of the type: lists and dicts become containers.
ScriptItem runtimeItem(ScopedRef ref, const c10::TypePtr& type);
/// Returns the run-time type of a value of this TorchScript type.
ValueType runtimeType(const c10::TypePtr& type);

/// The graph that nodes are being added to: the model's, or the body of a branch or loop. A body
/// reads values of enclosing graphs through its inputs.
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
    /// Returns the value as seen in this scope: its own, or an input for a value of an enclosing
    /// scope. Fails (Internal) if the value's scope has ended.
    Result<ValueRef> use(const ScopedRef& ref);
    /// Makes `inside`, an input, represent a value of the enclosing scope.
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
