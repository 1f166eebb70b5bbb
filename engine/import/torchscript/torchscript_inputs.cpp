// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/torchscript_inputs.h"

#include "engine/execute/torch_types.h"

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <torch/csrc/jit/api/function_impl.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

using PlainJson = nlohmann::json;
using Kind = ScriptContainer::Kind;

PlainJson tree(const char* type, const PlainJson& context, PlainJson children)
{
    return {{"type", type},
            {"context", context.is_null() ? std::string("null") : context.dump()},
            {"children_spec", std::move(children)}};
}

std::string wholeTree(PlainJson root)
{
    return PlainJson::array({1, std::move(root)}).dump();
}

PlainJson treeOf(const ScriptItem& item)
{
    const ScriptContainer* held = takenApart(item);
    if (!held)
        return {{"type", nullptr}, {"context", nullptr}, {"children_spec", PlainJson::array()}};
    PlainJson children = PlainJson::array(), keys = PlainJson::array();
    for (const ScriptItem& part : held->items)
        children.push_back(treeOf(part));
    for (const at::IValue& key : held->keys)
        keys.push_back(key.isString()    ? PlainJson(key.toStringRef())
                           : key.isInt() ? PlainJson(key.toInt())
                                         : PlainJson("?"));
    if (held->kind == Kind::Dict)
        return tree("builtins.dict", keys, std::move(children));
    return tree(held->kind == Kind::Tuple ? "builtins.tuple" : "builtins.list", nullptr,
                std::move(children));
}

class InputDeclarer
{
public:
    explicit InputDeclarer(ScriptScope& root)
        : m_root(root)
    {
    }

    Result<ScriptItem> declare(const c10::TypePtr& given, const std::string& name,
                               const at::IValue* traced, const torch::jit::Value* value)
    {
        const c10::TypePtr type = unwrapped(given);
        switch (type->kind()) {
        case c10::TypeKind::TensorType:
        case c10::TypeKind::IntType:
        case c10::TypeKind::FloatType:
        case c10::TypeKind::BoolType:
        case c10::TypeKind::NumberType:
            return leaf(runtimeType(type), name, traced);
        case c10::TypeKind::TupleType:
            return declareParts(Kind::Tuple, type, name, traced, value);
        case c10::TypeKind::ListType:
            return declareParts(Kind::List, type, name, traced, value);
        case c10::TypeKind::DictType:
            return declareParts(Kind::Dict, type, name, traced, value);
        default:
            return fail(makeError(ErrorCode::Unsupported,
                                  "the model's argument '" + name + "' is a "
                                      + type->annotation_str() + ", which no data file can give")
                            .withHint("give it a default value in forward and save the model "
                                      "again"));
        }
    }

private:
    ScriptItem leaf(ValueType type, const std::string& name, const at::IValue* traced)
    {
        if (type.kind == ValueKind::Tensor && traced && traced->isTensor()) {
            const at::Tensor& example = traced->toTensor();
            type.dtype = fromScalarType(example.scalar_type());
            type.shapeKnown = true;
            // Sizes that were traced are an example: the program takes others where its own
            // operators do.
            for (std::int64_t d = 0; d < example.dim(); ++d) {
                const std::string symbol = "s" + std::to_string(m_nextSymbol++);
                type.shape.push_back({example.size(d), symbol, symbol});
            }
        }
        Node input;
        input.kind = NodeKind::Input;
        input.name = input.target = name;
        input.outputs.push_back({"", std::move(type)});
        return ScopedRef {&m_root, {m_root.addSource(std::move(input)), 0}, false};
    }

    /// How many parts a list has and which keys a dict, the example tells, else the program's own
    /// use of it.
    Result<ScriptItem> declareParts(Kind kind, const c10::TypePtr& type, const std::string& name,
                                    const at::IValue* traced, const torch::jit::Value* value)
    {
        std::vector<at::IValue> examples, keys;
        if (traced && traced->isTuple())
            examples = traced->toTupleRef().elements().vec();
        else if (traced && traced->isList())
            examples = traced->toListRef().vec();
        else if (traced && traced->isGenericDict())
            for (const auto& entry : traced->toGenericDict())
                if (entry.key().isString()) {
                    keys.push_back(entry.key());
                    examples.push_back(entry.value());
                }
        const ScriptParts used = value ? partsUsed(*value) : ScriptParts();
        if (kind == Kind::Dict && keys.empty())
            keys.assign(used.keys.begin(), used.keys.end());
        const std::size_t count = kind == Kind::Tuple ? type->containedTypes().size()
            : kind == Kind::Dict                      ? keys.size()
            : examples.empty()                        ? used.count
                                                      : examples.size();
        if (count == 0 && kind != Kind::Tuple)
            return fail(
                makeError(ErrorCode::Unsupported,
                          "nothing in the file tells of the model's argument '" + name
                              + (kind == Kind::List ? "' how long it is" : "' which keys it has"))
                    .withHint("save a traced model, or take the argument apart in "
                              "forward"));
        std::vector<ScriptItem> items;
        for (std::size_t i = 0; i < count; ++i) {
            const std::string part = keys.empty() ? std::to_string(i) : keys[i].toStringRef();
            QS_TRY(ScriptItem made,
                   declare(partType(type, i), name + "_" + part,
                           i < examples.size() ? &examples[i] : nullptr, nullptr));
            items.push_back(std::move(made));
        }
        ScriptItem made = makeContainer(kind, type, std::move(items));
        containerOf(made)->keys = std::move(keys);
        return made;
    }

    ScriptScope& m_root;
    int m_nextSymbol = 0;
};

/// Flattens forward's return value.
Result<void> addOutputs(ScriptEvaluator& evaluator, const ScriptItem& item, Node& out)
{
    if (const ScriptContainer* held = takenApart(item)) {
        for (const ScriptItem& part : held->items)
            QS_CHECK(addOutputs(evaluator, part, out));
        return {};
    }
    QS_TRY(Argument value, evaluator.argument(item, c10::AnyType::get()));
    out.args.push_back({"", std::move(value)});
    return {};
}

} // namespace

Result<ScriptInputs> declareScriptInputs(torch::jit::Function& forward,
                                         const std::vector<at::IValue>& traced, ScriptScope& root)
{
    ScriptInputs inputs;
    InputDeclarer declarer(root);
    const auto& formal = forward.getSchema().arguments();
    const auto graph = torch::jit::toGraphFunction(forward).graph();
    PlainJson args = PlainJson::array();
    for (std::size_t i = 1; i < formal.size(); ++i) {
        const at::IValue* example = i - 1 < traced.size() ? &traced[i - 1] : nullptr;
        if (formal[i].default_value() && (!example || example->isNone())) {
            inputs.fixed.push_back(formal[i].name());
            continue; // the call fills it in
        }
        if (!inputs.fixed.empty())
            return fail(ErrorCode::Unsupported,
                        "the model's argument '" + formal[i].name()
                            + "' follows one that keeps its default");
        QS_TRY(ScriptItem declared,
               declarer.declare(formal[i].type(), formal[i].name(), example, graph->inputs()[i]));
        args.push_back(treeOf(declared));
        inputs.items.push_back(std::move(declared));
    }
    PlainJson children
        = PlainJson::array({tree("builtins.tuple", nullptr, std::move(args)),
                            tree("builtins.dict", PlainJson::array(), PlainJson::array())});
    inputs.tree = wholeTree(tree("builtins.tuple", nullptr, std::move(children)));
    return inputs;
}

Result<std::string> declareScriptOutput(ScriptEvaluator& evaluator, const ScriptItem& returned,
                                        ScriptScope& root)
{
    Node out;
    out.kind = NodeKind::Output;
    out.name = "output";
    QS_CHECK(addOutputs(evaluator, returned, out));
    root.edit().insert(std::move(out));
    return wholeTree(treeOf(returned));
}

} // namespace qs
