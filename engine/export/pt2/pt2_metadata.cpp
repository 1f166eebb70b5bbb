// SPDX-License-Identifier: Apache-2.0
#include "engine/export/pt2/pt2_metadata.h"

#include "engine/execute/torch_types.h"
#include "engine/graph/operators/quantized_target.h"
#include "engine/graph/source_frames.h"
#include "engine/import/pt2/pt2_metadata.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace qs {

namespace {

constexpr int kStrided = 7;

/// Number of elements in a contiguous run of dimensions, which is the stride of the dimension
/// before the run.
struct Step
{
    std::int64_t size = 1; ///< the hint when there are expressions
    std::vector<std::string> factors;

    void multiply(const Dim& dim)
    {
        size *= dim.size;
        if (dim.isSymbolic())
            factors.push_back(dim.expression);
        else
            m_fixed *= dim.size;
    }
    Pt2Json json() const
    {
        if (factors.empty())
            return {{"as_int", m_fixed}};
        std::string text
            = m_fixed == 1 ? std::string() : "Integer(" + std::to_string(m_fixed) + ")";
        for (const std::string& factor : factors)
            text += (text.empty() ? "" : ", ") + factor;
        if (factors.size() > 1 || m_fixed != 1)
            text = "Mul(" + text + ")";
        return {{"as_expr", {{"expr_str", text}, {"hint", {{"as_int", size}}}}}};
    }

private:
    std::int64_t m_fixed = 1;
};

Pt2Json rowMajor(const std::vector<Dim>& shape)
{
    std::vector<Pt2Json> strides(shape.size());
    Step step;
    for (std::size_t i = shape.size(); i-- > 0;) {
        strides[i] = step.json();
        if (shape[i].size != 0)
            step.multiply(shape[i]);
    }
    return strides;
}

Pt2Json tensorMeta(int dtype, Pt2Json sizes, Pt2Json strides, const Device& device,
                   bool requiresGrad)
{
    return {{"dtype", dtype},
            {"sizes", std::move(sizes)},
            {"requires_grad", requiresGrad},
            {"device", pt2Device(device)},
            {"strides", std::move(strides)},
            {"storage_offset", {{"as_int", 0}}},
            {"layout", kStrided}};
}

/// The type of a value. The result of a quantize or dequantize step has the element type that its
/// arguments give and, if its shape is unknown, the shape of its input.
ValueType typeOf(const Graph& graph, ValueRef ref)
{
    const Node& node = graph.get(ref.node);
    ValueType type = node.outputs.at(ref.index).type;
    const bool step = isQuantizeStep(node.target) || isDequantizeStep(node.target);
    if (type.kind != ValueKind::Tensor || !step)
        return type;
    if (!type.shapeKnown)
        if (const Argument* input = node.tryArg(std::size_t(0)); input && input->asRef()) {
            const ValueType given = typeOf(graph, *input->asRef());
            type.shape = given.shape;
            type.shapeKnown = given.shapeKnown;
            type.device = given.device;
        }
    const bool back = node.target.find(".dequantize_") != std::string::npos;
    const Argument* dtype = node.tryArg(back ? "out_dtype" : "dtype");
    type.dtype = dtype && dtype->asDType() ? *dtype->asDType() : DType::Float32;
    return type;
}

Result<Pt2Json> tensorValue(const Graph& graph, const Node& node, std::uint32_t index)
{
    const ValueType type = typeOf(graph, {node.id, index});
    const bool sized = std::all_of(type.shape.begin(), type.shape.end(), [](const Dim& dim) {
        return dim.size >= 0 || !dim.expression.empty();
    });
    if (!type.shapeKnown || !sized)
        return fail(makeError(ErrorCode::Unsupported, "the shape of its result is not known")
                        .atNode(node.name));
    auto dtype = pt2ScalarType(type.dtype);
    if (!dtype)
        return fail(std::move(dtype).error().atNode(node.name));
    Pt2Json sizes = Pt2Json::array();
    for (const Dim& dim : type.shape)
        sizes.push_back(pt2Dim(dim));
    const bool trained = node.kind == NodeKind::Parameter && !node.isBuffer
        && (isFloating(type.dtype) || type.dtype == DType::Complex64);
    return tensorMeta(*dtype, std::move(sizes), rowMajor(type.shape), type.device, trained);
}

/// Whether the original file's entry still has the value's element type and sizes.
bool stillFits(const Pt2Json& recorded, const Pt2Json& made)
{
    return recorded.is_object() && recorded.value("dtype", -1) == made.value("dtype", -2)
        && recorded.contains("sizes") && recorded["sizes"] == made["sizes"];
}

/// Entry of a symbolic number that the original file has no entry for; null without an expression.
Pt2Json symbolValue(const Value& value)
{
    if (value.type.expression.empty())
        return {};
    return {{"as_expr", {{"expr_str", value.type.expression}, {"hint", nullptr}}}};
}

const char* tableOf(ValueKind kind)
{
    switch (kind) {
    case ValueKind::SymInt:
        return "sym_int_values";
    case ValueKind::SymFloat:
        return "sym_float_values";
    case ValueKind::SymBool:
        return "sym_bool_values";
    default:
        return nullptr;
    }
}

Pt2Json recordedEntry(const Pt2Json& record, const char* table, const std::string& name)
{
    const auto values = record.find(table);
    if (values == record.end() || !values->is_object())
        return {};
    const auto it = values->find(name);
    return it == values->end() ? Pt2Json() : *it;
}

/// Adds an entry whose name must be new; a lookup would be linear in the size of the table.
void append(Pt2Json& table, const std::string& name, Pt2Json entry)
{
    table.get_ref<Pt2Json::object_t&>().emplace_back(name, std::move(entry));
}

Result<void> addValue(const Graph& graph, const Node& node, std::uint32_t index,
                      const Pt2Json& record, Pt2Json& out)
{
    const Value& value = node.outputs[index];
    if (value.type.kind == ValueKind::Tensor) {
        QS_TRY(Pt2Json made, tensorValue(graph, node, index));
        const Pt2Json recorded = recordedEntry(record, "tensor_values", value.name);
        append(out["tensor_values"], value.name, stillFits(recorded, made) ? recorded : made);
        return {};
    }
    if (value.type.kind == ValueKind::Custom) {
        append(out["custom_obj_values"], value.name,
               {{"name", value.name}, {"class_fqn", value.type.className}});
        return {};
    }
    const char* table = tableOf(value.type.kind);
    if (!table)
        return {};
    Pt2Json entry = recordedEntry(record, table, value.name);
    if (entry.is_null())
        entry = symbolValue(value);
    if (entry.is_null())
        return fail(makeError(ErrorCode::Unsupported,
                              "a .pt2 cannot hold the number of '" + node.target
                                  + "', known only at run time; export torchscript, or save the "
                                    "model with torch.export")
                        .atNode(node.name));
    append(out[table], value.name, std::move(entry));
    return {};
}

/// One level of a module stack, for a module and one of its calls.
std::string stackLevel(std::string path, const std::string& moduleClass, int callIndex)
{
    std::string key = path;
    std::replace_if(
        key.begin(), key.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
    std::replace_if(
        path.begin(), path.end(),
        [](char c) { return std::string_view(",;@()[]").find(c) != std::string_view::npos; }, '_');
    const std::string call = callIndex > 0 ? "@" + std::to_string(callIndex) : std::string();
    return "L__self__" + key + call + "," + path + call + "," + moduleClass;
}

/// The module stack of a node: all enclosing modules, outermost first.
std::string moduleStack(const Graph& graph, const Node& node)
{
    if (node.scope.path.empty() && node.scope.moduleClass.empty())
        return std::string(kNoModule) + "," + std::string(kNoModule) + "," + std::string(kNoModule);
    std::vector<std::string> levels;
    std::string path = node.scope.path;
    levels.push_back(stackLevel(path, node.scope.moduleClass, node.scope.callIndex));
    while (!path.empty()) {
        path = ModuleTree::parentPath(path);
        const ModuleEntry* entry = graph.modules().tryGet(path);
        levels.push_back(stackLevel(path, entry ? entry->moduleClass : std::string(), 0));
    }
    std::string text;
    for (auto level = levels.rbegin(); level != levels.rend(); ++level)
        text += (text.empty() ? "" : ";") + *level;
    return text;
}

} // namespace

Pt2Json pt2Dim(const Dim& dim)
{
    if (!dim.isSymbolic() && dim.expression.empty())
        return {{"as_int", dim.size}};
    const Pt2Json hint = dim.size < 0 ? Pt2Json() : Pt2Json {{"as_int", dim.size}};
    return {{"as_expr", {{"expr_str", dim.expression}, {"hint", hint}}}};
}

Pt2Json pt2HeldTensor(const at::Tensor& tensor, bool requiresGrad)
{
    std::vector<Dim> shape;
    Pt2Json sizes = Pt2Json::array();
    for (const std::int64_t size : tensor.sizes()) {
        shape.push_back(Dim::fixed(size));
        sizes.push_back(pt2Dim(shape.back()));
    }
    const auto dtype = pt2ScalarType(fromScalarType(tensor.scalar_type()));
    return tensorMeta(dtype ? *dtype : 0, std::move(sizes), rowMajor(shape), Device {},
                      requiresGrad);
}

Result<void> pt2Values(const Graph& graph, const Pt2Json& record, Pt2Json& out,
                       const JobContext& job)
{
    for (const char* table : {"tensor_values", "sym_int_values", "sym_bool_values",
                              "sym_float_values", "custom_obj_values"})
        out[table] = Pt2Json::object();
    std::size_t values = 0;
    for (const NodePtr& node : graph.nodes())
        values += node->outputs.size();
    out["tensor_values"].get_ref<Pt2Json::object_t&>().reserve(values); // growing would copy texts
    for (const NodePtr& node : graph.nodes()) {
        QS_CHECK(job.check());
        for (std::uint32_t i = 0; i < node->outputs.size(); ++i)
            QS_CHECK(addValue(graph, *node, i, record, out));
    }
    return {};
}

namespace {

/// Python stack trace of a node. Only the names of callers are known, so they are listed with the
/// node's file and without a line.
std::string stackTrace(const SourceLocation& source)
{
    const std::string file = "File \"" + source.file + "\", line ";
    std::string text;
    const std::vector<std::string> callers = callingFunctions(source);
    for (auto caller = callers.rbegin(); caller != callers.rend(); ++caller)
        text += file + "0, in " + *caller + "\n";
    return text + file + std::to_string(source.line) + ", in " + innermostFunction(source)
        + "\n    " + source.code;
}

} // namespace

Pt2Json pt2NodeMetadata(const Graph& graph, const Node& node)
{
    Pt2Json metadata = Pt2Json::object();
    if (!node.source.file.empty())
        metadata["stack_trace"] = stackTrace(node.source);
    metadata["nn_module_stack"] = moduleStack(graph, node);
    if (!node.torchFn.empty())
        metadata["torch_fn"] = node.name + ";" + node.torchFn;
    const Node* origin = node.origin ? graph.tryGet(node.origin) : nullptr;
    if (origin && origin->id != node.id)
        metadata["custom"] = Pt2Json {{"quantscope_origin", origin->name}}.dump();
    return metadata;
}

} // namespace qs
