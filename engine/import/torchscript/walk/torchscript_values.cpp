// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/walk/torchscript_values.h"

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include <algorithm>

namespace qs {

namespace {

struct ItemHandle : torch::CustomClassHolder
{
    explicit ItemHandle(ScriptItem held)
        : item(std::move(held))
    {
    }
    ScriptItem item;
};

/// Saves a container's state unless an earlier one is saved.
void keepFirst(ScriptJournal::Changes& saved, const ScriptContainerPtr& container,
               const ScriptContainer& before)
{
    if (std::none_of(saved.begin(), saved.end(),
                     [&](const auto& entry) { return entry.first == container; }))
        saved.emplace_back(container, before);
}

} // namespace

at::IValue handleOf(const ScriptItem& item)
{
    return at::IValue::make_capsule(c10::make_intrusive<ItemHandle>(item));
}

const ScriptItem* heldItem(const at::IValue& value)
{
    return value.isCapsule() ? &static_cast<const ItemHandle&>(*value.toCapsule()).item : nullptr;
}

ScriptContainer::Kind kindOf(const c10::Type& type)
{
    using Kind = ScriptContainer::Kind;
    return type.kind() == c10::TypeKind::TupleType ? Kind::Tuple
        : type.kind() == c10::TypeKind::ListType   ? Kind::List
        : type.kind() == c10::TypeKind::DictType   ? Kind::Dict
                                                   : Kind::Object;
}

const ScriptContainer* takenApart(const ScriptItem& item)
{
    const ScriptContainer* held = containerOf(item);
    return held && !held->runtime && !held->sizesOf && held->kind != ScriptContainer::Kind::Object
        ? held
        : nullptr;
}

ScriptItem makeContainer(ScriptContainer::Kind kind, c10::TypePtr type,
                         std::vector<ScriptItem> items)
{
    auto made = std::make_shared<ScriptContainer>();
    made->kind = kind;
    made->type = std::move(type);
    made->items = std::move(items);
    return made;
}

bool sameItem(const ScriptItem& a, const ScriptItem& b)
{
    if (a.index() != b.index())
        return false;
    if (const auto* known = knownValue(a)) {
        const at::IValue& other = *knownValue(b);
        return known->tagKind() == other.tagKind() && *known == other;
    }
    if (const auto* ref = runtimeValue(a))
        return ref->scope == runtimeValue(b)->scope && ref->ref == runtimeValue(b)->ref;
    const auto* left = containerOf(a);
    const auto* right = containerOf(b);
    if (left == right)
        return true;
    if (left->kind != ScriptContainer::Kind::Tuple || right->kind != left->kind
        || left->items.size() != right->items.size())
        return false;
    return std::equal(left->items.begin(), left->items.end(), right->items.begin(), sameItem);
}

void ScriptJournal::touch(const ScriptContainerPtr& container)
{
    if (!m_marks.empty())
        keepFirst(m_marks.back(), container, *container);
}

ScriptJournal::Changes ScriptJournal::closeAndRestore()
{
    Changes changes = std::move(m_marks.back());
    m_marks.pop_back();
    for (auto& [container, contents] : changes)
        std::swap(*container, contents);
    return changes;
}

void ScriptJournal::closeAndKeep()
{
    const Changes inner = std::move(m_marks.back());
    m_marks.pop_back();
    if (!m_marks.empty())
        for (const auto& [container, before] : inner)
            keepFirst(m_marks.back(), container, before);
}

c10::TypePtr unwrapped(const c10::TypePtr& type)
{
    const auto optional = type->cast<c10::OptionalType>();
    return optional ? optional->getElementType() : type;
}

c10::TypePtr partType(const c10::TypePtr& type, std::size_t place)
{
    const auto inside = type->containedTypes();
    if (inside.empty())
        return c10::AnyType::get();
    return type->kind() == c10::TypeKind::TupleType && place < inside.size() ? inside[place]
                                                                             : inside.back();
}

ScriptItem runtimeItem(ScopedRef ref, const c10::TypePtr& type)
{
    ref.maybeNone = ref.maybeNone || type->kind() == c10::TypeKind::OptionalType;
    const c10::TypePtr plain = unwrapped(type);
    const auto kind = kindOf(*plain);
    if (ref.maybeNone
        || (kind != ScriptContainer::Kind::List && kind != ScriptContainer::Kind::Dict))
        return ref;
    ScriptItem made = makeContainer(kind, plain, {});
    containerOf(made)->runtime = ref;
    return made;
}

std::vector<at::IValue> partsOf(const at::IValue& whole, std::vector<at::IValue>& keys)
{
    if (whole.isTuple())
        return whole.toTupleRef().elements().vec();
    if (whole.isList())
        return whole.toListRef().vec();
    std::vector<at::IValue> parts;
    for (const auto& entry : whole.toGenericDict()) {
        keys.push_back(entry.key());
        parts.push_back(entry.value());
    }
    return parts;
}

ScriptParts partsUsed(const torch::jit::Value& value)
{
    constexpr std::int64_t kMost = 1024;
    ScriptParts parts;
    for (const auto& use : value.uses()) {
        const torch::jit::Node& user = *use.user;
        const auto kind = user.kind();
        const auto key = kind == c10::aten::__getitem__ || kind == c10::aten::__contains__
            ? torch::jit::toIValue(user.input(1))
            : std::nullopt;
        if (kind == c10::prim::ListUnpack)
            parts.count = std::max(parts.count, user.outputs().size());
        else if (key && key->isInt() && key->toInt() >= 0 && key->toInt() < kMost)
            parts.count = std::max(parts.count, std::size_t(key->toInt()) + 1);
        else if (!key || !key->isString())
            parts.isReadWhole = true;
        else if (std::find(parts.keys.begin(), parts.keys.end(), key->toStringRef())
                 == parts.keys.end())
            parts.keys.push_back(key->toStringRef());
    }
    return parts;
}

ValueType runtimeType(const c10::TypePtr& given)
{
    using Type = c10::TypeKind;
    static const std::unordered_map<Type, ValueKind> kKinds {
        {Type::TensorType, ValueKind::Tensor},  {Type::IntType, ValueKind::SymInt},
        {Type::FloatType, ValueKind::SymFloat}, {Type::NumberType, ValueKind::SymFloat},
        {Type::BoolType, ValueKind::SymBool},   {Type::NoneType, ValueKind::None},
        {Type::TupleType, ValueKind::Tuple},    {Type::ListType, ValueKind::Tuple},
        {Type::DictType, ValueKind::Tuple}};
    const c10::TypePtr type = unwrapped(given);
    const auto known = kKinds.find(type->kind());
    ValueType made;
    made.kind = known == kKinds.end() ? ValueKind::Custom : known->second;
    if (made.kind == ValueKind::Tuple || made.kind == ValueKind::Custom)
        made.className = type->annotation_str();
    return made;
}

ScriptScope::ScriptScope(ScriptScope* parent, std::shared_ptr<StoredTensors> tensors)
    : m_parent(parent)
{
    m_edit.setTensors(std::move(tensors));
}

NodeId ScriptScope::append(Node node)
{
    const NodeId id = m_edit.insert(std::move(node));
    m_appended.push_back(id);
    if (!m_firstOperator)
        m_firstOperator = id;
    return id;
}

NodeId ScriptScope::addSource(Node node)
{
    return m_edit.insert(std::move(node), m_firstOperator);
}

Result<ValueRef> ScriptScope::use(const ScopedRef& ref)
{
    if (ref.scope == this)
        return ref.ref;
    if (!m_parent)
        return fail(ErrorCode::Internal, "a value is read outside the branch that makes it");
    QS_TRY(const ValueRef outside, m_parent->use(ref));
    if (const auto it = m_inside.find(outside); it != m_inside.end())
        return it->second;
    Node input;
    input.kind = NodeKind::Input;
    const Value& value = m_parent->value(outside);
    input.name = input.target = value.name;
    input.outputs.push_back(value);
    input.outputs[0].name.clear();
    const ValueRef inside {addSource(std::move(input)), 0};
    m_captures.push_back(outside);
    m_inside[outside] = inside;
    return inside;
}

const Value& ScriptScope::value(ValueRef ref) const
{
    return m_edit.get(ref.node).outputs.at(ref.index);
}

void ScriptScope::rollBack(std::size_t mark)
{
    while (m_appended.size() > mark) {
        m_edit.erase(m_appended.back());
        m_appended.pop_back();
    }
    if (m_appended.empty())
        m_firstOperator = {};
}

} // namespace qs
