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

PlainJson leafTree()
{
    return {{"type", nullptr}, {"context", nullptr}, {"children_spec", PlainJson::array()}};
}

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

/// What the program's own use of a list or dict argument tells about its parts.
struct Parts
{
    std::size_t count = 0;
    std::vector<std::string> keys;
};

Parts partsUsed(const torch::jit::Value* value)
{
    Parts parts;
    for (const auto& use : value ? value->uses() : torch::jit::use_list()) {
        const std::string kind = use.user->kind().toQualString();
        if (use.user->kind() == c10::prim::ListUnpack)
            parts.count = std::max(parts.count, use.user->outputs().size());
        const auto key = kind == "aten::__getitem__" || kind == "aten::__contains__"
            ? torch::jit::toIValue(use.user->input(1))
            : std::nullopt;
        if (key && key->isInt() && key->toInt() >= 0 && key->toInt() < 1024)
            parts.count = std::max(parts.count, std::size_t(key->toInt()) + 1);
        if (key && key->isString()
            && std::find(parts.keys.begin(), parts.keys.end(), key->toStringRef())
                == parts.keys.end())
            parts.keys.push_back(key->toStringRef());
    }
    return parts;
}

class InputDeclarer
{
public:
    explicit InputDeclarer(ScriptScope& root)
        : m_root(root)
    {
    }

    struct Declared
    {
        ScriptItem item;
        PlainJson tree;
    };

    Result<Declared> declare(const c10::TypePtr& given, const std::string& name,
                             const at::IValue* traced, const torch::jit::Value* value)
    {
        c10::TypePtr type = given;
        if (const auto optional = type->cast<c10::OptionalType>())
            type = optional->getElementType();
        if (const auto tuple = type->cast<c10::TupleType>())
            return declareTuple(tuple, name, traced);
        if (const auto list = type->cast<c10::ListType>())
            return declareList(list, name, traced, value);
        if (const auto dict = type->cast<c10::DictType>())
            return declareDict(dict, name, traced, value);
        switch (type->kind()) {
        case c10::TypeKind::TensorType:
        case c10::TypeKind::IntType:
        case c10::TypeKind::FloatType:
        case c10::TypeKind::BoolType:
        case c10::TypeKind::NumberType:
            return Declared {leaf(runtimeType(type), name, traced), leafTree()};
        default:
            return fail(makeError(ErrorCode::Unsupported,
                                  "the model's argument '" + name + "' is a "
                                      + type->annotation_str() + ", which no data file can give")
                            .withHint("give it a default value in forward and save the model "
                                      "again"));
        }
    }

private:
    ScopedRef leaf(ValueType type, const std::string& name, const at::IValue* traced)
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
        return {&m_root, {m_root.addSource(std::move(input)), 0}, false};
    }

    Result<Declared> declareTuple(const c10::TupleTypePtr& type, const std::string& name,
                                  const at::IValue* traced)
    {
        std::vector<ScriptItem> items;
        PlainJson children = PlainJson::array();
        const auto& elements = type->elements();
        for (std::size_t i = 0; i < elements.size(); ++i) {
            const bool has
                = traced && traced->isTuple() && i < traced->toTupleRef().elements().size();
            QS_TRY(Declared part,
                   declare(elements[i], name + "_" + std::to_string(i),
                           has ? &traced->toTupleRef().elements()[i] : nullptr, nullptr));
            items.push_back(std::move(part.item));
            children.push_back(std::move(part.tree));
        }
        return Declared {makeContainer(Kind::Tuple, type, std::move(items)),
                         tree("builtins.tuple", nullptr, std::move(children))};
    }

    Result<Declared> declareList(const c10::ListTypePtr& type, const std::string& name,
                                 const at::IValue* traced, const torch::jit::Value* value)
    {
        std::vector<at::IValue> examples;
        if (traced && traced->isList())
            examples = traced->toListRef().vec();
        const std::size_t count = examples.empty() ? partsUsed(value).count : examples.size();
        std::vector<ScriptItem> items;
        PlainJson children = PlainJson::array();
        for (std::size_t i = 0; i < count; ++i) {
            QS_TRY(Declared part,
                   declare(type->getElementType(), name + "_" + std::to_string(i),
                           i < examples.size() ? &examples[i] : nullptr, nullptr));
            items.push_back(std::move(part.item));
            children.push_back(std::move(part.tree));
        }
        if (count == 0)
            return fail(unknownLength(name, "how long it is"));
        return Declared {makeContainer(Kind::List, type, std::move(items)),
                         tree("builtins.list", nullptr, std::move(children))};
    }

    Result<Declared> declareDict(const c10::DictTypePtr& type, const std::string& name,
                                 const at::IValue* traced, const torch::jit::Value* value)
    {
        std::vector<std::pair<std::string, const at::IValue*>> entries;
        std::vector<at::IValue> examples;
        std::vector<std::string> keys = partsUsed(value).keys;
        if (traced && traced->isGenericDict()) {
            keys.clear();
            for (const auto& entry : traced->toGenericDict())
                if (entry.key().isString()) {
                    keys.push_back(entry.key().toStringRef());
                    examples.push_back(entry.value());
                }
        }
        if (keys.empty())
            return fail(unknownLength(name, "which keys it has"));
        std::vector<ScriptItem> items;
        std::vector<at::IValue> known;
        PlainJson children = PlainJson::array();
        for (std::size_t i = 0; i < keys.size(); ++i) {
            QS_TRY(Declared part,
                   declare(type->getValueType(), name + "_" + keys[i],
                           i < examples.size() ? &examples[i] : nullptr, nullptr));
            items.push_back(std::move(part.item));
            known.emplace_back(keys[i]);
            children.push_back(std::move(part.tree));
        }
        ScriptItem made = makeContainer(Kind::Dict, type, std::move(items));
        containerOf(made)->keys = std::move(known);
        return Declared {std::move(made), tree("builtins.dict", keys, std::move(children))};
    }

    static Error unknownLength(const std::string& name, const std::string& what)
    {
        return makeError(ErrorCode::Unsupported,
                         "nothing in the file tells of the model's argument '" + name + "' " + what)
            .withHint("save a traced model, or take the argument apart in forward");
    }

    ScriptScope& m_root;
    int m_nextSymbol = 0;
};

/// Flattens forward's return value.
class OutputDeclarer
{
public:
    OutputDeclarer(ScriptEvaluator& evaluator, Node& out)
        : m_evaluator(evaluator)
        , m_out(out)
    {
    }

    Result<PlainJson> declare(const ScriptItem& item)
    {
        const ScriptContainer* held = containerOf(item);
        if (!held || held->runtime || held->sizesOf || held->kind == Kind::Object) {
            QS_TRY(Argument value, m_evaluator.argument(item, c10::AnyType::get()));
            m_out.args.push_back({"", std::move(value)});
            return leafTree();
        }
        PlainJson children = PlainJson::array();
        for (const ScriptItem& part : held->items) {
            QS_TRY(PlainJson child, declare(part));
            children.push_back(std::move(child));
        }
        if (held->kind == Kind::Tuple)
            return tree("builtins.tuple", nullptr, std::move(children));
        if (held->kind == Kind::List)
            return tree("builtins.list", nullptr, std::move(children));
        PlainJson keys = PlainJson::array();
        for (const at::IValue& key : held->keys)
            keys.push_back(key.isString()    ? PlainJson(key.toStringRef())
                               : key.isInt() ? PlainJson(key.toInt())
                                             : PlainJson("?"));
        return tree("builtins.dict", keys, std::move(children));
    }

private:
    ScriptEvaluator& m_evaluator;
    Node& m_out;
};

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
        QS_TRY(auto declared,
               declarer.declare(formal[i].type(), formal[i].name(), example, graph->inputs()[i]));
        inputs.items.push_back(std::move(declared.item));
        args.push_back(std::move(declared.tree));
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
    QS_TRY(PlainJson declared, OutputDeclarer(evaluator, out).declare(returned));
    root.edit().insert(std::move(out));
    return wholeTree(std::move(declared));
}

} // namespace qs
