// SPDX-License-Identifier: Apache-2.0
#include "engine/export/torchscript/script_builder.h"

#include "engine/base/text.h"
#include "engine/export/torchscript/script_literals.h"
#include "engine/export/torchscript/script_ops.h"
#include "engine/graph/code/code_names.h"
#include "engine/graph/code/code_statements.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/operators.h"

#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/ir/named_value.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <algorithm>
#include <utility>

namespace qs {

namespace {

c10::TypePtr withoutOptional(const c10::TypePtr& type)
{
    if (const auto optional = type->cast<c10::OptionalType>())
        return optional->getElementType();
    return type;
}

} // namespace

ScriptBuilder::ScriptBuilder(const Graph& source, const Interpreter& interpreter,
                             const CodeCalls& names)
    : m_source(&source)
    , m_interpreter(&interpreter)
    , m_names(&names)
    , m_modules(source, names)
    , m_body(std::make_shared<torch::jit::Graph>())
{
    m_self = m_body->addInput("self");
    m_self->setType(m_modules.at(m_path)._ivalue()->type());
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
    if (maker.kind == NodeKind::Op && isPrepackTarget(maker.target)) {
        QS_TRY(const at::IValue packed, m_interpreter->constant(ref));
        // Files cannot store a tensor in oneDNN's layout: it is packed where it is used.
        if (packed.isTensor() && packed.toTensor().is_mkldnn()) {
            QS_CHECK(emitNode(*this, maker));
            return m_values.at(ref);
        }
    }
    auto made = constantValue(ref);
    if (made)
        m_values[ref] = *made;
    return made;
}

namespace {

/// Whether results depend on the weight's `requires_grad`: if its matrix requires gradients,
/// `matmul` folds a batch into one product, even without gradient mode, and then sums in another
/// order. Other weights are written without `requires_grad`.
bool gradientsMatter(const Graph& graph, ValueRef weight)
{
    constexpr std::size_t kMatrix = 2;
    const ValueType& type = graph.value(weight).type;
    const auto multiplies = [&](const Use& use) {
        const Node& node = graph.get(use.node);
        return node.isOp(kLinearTarget) || node.isOp("aten.matmul.default");
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
    const ScriptModules::Place place = placeOf(node, ref);
    torch::jit::Module& module = m_modules.at(place.path);
    if (constant->isTensor()) {
        const at::Tensor& tensor = constant->toTensor();
        const bool trained = node.kind == NodeKind::Parameter && !node.isBuffer;
        if (trained && tensor.is_floating_point())
            module.register_parameter(place.name, tensor.set_requires_grad(asksForGradients),
                                      false);
        else
            module.register_buffer(place.name, tensor);
    } else {
        module.register_attribute(place.name, constant->type(), *constant);
    }
    m_placeOf[ref] = place;
    return read(place);
}

/// Place of a stored value: under its path, or in the module whose forward reads it.
ScriptModules::Place ScriptBuilder::placeOf(const Node& node, ValueRef ref)
{
    const bool held = node.kind != NodeKind::Op && !node.target.empty();
    if (!m_path.empty()) {
        const bool packed = isPrepackTarget(node.target);
        return m_modules.place(m_path,
                               held         ? lastPart(node.target)
                                   : packed ? "_packed_params"
                                            : m_source->value(ref).name);
    }
    const auto dot = held ? node.target.rfind('.') : std::string::npos;
    if (dot != std::string::npos && m_modules.has(node.target.substr(0, dot)))
        return m_modules.place(node.target.substr(0, dot), lastPart(node.target));
    if (const auto holder = m_names->holders.find(ref.node); holder != m_names->holders.end())
        return m_modules.place(holder->second.path, "_packed_params");
    const auto named = m_names->packedWeights.find(ref.node);
    return m_modules.place({},
                           held                                        ? node.target
                               : named != m_names->packedWeights.end() ? named->second
                                                                       : m_source->value(ref).name);
}

/// The module at a path below the one whose forward is written.
ScriptValue* ScriptBuilder::moduleValue(const std::string& path)
{
    ScriptValue* at = m_self;
    for (std::size_t begin = 0; begin < path.size();) {
        const auto end = std::min(path.find('.', begin), path.size());
        at = m_body->insertGetAttr(at, path.substr(begin, end - begin));
        begin = end + 1;
    }
    return at;
}

ScriptValue* ScriptBuilder::read(const ScriptModules::Place& place)
{
    ScriptValue* owner = place.path == m_path ? m_self : moduleValue(place.path);
    ScriptValue* value = m_body->insertGetAttr(owner, place.name);
    value->setDebugName(place.name);
    return value;
}

Result<void> ScriptBuilder::setAttribute(ValueRef holder, ScriptValue* value)
{
    QS_CHECK(this->value(holder));
    const ScriptModules::Place& place = m_placeOf.at(holder);
    torch::jit::Node* set
        = m_body->create(torch::jit::prim::SetAttr, {moduleValue(place.path), value}, 0);
    set->s_(torch::jit::attr::name, place.name);
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
    // An optional value for a parameter that does not accept None: the model ensures it is not
    // None.
    const bool takesNone
        = *wanted != *type || type->kind() == c10::TypeKind::AnyType || type->hasFreeVariables();
    const auto optional = made->type()->cast<c10::OptionalType>();
    return optional && !takesNone ? m_body->insertUncheckedCast(made, optional->getElementType())
                                  : made;
}

Result<ScriptValue*> ScriptBuilder::operand(const Node& node, const std::string& name,
                                            const Argument& argument, const c10::TypePtr& type)
{
    const bool isNumber = argument.asDouble() || argument.asInt();
    const bool scale = isScale(name);
    if (!isNumber || !(scale || isZeroPoint(name)))
        return this->argument(argument, type);
    std::string wanted;
    if (!m_path.empty()) {
        wanted = scale ? "scale" : "zero_point";
    } else if (const auto own = m_names->parameters.find(node.id);
               own != m_names->parameters.end()) {
        wanted = scale ? own->second.scale : own->second.zeroPoint;
    } else {
        return this->argument(argument, type);
    }
    return read(m_modules.keepNumber(m_path, wanted, literalOf(argument, withoutOptional(type))));
}

Result<ScriptValue*> ScriptBuilder::plainArgument(const Argument& argument,
                                                  const c10::TypePtr& type)
{
    const auto* ref = argument.asRef();
    if (!ref) {
        if (argument.asList())
            return fail(ErrorCode::Unsupported,
                        "a list is given where " + type->str() + " is expected");
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
    static const CodeCalls kNoNames;
    const Graph* outerSource = std::exchange(m_source, &inner.graph());
    const CodeCalls* outerNames = std::exchange(m_names, &kNoNames);
    const Interpreter* outerInterpreter = std::exchange(m_interpreter, &inner);
    auto outerValues = std::exchange(m_values, {});
    auto written = writeInner(inputs);
    m_source = outerSource;
    m_names = outerNames;
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

Result<void> ScriptBuilder::write(const Node& node)
{
    const auto called = m_names->modules.find(node.id);
    return called != m_names->modules.end() ? writeCall(node, called->second.path)
                                            : emitNode(*this, node);
}

Result<void> ScriptBuilder::writeCall(const Node& node, const std::string& path)
{
    std::vector<ValueRef> reads;
    for (const NamedArgument& argument : node.args)
        forEachRef(argument.value, [&](ValueRef ref) {
            const bool stays = m_source->get(ref.node).isStored() || m_interpreter->isConstant(ref);
            if (!stays && std::find(reads.begin(), reads.end(), ref) == reads.end())
                reads.push_back(ref);
        });
    std::vector<ScriptValue*> given;
    for (const ValueRef ref : reads) {
        QS_TRY(ScriptValue * made, value(ref));
        given.push_back(made);
    }
    auto outerBody = std::exchange(m_body, std::make_shared<torch::jit::Graph>());
    auto outerValues = std::exchange(m_values, {});
    ScriptValue* outerSelf = m_self;
    m_path = path;
    auto returned = writeForward(node, reads, given);
    m_path.clear();
    m_self = outerSelf;
    m_values = std::move(outerValues);
    const auto body = std::exchange(m_body, std::move(outerBody)); // keeps `returned` alive
    QS_CHECK(returned);
    given.insert(given.begin(), moduleValue(path));
    torch::jit::Node* call = m_body->create(torch::jit::prim::CallMethod, given, 1);
    call->s_(torch::jit::attr::name, "forward");
    call->output()->setType((*returned)->type());
    m_body->insertNode(call);
    call->output()->setDebugName(identifier(moduleCallName(path)));
    bind({node.id, 0}, call->output());
    return {};
}

Result<ScriptValue*> ScriptBuilder::writeForward(const Node& node,
                                                 const std::vector<ValueRef>& reads,
                                                 const std::vector<ScriptValue*>& given)
{
    m_self = m_body->addInput("self");
    m_self->setType(m_modules.at(m_path)._ivalue()->type());
    for (std::size_t i = 0; i < reads.size(); ++i)
        bind(reads[i], addInput(m_source->value(reads[i]).name, given[i]->type()));
    QS_CHECK(emitNode(*this, node));
    QS_TRY(ScriptValue * returned, value({node.id, 0}));
    closeForward(returned);
    return returned;
}

void ScriptBuilder::closeForward(ScriptValue* returned)
{
    m_body->registerOutput(returned);
    torch::jit::EliminateDeadCode(m_body);
    m_body->lint();
    const torch::jit::Module& module = m_modules.at(m_path);
    const auto type = module.type();
    auto* forward = module._ivalue()->compilation_unit()->create_function(
        c10::QualifiedName(*type->name(), "forward"), m_body);
    type->addMethod(forward);
}

torch::jit::Module ScriptBuilder::finish(ScriptValue* returned)
{
    closeForward(returned);
    return m_modules.at(m_path);
}

} // namespace qs
