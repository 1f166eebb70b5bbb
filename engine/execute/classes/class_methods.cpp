// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/classes/class_methods.h"

#include "engine/graph/operators/class_parts.h"
#include "engine/graph/operators/operators.h"

#include <ATen/core/function.h>
#include <ATen/core/ivalue.h>
#include <torch/custom_class.h>
#include <torch/library.h>

#include <map>
#include <mutex>

namespace qs {

namespace {

/// Calls a method with the operator's arguments; the constructor gets a new object to initialize.
class ClassMethodKernel : public c10::OperatorKernel
{
public:
    explicit ClassMethodKernel(ClassMethod method)
        : m_method(std::move(method))
        , m_function(m_method.type->findMethod(m_method.name))
    {
    }
    void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack)
    {
        const auto count = std::ptrdiff_t(op.schema().arguments().size());
        std::vector<c10::IValue> arguments(stack->end() - count, stack->end());
        stack->erase(stack->end() - count, stack->end());
        const bool makes = m_method.name == kConstructor;
        if (makes)
            arguments.insert(arguments.begin(), c10::ivalue::Object::create(m_method.type, 1));
        c10::IValue made = makes ? arguments.front() : c10::IValue();
        m_function->run(arguments);
        stack->push_back(makes ? std::move(made) : std::move(arguments.back()));
    }

private:
    ClassMethod m_method;
    torch::jit::Function* m_function;
};

struct Registry
{
    std::mutex mutex;
    std::map<std::string, ClassMethod, std::less<>> methods; ///< by target
    std::vector<std::unique_ptr<torch::Library>> libraries;
};

/// Never destroyed, because the dispatcher may be destroyed earlier.
Registry& registry()
{
    static Registry& registry = *new Registry();
    return registry;
}

bool givesNothing(const c10::FunctionSchema& schema)
{
    return schema.returns().empty()
        || schema.returns()[0].type()->kind() == c10::TypeKind::NoneType;
}

c10::FunctionSchema schemaOf(const std::string& op, const ClassMethod& method)
{
    const c10::FunctionSchema& own = method.type->findMethod(method.name)->getSchema();
    if (method.name != kConstructor)
        return {op, "", own.arguments(), own.returns()};
    return {op,
            "",
            {own.arguments().begin() + 1, own.arguments().end()},
            {c10::Argument("", c10::TypePtr(method.type))}};
}

} // namespace

c10::ClassTypePtr findForeignClass(std::string_view className)
{
    return isForeignClass(className) ? torch::getCustomClass(std::string(className)) : nullptr;
}

std::optional<std::string> classMethodTarget(const c10::ClassTypePtr& type,
                                             const std::string& method)
{
    if (!type || !type->name() || !isForeignClass(type->name()->qualifiedName()))
        return std::nullopt;
    const torch::jit::Function* function = type->findMethod(method);
    if (!function || function->isGraphFunction()
        || (method != kConstructor && givesNothing(function->getSchema())))
        return std::nullopt;
    const std::string op = methodOperator(type->name()->qualifiedName(), method);
    const std::string target = operatorTarget(op) + ".default";
    Registry& known = registry();
    const std::lock_guard lock(known.mutex);
    if (const auto found = known.methods.find(target); found != known.methods.end())
        return found->second.name == method ? std::optional(target) : std::nullopt;
    if (c10::Dispatcher::singleton().findSchema({op, ""}))
        return std::nullopt;
    const ClassMethod made {type, method};
    const auto colons = op.find("::");
    auto library = std::make_unique<torch::Library>(torch::Library::FRAGMENT, op.substr(0, colons),
                                                    std::nullopt, __FILE__, __LINE__);
    library->def(schemaOf(op, made));
    library->impl(
        op.substr(colons + 2).c_str(),
        torch::CppFunction::makeFromBoxedFunctor(std::make_unique<ClassMethodKernel>(made)));
    known.libraries.push_back(std::move(library));
    known.methods.emplace(target, made);
    return target;
}

std::optional<ClassMethod> findClassMethod(std::string_view target)
{
    Registry& known = registry();
    const std::lock_guard lock(known.mutex);
    const auto found = known.methods.find(target);
    return found == known.methods.end() ? std::nullopt : std::optional(found->second);
}

std::string methodInPython(const ClassMethod& method)
{
    std::string name = method.type->name()->qualifiedName();
    name.erase(0, name.find("torch.classes."));
    return method.name == kConstructor ? name : name + "." + std::string(memberName(method.name));
}

} // namespace qs
