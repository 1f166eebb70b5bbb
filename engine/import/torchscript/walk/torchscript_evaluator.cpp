// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/walk/torchscript_evaluator.h"

#include "engine/execute/classes/class_methods.h"
#include "engine/graph/operators/state.h"
#include "engine/import/pt2/pt2_metadata.h"
#include "engine/import/torchscript/walk/torchscript_control.h"

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <string_view>

namespace qs {

namespace {

constexpr std::size_t kMaxCallDepth = 200;

/// "torch.nn.functional.relu" for the functions of torch.nn.functional, else empty.
std::string functionalName(const torch::jit::Function& function)
{
    constexpr std::string_view kPrefix = "__torch__.torch.nn.functional.";
    const std::string& name = function.qualname().qualifiedName();
    return name.starts_with(kPrefix) ? functionalWord(function.name()) : std::string();
}

/// True for a module's forward. A trace names later calls forward1, forward2; a script names
/// overloads forward__0. Other methods, such as forward_features, belong to the call that contains
/// them.
bool isForward(const std::string& method)
{
    constexpr std::string_view kForward = "forward", kOverload = "__";
    if (!method.starts_with(kForward))
        return false;
    std::string_view number = std::string_view(method).substr(kForward.size());
    if (number.starts_with(kOverload))
        number.remove_prefix(kOverload.size());
    return number.find_first_not_of("0123456789") == number.npos;
}

} // namespace

ScriptEvaluator::ScriptEvaluator(ScriptScope& root, ScriptWeights& weights,
                                 const ScriptDebug& debug, const JobContext& job)
    : m_weights(weights)
    , m_job(job)
    , m_emitter(root, debug)
{
}

Result<ScriptItem> ScriptEvaluator::item(const JitValue* value, const Env& env)
{
    const auto it = env.find(value);
    if (it == env.end())
        return fail(ErrorCode::Internal,
                    "the value '%" + value->debugName() + "' is read before it is made");
    return it->second;
}

Result<ScriptEvaluator::Items> ScriptEvaluator::inputs(const JitNode& node, const Env& env)
{
    return eachOf(node.inputs(), [&](const JitValue* input) { return item(input, env); });
}

Result<ScriptItem> ScriptEvaluator::call(torch::jit::Function& function, Items args,
                                         const ScriptContainer* module)
{
    if (!function.isGraphFunction())
        return fail(ErrorCode::Unsupported,
                    "calls the method '" + function.name() + "' of a C++ class");
    std::vector<ScriptPlace>& places = m_emitter.places();
    if (places.size() >= kMaxCallDepth)
        return fail(ErrorCode::BadInput, "calls are nested too deeply");
    const auto& schema = function.getSchema();
    const auto graph = torch::jit::toGraphFunction(function).graph();
    for (std::size_t i = args.size(); i < schema.arguments().size(); ++i) {
        QS_TRY(ScriptItem value, m_weights.item(schema.arguments()[i].default_value().value(), ""));
        args.push_back(std::move(value));
    }
    if (args.size() != graph->inputs().size())
        return fail(ErrorCode::BadInput,
                    "'" + function.name() + "' is called with a wrong number of arguments");
    ScriptPlace place = places.empty() ? ScriptPlace() : places.back();
    if (module)
        place.code = m_weights.sharedCode(*module);
    // torch.ao's recurrent modules have a forward for each kind of input, which others call.
    const bool isEntered = module && !places.empty() && function.name().starts_with("forward_")
        && module->path != places.back().scope.path;
    if (module && (isForward(function.name()) || isEntered || places.empty()))
        enterModule(place, *module, args);
    else if (place.function.empty())
        place.function = functionalName(function);
    places.push_back(std::move(place));
    Env env;
    for (std::size_t i = 0; i < args.size(); ++i)
        env[graph->inputs()[i]] = std::move(args[i]);
    auto done = runBlock(*graph->block(), env);
    places.pop_back();
    QS_CHECK(std::move(done));
    if (graph->outputs().size() != 1)
        return fail(ErrorCode::BadInput, "a function without a single return value");
    return item(graph->outputs()[0], env);
}

void ScriptEvaluator::enterModule(ScriptPlace& place, const ScriptContainer& module,
                                  const Items& args)
{
    place.function.clear();
    place.scope = {module.path, scriptClassName(*module.type), 0};
    auto& tree = m_emitter.root().edit().modules();
    for (std::string path = module.path; !path.empty(); path = ModuleTree::parentPath(path))
        if (const auto* entry = tree.tryGet(path); entry && !entry->moduleClass.empty())
            break;
        else
            tree.add(path, m_weights.classAt(path));
    tree.add(module.path, place.scope.moduleClass);
    place.scope.callIndex = m_calls[module.path]++;
    m_emitter.inference().enterLayer(place.scope.moduleClass, args);
}

Result<void> ScriptEvaluator::runBlock(const torch::jit::Block& block, Env& env)
{
    constexpr std::size_t kMostSteps = 4'000'000;
    for (const JitNode* node : block.nodes()) {
        QS_CHECK(m_job.check());
        if (++m_steps > kMostSteps)
            return fail(ErrorCode::Unsupported, "its program is too long to be read");
        QS_CHECK(runNode(*node, env));
    }
    return {};
}

Result<void> ScriptEvaluator::runNode(const JitNode& node, Env& env)
{
    QS_TRY(const bool isPrim, runPrim(node, env));
    if (isPrim)
        return {};
    QS_TRY(Items args, inputs(node, env));
    QS_TRY(const ScriptAnswer known, answer(node, args));
    if (!known) {
        ScriptRespeller::respellNumber(node, args);
        return m_emitter.emitOperator(node, args, env);
    }
    for (const JitValue* out : node.outputs())
        env[out] = *known;
    return {};
}

Result<ScriptAnswer> ScriptEvaluator::answer(const JitNode& node, const Items& args)
{
    QS_TRY(ScriptAnswer read, m_containers.readContainer(node, args));
    if (read)
        return read;
    QS_TRY(ScriptAnswer computed, m_containers.runKnown(node, args));
    if (computed)
        return computed;
    return m_respeller.respell(node, args);
}

Result<bool> ScriptEvaluator::runPrim(const JitNode& node, Env& env)
{
    const auto done = [](Result<void> ran) -> Result<bool> {
        QS_CHECK(std::move(ran));
        return true;
    };
    switch (node.kind()) {
    case c10::prim::Constant:
        return done(readConstant(node, env));
    case c10::prim::GetAttr:
    case c10::prim::SetAttr:
        return done(useAttribute(node, env));
    case c10::prim::CallMethod:
    case c10::prim::CallFunction:
        return done(runCall(node, env));
    case c10::prim::If:
    case c10::prim::Loop:
    case c10::prim::RaiseException:
        return done(ScriptControl(*this).run(node, env));
    case c10::prim::TupleConstruct:
    case c10::prim::ListConstruct:
    case c10::prim::DictConstruct:
    case c10::prim::CreateObject:
    case c10::aten::dict: {
        if (node.kind() == c10::aten::dict && !node.inputs().empty())
            return false;
        QS_TRY(Items args, inputs(node, env));
        return done(m_containers.construct(node, std::move(args), env));
    }
    case c10::prim::TupleUnpack:
    case c10::prim::ListUnpack: {
        QS_TRY(const ScriptItem whole, item(node.input(0), env));
        return done(m_containers.unpack(node, whole, env));
    }
    case c10::prim::annotate:
    case c10::prim::unchecked_cast:
    case c10::prim::unchecked_unwrap_optional:
    case c10::aten::_unwrap_optional: {
        QS_TRY(env[node.output()], item(node.input(0), env));
        return true;
    }
    case c10::prim::Uninitialized:
        env[node.output()] = ScriptItem();
        return true;
    case c10::prim::Print:
    case c10::aten::warn:
    case c10::prim::Enter:
    case c10::prim::Exit:
    case c10::prim::TimePoint:
        // A context such as torch.no_grad changes no value; printing is skipped.
        for (const JitValue* out : node.outputs())
            env[out] = at::IValue();
        return true;
    case c10::prim::fork:
    case c10::aten::wait:
        return fail(m_emitter.unsupported(node, "runs in parallel, which is not supported"));
    default:
        return false;
    }
}

Result<void> ScriptEvaluator::readConstant(const JitNode& node, Env& env)
{
    // A function constant has no value: calls use its type.
    const auto value = torch::jit::toIValue(node.output());
    QS_TRY(env[node.output()], value ? m_weights.item(*value, "") : Result<ScriptItem>());
    return {};
}

Result<void> ScriptEvaluator::useAttribute(const JitNode& node, Env& env)
{
    const bool sets = node.kind() == c10::prim::SetAttr;
    const std::string& name = node.s(c10::attr::name);
    QS_TRY(const ScriptItem owner, item(node.input(0), env));
    const ScriptContainer* known = containerOf(owner);
    const auto type = known ? known->type->cast<c10::ClassType>() : nullptr;
    const auto slot = type ? type->findAttributeSlot(name) : std::nullopt;
    if (!slot)
        return fail(m_emitter.unsupported(node,
                                          (sets ? "sets" : "reads") + (" the attribute '" + name)
                                              + "' of an unknown object"));
    const ScriptContainerPtr object = std::get<ScriptContainerPtr>(owner);
    // Read from the file at first use; a branch that does not set it needs its old value.
    ScriptItem& held = object->items.at(*slot);
    if (std::holds_alternative<std::monostate>(held)) {
        QS_TRY(held, m_weights.attribute(*object, *slot));
    }
    if (!sets) {
        env[node.output()] = held;
        return {};
    }
    m_emitter.journal().touch(object);
    QS_TRY(object->items.at(*slot), item(node.input(1), env));
    const std::pair set(object, *slot);
    if (std::find(m_setAttributes.begin(), m_setAttributes.end(), set) == m_setAttributes.end())
        m_setAttributes.push_back(set);
    return {};
}

Result<std::vector<std::string>> ScriptEvaluator::keepAttributes()
{
    std::vector<std::string> dropped;
    for (const auto& [object, slot] : m_setAttributes) {
        const ScriptItem& now = object->items.at(slot);
        QS_TRY(const ScriptItem saved, m_weights.attribute(*object, slot));
        if (std::holds_alternative<std::monostate>(saved) || sameItem(saved, now))
            continue;
        const std::string name = object->type->expectRef<c10::ClassType>().getAttributeName(slot);
        const std::string path = object->path.empty() ? name : object->path + "." + name;
        const auto isTensor = [&](const ScopedRef* ref) {
            return ref && ref->scope == &m_emitter.root()
                && scopedValue(*ref).type.kind == ValueKind::Tensor;
        };
        const ScopedRef *holder = runtimeValue(saved), *value = runtimeValue(now);
        if (!isTensor(holder) || !isTensor(value)) {
            dropped.push_back(path);
            continue;
        }
        GraphEdit& edit = m_emitter.root().edit();
        Node& node = edit.change(holder->ref.node);
        node.kind = NodeKind::Parameter;
        node.isBuffer = node.persistentBuffer = true;
        edit.modules().addParameter(path);
        edit.insert(makeStateUpdate(node, value->ref, scopedValue(*value).type));
    }
    return dropped;
}

Result<ScriptItem> ScriptEvaluator::calledBy(const JitNode& node, Items args)
{
    if (node.kind() == c10::prim::CallFunction) {
        const auto type = node.input(0)->type()->cast<c10::FunctionType>();
        if (!type)
            return fail(m_emitter.unsupported(node, "calls an unknown function"));
        args.erase(args.begin());
        return call(*type->function(), std::move(args), nullptr);
    }
    const ScriptContainer* object = containerOf(args.at(0));
    const auto type = object ? object->type->cast<c10::ClassType>() : nullptr;
    auto* method = type ? type->findMethod(node.s(c10::attr::name)) : nullptr;
    if (!method)
        return fail(m_emitter.unsupported(
            node, "calls the method '" + node.s(c10::attr::name) + "' of an unknown object"));
    // A context such as torch.no_grad() changes no value.
    if (type->name()
        && type->name()->qualifiedName().starts_with("__torch__.torch.autograd.grad_mode."))
        return ScriptItem(at::IValue());
    return call(*method, std::move(args), type->is_module() ? object : nullptr);
}

Result<void> ScriptEvaluator::runCall(const JitNode& node, Env& env)
{
    QS_TRY(Items args, inputs(node, env));
    if (const auto type = node.input(0)->type()->cast<c10::ClassType>();
        node.kind() == c10::prim::CallMethod && type && findForeignClass(type->str()) == type)
        return m_emitter.emitMethod(node, args, env);
    const SourceLocation outer = m_emitter.places().back().caller;
    const SourceLocation where = m_emitter.find(node, outer.function);
    if (!where.file.empty() && !isInsideTorch(where.file))
        m_emitter.places().back().caller = where;
    auto returned = calledBy(node, std::move(args));
    m_emitter.places().back().caller = outer;
    if (!returned)
        return fail(std::move(returned).error());
    env[node.output()] = std::move(*returned);
    return {};
}

} // namespace qs
