// SPDX-License-Identifier: Apache-2.0
#include "engine/export/torchscript/script_builder.h"

#include "engine/execute/torch_types.h"
#include "engine/export/torchscript/script_ops.h"

#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/ir/named_value.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

namespace qs {

namespace {

std::string className(const ModelInfo& info)
{
    const auto dot = info.name.rfind('.');
    const std::string bare = dot == std::string::npos ? info.name : info.name.substr(dot + 1);
    return "__torch__." + identifier(bare.empty() ? "Model" : bare);
}

bool isLiteral(const at::IValue& value)
{
    return value.isNone() || value.isInt() || value.isDouble() || value.isBool() || value.isString()
        || value.isDevice() || value.isIntList() || value.isDoubleList() || value.isBoolList();
}

c10::MemoryFormat memoryFormatOf(const std::string& name)
{
    if (name == "channels_last")
        return c10::MemoryFormat::ChannelsLast;
    if (name == "channels_last_3d")
        return c10::MemoryFormat::ChannelsLast3d;
    return name == "preserve_format" ? c10::MemoryFormat::Preserve : c10::MemoryFormat::Contiguous;
}

c10::Layout layoutOf(const std::string& name)
{
    if (name == "sparse_coo")
        return c10::Layout::Sparse;
    if (name == "sparse_csr")
        return c10::Layout::SparseCsr;
    return name == "_mkldnn" || name == "mkldnn" ? c10::Layout::Mkldnn : c10::Layout::Strided;
}

/// LibTorch writes a whole number of 1e10 and more without a point, which reads as an integer where
/// a float is wanted, such as a scale: the double next to it, the same float32.
double writtenAsFloat(double value)
{
    constexpr double kWithoutPoint = 1e10;
    const bool isWhole = std::abs(value) >= kWithoutPoint && std::trunc(value) == value;
    return isWhole ? std::nextafter(value, 0.0) : value;
}

/// Enumerations travel as integers in TorchScript; a number takes the type the schema asks for.
at::IValue literalOf(const Argument& argument, const c10::TypePtr& type)
{
    const bool wantsFloat = type->kind() == c10::TypeKind::FloatType;
    if (const auto* v = argument.asBool())
        return at::IValue(*v);
    if (const auto* v = argument.asInt())
        return wantsFloat ? at::IValue(writtenAsFloat(double(*v))) : at::IValue(*v);
    if (const auto* v = argument.asDouble())
        return at::IValue(wantsFloat ? writtenAsFloat(*v) : *v);
    if (const auto* v = argument.asString())
        return at::IValue(*v);
    if (const auto* v = argument.asDType())
        return at::IValue(std::int64_t(toScalarType(*v)));
    if (const auto* v = std::get_if<Device>(&argument.value))
        return at::IValue(toTorchDevice(*v));
    if (const auto* v = std::get_if<LayoutTag>(&argument.value))
        return at::IValue(std::int64_t(layoutOf(v->name)));
    if (const auto* v = std::get_if<MemoryFormatTag>(&argument.value))
        return at::IValue(std::int64_t(memoryFormatOf(v->name)));
    if (const auto* v = std::get_if<ComplexNumber>(&argument.value))
        return at::IValue(c10::complex<double>(v->real, v->imaginary));
    return {};
}

c10::TypePtr withoutOptional(const c10::TypePtr& type)
{
    if (const auto optional = type->cast<c10::OptionalType>())
        return optional->getElementType();
    return type;
}

} // namespace

std::string identifier(const std::string& text)
{
    std::string out = text;
    std::replace_if(
        out.begin(), out.end(), [](unsigned char c) { return !std::isalnum(c) && c != '_'; }, '_');
    if (out.empty() || std::isdigit(static_cast<unsigned char>(out.front())))
        out.insert(out.begin(), '_');
    return out;
}

ScriptBuilder::ScriptBuilder(const Graph& source, const Interpreter& interpreter)
    : m_source(&source)
    , m_interpreter(&interpreter)
    , m_module(c10::QualifiedName(className(source.info())))
    , m_body(std::make_shared<torch::jit::Graph>())
    , m_attributes {"training", "forward", "self"}
{
    m_module.register_attribute("training", c10::BoolType::get(), false);
    m_self = m_body->addInput("self");
    m_self->setType(m_module._ivalue()->type());
}

ScriptValue* ScriptBuilder::addInput(const std::string& name, const c10::TypePtr& type)
{
    ScriptValue* input = m_body->addInput(identifier(name));
    input->setType(type);
    return input;
}

void ScriptBuilder::bind(ValueRef ref, ScriptValue* value)
{
    m_values[ref] = value;
}

Result<ScriptValue*> ScriptBuilder::value(ValueRef ref)
{
    if (const auto it = m_values.find(ref); it != m_values.end())
        return it->second;
    const Node& maker = m_source->get(ref.node);
    if (!maker.isStored() && !m_interpreter->isConstant(ref))
        return fail(makeError(ErrorCode::Internal, "its value is used before it is computed")
                        .atNode(maker.name));
    auto made = constantValue(ref);
    if (made)
        m_values[ref] = *made;
    return made;
}

namespace {

/// `matmul` makes one product of a batch where its matrix asks for gradients, whether any are made
/// or not, and adds up otherwise then. No other weight asks for them in what is written.
bool gradientsMatter(const Graph& graph, ValueRef weight)
{
    constexpr std::size_t kMatrix = 2;
    const ValueType& type = graph.value(weight).type;
    const auto multiplies = [&](const Use& use) {
        const Node& node = graph.get(use.node);
        return node.isOp("aten.linear.default") || node.isOp("aten.matmul.default");
    };
    const auto users = graph.users(weight);
    return type.shapeKnown && type.shape.size() <= kMatrix
        && std::any_of(users.begin(), users.end(), multiplies);
}

} // namespace

Result<ScriptValue*> ScriptBuilder::constantValue(ValueRef ref)
{
    const Node& node = m_source->get(ref.node);
    auto constant = m_interpreter->constant(ref);
    if (!constant)
        return fail(std::move(constant).error().atNode(node.name));
    bool asksForGradients = false;
    if (constant->isTensor()) {
        asksForGradients = constant->toTensor().requires_grad() && gradientsMatter(*m_source, ref);
        constant = at::IValue(constant->toTensor().detach());
    }
    if (isLiteral(*constant))
        return literal(*constant);
    const std::string name = attributeName(node, ref);
    if (constant->isTensor()) {
        const at::Tensor& tensor = constant->toTensor();
        const bool trained = node.kind == NodeKind::Parameter && !node.isBuffer;
        if (trained && tensor.is_floating_point())
            m_module.register_parameter(name, tensor.set_requires_grad(asksForGradients), false);
        else
            m_module.register_buffer(name, tensor);
    } else {
        m_module.register_attribute(name, constant->type(), *constant);
    }
    m_attributeOf[ref] = name;
    ScriptValue* attribute = m_body->insertGetAttr(m_self, name);
    attribute->setDebugName(name);
    return attribute;
}

std::string ScriptBuilder::attributeName(const Node& node, ValueRef ref)
{
    const bool held = node.kind != NodeKind::Op && !node.target.empty();
    const std::string wanted = identifier(held ? node.target : m_source->value(ref).name);
    std::string name = wanted;
    for (int suffix = 1; !m_attributes.insert(name).second; ++suffix)
        name = wanted + "_" + std::to_string(suffix);
    return name;
}

Result<void> ScriptBuilder::setAttribute(ValueRef holder, ScriptValue* value)
{
    QS_CHECK(this->value(holder));
    torch::jit::Node* set = m_body->create(torch::jit::prim::SetAttr, {m_self, value}, 0);
    set->s_(torch::jit::attr::name, m_attributeOf.at(holder));
    m_body->insertNode(set);
    return {};
}

ScriptValue* ScriptBuilder::literal(const at::IValue& value)
{
    return m_body->insertConstant(value);
}

ScriptValue* ScriptBuilder::call(const std::string& name, const std::vector<ScriptValue*>& args)
{
    const std::vector<torch::jit::NamedValue> named(args.begin(), args.end());
    return m_body->insert(c10::Symbol::fromQualString(name), named);
}

Result<ScriptValue*> ScriptBuilder::argument(const Argument& argument, const c10::TypePtr& type)
{
    if (argument.isNone())
        return literal({});
    const c10::TypePtr wanted = withoutOptional(type);
    if (const auto list = wanted->cast<c10::ListType>()) {
        if (const auto* items = argument.asList())
            return listArgument(*items, list->getElementType());
        if (!argument.asRef())
            return listArgument({argument}, list->getElementType());
    }
    QS_TRY(ScriptValue * made, plainArgument(argument, wanted));
    // A value that may be None, at a place that takes none: the model made sure that it is not.
    const bool takesNone
        = *wanted != *type || type->kind() == c10::TypeKind::AnyType || type->hasFreeVariables();
    const auto optional = made->type()->cast<c10::OptionalType>();
    return optional && !takesNone ? m_body->insertUncheckedCast(made, optional->getElementType())
                                  : made;
}

Result<ScriptValue*> ScriptBuilder::plainArgument(const Argument& argument,
                                                  const c10::TypePtr& type)
{
    const auto* ref = argument.asRef();
    if (!ref) {
        if (argument.asList())
            return fail(ErrorCode::Unsupported,
                        "a list stands where " + type->str() + " is wanted");
        return literal(literalOf(argument, type));
    }
    QS_TRY(ScriptValue * given, value(*ref));
    const auto kind = given->type()->kind();
    if (type->kind() == c10::TypeKind::FloatType && kind == c10::TypeKind::IntType)
        return call("aten::Float", {given});
    if (type->kind() == c10::TypeKind::IntType && kind == c10::TypeKind::TensorType)
        return call("aten::Int", {given});
    if (type->kind() == c10::TypeKind::FloatType && kind == c10::TypeKind::TensorType)
        return call("aten::Float", {given});
    return given;
}

Result<ScriptValue*> ScriptBuilder::listArgument(const Argument::List& list,
                                                 const c10::TypePtr& element)
{
    std::vector<ScriptValue*> items;
    for (const Argument& item : list) {
        QS_TRY(ScriptValue * made, this->argument(item, element));
        items.push_back(made);
    }
    const bool free = element->hasFreeVariables() && !items.empty();
    return m_body->insertNode(m_body->createList(free ? items.front()->type() : element, items))
        ->output();
}

Result<std::vector<ScriptValue*>>
ScriptBuilder::inlineGraph(const Graph& graph, const std::vector<ScriptValue*>& inputs)
{
    QS_TRY(const Interpreter inner, Interpreter::create(std::make_shared<const Graph>(graph)));
    const Graph* outerSource = std::exchange(m_source, &inner.graph());
    const Interpreter* outerInterpreter = std::exchange(m_interpreter, &inner);
    auto outerValues = std::exchange(m_values, {});
    auto written = writeInner(inputs);
    m_source = outerSource;
    m_interpreter = outerInterpreter;
    m_values = std::move(outerValues);
    return written;
}

Result<std::vector<ScriptValue*>> ScriptBuilder::writeInner(const std::vector<ScriptValue*>& inputs)
{
    std::size_t next = 0;
    for (const NodePtr& node : m_source->nodes()) {
        if (node->kind == NodeKind::Input)
            bind({node->id, 0}, inputs.at(next++));
        else if (node->kind == NodeKind::Op)
            QS_CHECK(emitNode(*this, *node));
    }
    std::vector<ScriptValue*> out;
    for (const NamedArgument& returned : m_source->output().args) {
        QS_TRY(ScriptValue * made, argument(returned.value, c10::AnyType::get()));
        out.push_back(made);
    }
    return out;
}

torch::jit::Module ScriptBuilder::finish(ScriptValue* returned)
{
    m_body->registerOutput(returned);
    torch::jit::EliminateDeadCode(m_body);
    m_body->lint();
    const auto type = m_module.type();
    auto* forward = m_module._ivalue()->compilation_unit()->create_function(
        c10::QualifiedName(*type->name(), "forward"), m_body);
    type->addMethod(forward);
    return m_module;
}

} // namespace qs
