// SPDX-License-Identifier: Apache-2.0
#include "engine/export/torchscript/script_structure.h"

#include "engine/import/pt2/model_structure.h"

#include <algorithm>

namespace qs {

namespace {

/// Type of an argument that the export fixed: it stays in the call, but its value is ignored.
c10::TypePtr constantType(const Argument& constant)
{
    if (constant.asBool())
        return c10::BoolType::get();
    if (constant.asInt())
        return c10::IntType::get();
    if (constant.asDouble())
        return c10::FloatType::get();
    if (constant.asString())
        return c10::StringType::get();
    return c10::OptionalType::create(c10::TensorType::get());
}

c10::TypePtr leafType(const InputLeaf& leaf)
{
    if (!leaf.node)
        return constantType(leaf.constant);
    switch (leaf.node->outputs.at(0).type.kind) {
    case ValueKind::SymInt:
        return c10::IntType::get();
    case ValueKind::SymFloat:
        return c10::FloatType::get();
    case ValueKind::SymBool:
        return c10::BoolType::get();
    case ValueKind::None:
        return c10::OptionalType::create(c10::TensorType::get());
    default:
        return c10::TensorType::get();
    }
}

bool allEqual(const std::vector<c10::TypePtr>& types)
{
    return std::all_of(types.begin(), types.end(),
                       [&](const c10::TypePtr& type) { return *type == *types.front(); });
}

c10::TypePtr tupleType(const TreeSpec& spec, const std::vector<c10::TypePtr>& types)
{
    if (spec.kind != TreeSpec::Kind::NamedTuple)
        return c10::TupleType::create(types);
    const auto dot = spec.typeName.rfind('.');
    const std::string bare
        = dot == std::string::npos ? spec.typeName : spec.typeName.substr(dot + 1);
    return c10::TupleType::createNamed(c10::QualifiedName("__torch__." + identifier(bare)),
                                       spec.keys, types);
}

/// The TorchScript type of a container of these members. TorchScript has no type for a list or
/// mapping whose members differ in type: a list becomes a tuple, a mapping one of Any.
c10::TypePtr containerType(const TreeSpec& spec, const std::vector<c10::TypePtr>& types)
{
    const bool uniform = types.empty() || allEqual(types);
    const c10::TypePtr member = types.empty() ? c10::TypePtr(c10::TensorType::get())
        : uniform                             ? types.front()
                                              : c10::TypePtr(c10::AnyType::get());
    if (spec.kind == TreeSpec::Kind::Dict)
        return c10::DictType::create(c10::StringType::get(), member);
    if (spec.kind == TreeSpec::Kind::List && uniform)
        return c10::ListType::create(member);
    return tupleType(spec, types);
}

/// Unpacks nested arguments into leaves.
class InputUnpacker
{
public:
    InputUnpacker(ScriptBuilder& builder, const std::vector<InputLeaf>& leaves)
        : m_builder(builder)
        , m_leaves(leaves)
    {
    }

    Result<void> argument(const TreeSpec& spec, const std::string& name)
    {
        std::size_t leaf = m_next;
        const c10::TypePtr type = typeOf(spec, leaf);
        return unpack(spec, m_builder.addInput(name, type));
    }

private:
    c10::TypePtr typeOf(const TreeSpec& spec, std::size_t& leaf) const
    {
        if (spec.kind == TreeSpec::Kind::Leaf)
            return leafType(m_leaves[leaf++]);
        std::vector<c10::TypePtr> types;
        for (const TreeSpec& child : spec.children)
            types.push_back(typeOf(child, leaf));
        return containerType(spec, types);
    }

    Result<void> unpack(const TreeSpec& spec, ScriptValue* value)
    {
        if (spec.kind == TreeSpec::Kind::Leaf) {
            if (const Node* input = m_leaves[m_next++].node)
                m_builder.bind({input->id, 0}, value);
            return {};
        }
        auto& body = m_builder.body();
        const auto kind = value->type()->kind();
        if (kind == c10::TypeKind::DictType)
            return unpackMapping(spec, value);
        auto* parts = kind == c10::TypeKind::ListType
            ? body.createListUnpack(value, spec.children.size())
            : body.createTupleUnpack(value);
        body.insertNode(parts);
        for (std::size_t i = 0; i < spec.children.size(); ++i)
            QS_CHECK(unpack(spec.children[i], parts->outputs()[i]));
        return {};
    }

    Result<void> unpackMapping(const TreeSpec& spec, ScriptValue* value)
    {
        const auto member = value->type()->expectRef<c10::DictType>().getValueType();
        if (member->kind() == c10::TypeKind::AnyType)
            return fail(ErrorCode::Unsupported,
                        "an input is a mapping of values of different types, which TorchScript "
                        "does not unpack");
        for (std::size_t i = 0; i < spec.children.size(); ++i)
            QS_CHECK(unpack(
                spec.children[i],
                m_builder.call("aten::__getitem__", {value, m_builder.literal(spec.keys[i])})));
        return {};
    }

    ScriptBuilder& m_builder;
    const std::vector<InputLeaf>& m_leaves;
    std::size_t m_next = 0;
};

/// Packs leaves into nested outputs.
class OutputPacker
{
public:
    explicit OutputPacker(ScriptBuilder& builder)
        : m_builder(builder)
        , m_leaves(builder.source().output().args)
    {
    }

    Result<ScriptValue*> pack(const TreeSpec& spec)
    {
        if (spec.kind == TreeSpec::Kind::Leaf)
            return leaf(m_leaves[m_next++].value);
        std::vector<ScriptValue*> members;
        std::vector<c10::TypePtr> types;
        for (const TreeSpec& child : spec.children) {
            QS_TRY(ScriptValue * member, pack(child));
            members.push_back(member);
            types.push_back(member->type());
        }
        return join(spec, containerType(spec, types), members);
    }

private:
    Result<ScriptValue*> leaf(const Argument& argument)
    {
        if (const auto* ref = argument.asRef())
            return m_builder.value(*ref);
        return m_builder.argument(argument, c10::NumberType::get());
    }

    ScriptValue* join(const TreeSpec& spec, const c10::TypePtr& type,
                      const std::vector<ScriptValue*>& members)
    {
        auto& body = m_builder.body();
        if (const auto mapping = type->cast<c10::DictType>()) {
            std::vector<ScriptValue*> keys;
            for (const std::string& key : spec.keys)
                keys.push_back(m_builder.literal(key));
            return body
                .insertNode(
                    body.createDict(mapping->getKeyType(), mapping->getValueType(), keys, members))
                ->output();
        }
        if (const auto list = type->cast<c10::ListType>())
            return body.insertNode(body.createList(list->getElementType(), members))->output();
        const auto named = spec.kind == TreeSpec::Kind::NamedTuple ? type->cast<c10::TupleType>()
                                                                   : c10::TupleTypePtr();
        return body.insertNode(body.createTuple(members, named))->output();
    }

    ScriptBuilder& m_builder;
    const std::vector<NamedArgument>& m_leaves;
    std::size_t m_next = 0;
};

} // namespace

Result<void> declareInputs(ScriptBuilder& builder)
{
    QS_TRY(const ModelStructure structure, modelStructure(builder.source()));
    InputUnpacker unpacker(builder, structure.leaves);
    std::size_t index = 0;
    for (const TreeSpec& group : structure.inputs.children)
        for (const TreeSpec& argument : group.children)
            QS_CHECK(unpacker.argument(argument, structure.argumentNames[index++]));
    return {};
}

Result<ScriptValue*> packOutputs(ScriptBuilder& builder)
{
    QS_TRY(const ModelStructure structure, modelStructure(builder.source()));
    return OutputPacker(builder).pack(structure.outputs);
}

} // namespace qs
