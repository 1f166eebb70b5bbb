// SPDX-License-Identifier: Apache-2.0
#include "engine/export/onnx/onnx_builder.h"

#include "engine/execute/torch_types.h"
#include "engine/export/onnx/onnx_call.h"
#include "engine/export/onnx/onnx_handlers.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/quantized_target.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <iterator>

namespace qs {

namespace {

constexpr std::int64_t kSharedElements = 16; ///< up to this size, equal initializers are shared

/// A key for the content of a small tensor.
std::string contentKey(const at::Tensor& tensor)
{
    std::string key(c10::toString(tensor.scalar_type()));
    for (const std::int64_t size : tensor.sizes())
        key += "," + std::to_string(size);
    key += ":";
    key.append(static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes());
    return key;
}

bool isSize(const Value& value)
{
    return value.type.kind == ValueKind::SymInt || value.type.kind == ValueKind::SymFloat
        || value.type.kind == ValueKind::SymBool;
}

} // namespace

OnnxBuilder::OnnxBuilder(GraphPtr graph, Interpreter interpreter, OnnxNames& names,
                         std::int64_t opset, OnnxTarget target)
    : m_graph(std::move(graph))
    , m_interpreter(std::move(interpreter))
    , m_names(names)
    , m_opset(opset)
    , m_target(target)
{
    for (const NodePtr& node : m_graph->nodes()) {
        if (node->kind != NodeKind::Op || node->outputs.empty()
            || !m_interpreter.isConstant({node->id, 0}))
            continue;
        bool follows = isDequantizeStep(node->target);
        for (const NamedArgument& arg : node->args)
            forEachRef(arg.value, [&](ValueRef ref) {
                follows = follows || m_dequantized.contains(ref.node);
            });
        if (follows)
            m_dequantized.insert(node->id);
    }
}

bool OnnxBuilder::isLazy(const Node& node) const
{
    return node.kind == NodeKind::Op && !node.outputs.empty()
        && std::all_of(node.outputs.begin(), node.outputs.end(), isSize);
}

bool OnnxBuilder::isFolded(const Node& node) const
{
    return node.kind == NodeKind::Op && !node.outputs.empty()
        && m_interpreter.isConstant({node.id, 0}) && !m_dequantized.contains(node.id);
}

const OnnxHandler* OnnxBuilder::handlerOf(const Node& node) const
{
    bool complex = std::any_of(node.outputs.begin(), node.outputs.end(),
                               [](const Value& value) { return isComplex(value.type.dtype); });
    for (const NamedArgument& arg : node.args)
        forEachRef(arg.value, [&](ValueRef ref) {
            complex = complex || isComplex(m_graph->value(ref).type.dtype);
        });
    return findOnnxHandler(node, complex);
}

std::vector<bool> OnnxBuilder::neededNodes() const
{
    const auto nodes = m_graph->nodes();
    std::vector<bool> needed(nodes.size(), false);
    for (std::size_t i = nodes.size(); i-- > 0;) {
        const Node& node = *nodes[i];
        if (node.kind == NodeKind::Output)
            needed[i] = true;
        if (!needed[i] || isFolded(node))
            continue;
        for (const NamedArgument& arg : node.args)
            forEachRef(arg.value,
                       [&](ValueRef ref) { needed[m_graph->position(ref.node)] = true; });
    }
    return needed;
}

OnnxBuilder::Missing OnnxBuilder::missing() const
{
    Missing out;
    const std::vector<bool> needed = neededNodes();
    for (std::size_t i = 0; i < needed.size(); ++i) {
        const Node& node = *m_graph->nodes()[i];
        if (!needed[i] || !node.isOperator() || isFolded(node) || handlerOf(node))
            continue;
        if (!out.first)
            out.first = &node;
        if (std::find(out.targets.begin(), out.targets.end(), node.target) == out.targets.end())
            out.targets.push_back(node.target);
    }
    return out;
}

Result<void> OnnxBuilder::run(const JobContext& job)
{
    const std::vector<bool> needed = neededNodes();
    for (std::size_t i = 0; i < needed.size(); ++i) {
        QS_CHECK(job.check());
        const Node& node = *m_graph->nodes()[i];
        if (needed[i] && node.isOperator() && !isFolded(node) && !isLazy(node))
            QS_CHECK(emitNode(node));
    }
    return {};
}

Result<void> OnnxBuilder::emitNode(const Node& node)
{
    const OnnxHandler* handler = handlerOf(node);
    if (!handler)
        return fail(onnxRefusal(node, "ONNX has no form of " + node.target));
    const Node* before = m_node;
    m_node = &node;
    OnnxCall call(*this, node);
    (*handler)(call);
    m_node = before;
    if (!call.refusal().empty())
        return fail(
            onnxRefusal(node, "ONNX has no form of this " + node.target + ": " + call.refusal()));
    return {};
}

Result<std::string> OnnxBuilder::value(ValueRef ref)
{
    if (const auto it = m_values.find(ref); it != m_values.end())
        return it->second;
    const Node& node = m_graph->get(ref.node);
    if (node.isStored() || isFolded(node))
        return storedValue(ref);
    if (isLazy(node)) {
        QS_CHECK(emitNode(node));
        if (const auto it = m_values.find(ref); it != m_values.end())
            return it->second;
    }
    return fail(onnxRefusal(node,
                            "ONNX has no form of '" + m_graph->value(ref).name + "', a result of "
                                + node.target));
}

Result<std::string> OnnxBuilder::storedValue(ValueRef ref)
{
    const Node& node = m_graph->get(ref.node);
    if (node.isStored() && node.tensor)
        if (const auto it = m_stored.find(node.tensor); it != m_stored.end())
            return m_values[ref] = it->second;
    const auto tensor = constant(ref);
    if (!tensor)
        return fail(onnxRefusal(node, "ONNX holds tensors only, and this value is not a tensor"));
    const std::string name = initializer(
        *tensor, node.isStored() && !node.target.empty() ? node.target : m_graph->value(ref).name);
    if (node.isStored() && node.tensor)
        m_stored[node.tensor] = name;
    return m_values[ref] = name;
}

std::optional<at::Tensor> OnnxBuilder::constant(ValueRef ref)
{
    const Node& node = m_graph->get(ref.node);
    if (!m_interpreter.isConstant(ref) || m_dequantized.contains(node.id))
        return std::nullopt;
    const Result<at::IValue> value = m_interpreter.constant(ref);
    if (!value)
        return std::nullopt;
    if (value->isTensor())
        return value->toTensor().detach().cpu();
    if (value->isInt())
        return at::scalar_tensor(value->toInt(), at::kLong);
    if (value->isDouble())
        return at::scalar_tensor(value->toDouble(), at::kDouble);
    if (value->isBool())
        return at::scalar_tensor(value->toBool(), at::kBool);
    return std::nullopt;
}

ValueType OnnxBuilder::typeOf(ValueRef ref) const
{
    ValueType type = m_graph->value(ref).type;
    if (type.kind != ValueKind::Tensor || type.shapeKnown || !m_interpreter.isConstant(ref))
        return type;
    const Result<at::IValue> value = m_interpreter.computeConstant(ref);
    if (!value || !value->isTensor())
        return type;
    type.dtype = fromScalarType(value->toTensor().scalar_type());
    type.shapeKnown = true;
    for (const std::int64_t size : value->toTensor().sizes())
        type.shape.push_back(Dim::fixed(size));
    return type;
}

std::vector<std::string> OnnxBuilder::emit(const std::string& op, std::vector<std::string> inputs,
                                           OnnxAttributes attributes, std::size_t outputs)
{
    OnnxNode made;
    const std::string base = m_node ? m_node->name : "value";
    for (std::size_t i = 0; i < outputs; ++i)
        made.outputs.push_back(m_names.unique(base + "/" + op));
    made.name = made.outputs.empty() ? m_names.unique(base + "/" + op) : made.outputs[0];
    made.op = op;
    made.inputs = std::move(inputs);
    made.attributes = std::move(attributes);
    if (m_node) {
        made.metadata = {{"quantscope.node", m_node->name}, {"quantscope.op", m_node->target}};
        if (!m_node->scope.path.empty())
            made.metadata.emplace_back("quantscope.module", m_node->scope.path);
        if (!m_node->scope.moduleClass.empty())
            made.metadata.emplace_back("quantscope.module_class", m_node->scope.moduleClass);
    }
    m_out.nodes.push_back(std::move(made));
    return m_out.nodes.back().outputs;
}

std::string OnnxBuilder::initializer(const at::Tensor& tensor, const std::string& wanted,
                                     bool isNibbles)
{
    at::Tensor held = tensor.detach().cpu().contiguous();
    if (held.is_complex())
        held = at::view_as_real(held.resolve_conj()).contiguous();
    std::string key;
    if (held.numel() <= kSharedElements) {
        key = (isNibbles ? "4" : "") + contentKey(held);
        if (const auto it = m_small.find(key); it != m_small.end())
            return it->second;
    }
    std::string name = m_names.unique(wanted);
    m_out.initializers.push_back({name, held, isNibbles});
    if (!key.empty())
        m_small[key] = name;
    return name;
}

std::string OnnxBuilder::adopt(OnnxGraph graph)
{
    std::move(graph.nodes.begin(), graph.nodes.end(), std::back_inserter(m_out.nodes));
    std::move(graph.initializers.begin(), graph.initializers.end(),
              std::back_inserter(m_out.initializers));
    return graph.outputs.at(0).name;
}

void OnnxBuilder::give(ValueRef ref, const std::string& name)
{
    std::string kept = name;
    // Renames the result of the last node, which has no readers yet, to the value's own name.
    if (!m_out.nodes.empty() && name.find('/') != std::string::npos) {
        auto& outputs = m_out.nodes.back().outputs;
        const auto it = std::find(outputs.begin(), outputs.end(), name);
        const auto output = std::find_if(m_outputs.begin(), m_outputs.end(),
                                         [&](const auto& o) { return o.first == ref; });
        if (it != outputs.end())
            kept = *it = output != m_outputs.end() ? output->second
                                                   : m_names.unique(m_graph->value(ref).name);
    }
    m_values[ref] = kept;
}

void OnnxBuilder::reserveOutput(ValueRef ref, const std::string& name)
{
    m_outputs.emplace_back(ref, name);
}

ValueType OnnxBuilder::outputType(ValueRef ref) const
{
    const ValueType& own = m_graph->value(ref).type;
    const Node* node = &m_graph->get(ref.node);
    while (isReferenceStep(node->target) && !node->args.empty() && node->args[0].value.asRef()) {
        ref = *node->args[0].value.asRef();
        node = &m_graph->get(ref.node);
    }
    ValueType type = m_graph->value(ref).type;
    type.dtype = own.dtype;
    // PyTorch's files record a wrong shape for the states of these networks.
    if (ref.index > 0 && (node->isOp(kLstmTarget) || node->isOp(kGruTarget)))
        type.shape.assign(3, Dim {});
    return type;
}

Result<void> OnnxBuilder::giveOutputs(bool shapes)
{
    for (const auto& [ref, name] : m_outputs) {
        QS_TRY(const std::string made, value(ref));
        if (made != name) {
            OnnxNode same;
            same.op = "Identity";
            same.inputs = {made};
            same.outputs = {name};
            same.name = m_names.unique(name + "/Identity");
            m_out.nodes.push_back(std::move(same));
        }
        m_out.outputs.push_back(declared(name, outputType(ref), false));
        if (!shapes)
            m_out.outputs.back().shape.reset();
    }
    return {};
}

OnnxValue OnnxBuilder::declared(const std::string& name, const ValueType& type, bool sizes)
{
    OnnxValue made;
    made.name = name;
    made.dtype = type.kind == ValueKind::SymInt ? DType::Int64
        : type.kind == ValueKind::SymFloat      ? DType::Float64
        : type.kind == ValueKind::SymBool       ? DType::Bool
        : type.dtype == DType::Unknown          ? DType::Float32
                                                : type.dtype;
    if (type.kind != ValueKind::Tensor) {
        made.shape.emplace();
        return made;
    }
    if (!type.shapeKnown)
        return made;
    made.shape.emplace();
    for (std::size_t i = 0; i < type.shape.size(); ++i) {
        const Dim& dim = type.shape[i];
        if (dim.isSymbolic())
            made.shape->emplace_back(dim.symbol);
        else if (dim.size >= 0)
            made.shape->emplace_back(dim.size);
        else
            made.shape->emplace_back(sizes ? name + "_dim_" + std::to_string(i) : std::string());
    }
    return made;
}

OnnxGraph OnnxBuilder::take(const std::string& name)
{
    std::unordered_set<std::string> read;
    for (const OnnxValue& output : m_out.outputs)
        read.insert(output.name);
    const auto readInside = [&](const OnnxGraph& body, auto&& self) -> void {
        for (const OnnxNode& node : body.nodes) {
            read.insert(node.inputs.begin(), node.inputs.end());
            for (const OnnxAttribute& attribute : node.attributes)
                if (const auto* inner
                    = std::get_if<std::shared_ptr<const OnnxGraph>>(&attribute.value))
                    self(**inner, self);
        }
        for (const OnnxValue& output : body.outputs)
            read.insert(output.name);
    };
    std::vector<OnnxNode> kept;
    for (auto it = m_out.nodes.rbegin(); it != m_out.nodes.rend(); ++it) {
        const bool used = std::any_of(it->outputs.begin(), it->outputs.end(),
                                      [&](const std::string& o) { return read.contains(o); });
        if (!used)
            continue;
        OnnxGraph one;
        one.nodes.push_back(*it);
        readInside(one, readInside);
        kept.push_back(std::move(*it));
    }
    std::reverse(kept.begin(), kept.end());
    m_out.nodes = std::move(kept);
    std::erase_if(m_out.initializers, [&](const OnnxTensor& t) { return !read.contains(t.name); });
    m_out.name = name;
    return std::move(m_out);
}

Error onnxRefusal(const Node& node, const std::string& why)
{
    const std::string where
        = node.scope.path.empty() ? std::string() : " (module '" + node.scope.path + "')";
    return makeError(ErrorCode::Unsupported, why + where)
        .atNode(node.name)
        .withHint("export another form");
}

} // namespace qs
