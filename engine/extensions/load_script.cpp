// SPDX-License-Identifier: Apache-2.0
#include "engine/extensions/load_script.h"

#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/extensions/kept_libraries.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/library.h>

namespace qs {

namespace {

/// Runs a method of a module with the operator's arguments.
class MethodKernel : public c10::OperatorKernel
{
public:
    explicit MethodKernel(torch::jit::Method method)
        : m_method(std::move(method))
    {
    }
    void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack)
    {
        const std::size_t count = op.schema().arguments().size();
        std::vector<c10::IValue> arguments(stack->end() - std::ptrdiff_t(count), stack->end());
        stack->erase(stack->end() - std::ptrdiff_t(count), stack->end());
        c10::IValue made = m_method(std::move(arguments));
        if (op.schema().returns().size() == 1) {
            stack->push_back(std::move(made));
            return;
        }
        for (const c10::IValue& one : made.toTupleRef().elements())
            stack->push_back(one);
    }

private:
    torch::jit::Method m_method;
};

/// Converts the method's schema to the operator's: without the module argument; a tuple becomes
/// several results.
c10::FunctionSchema schemaOf(const std::string& op, const c10::FunctionSchema& method)
{
    std::vector<c10::Argument> arguments(method.arguments().begin() + 1, method.arguments().end());
    std::vector<c10::Argument> returns = method.returns();
    const auto tuple = returns.size() == 1 ? returns[0].type()->cast<c10::TupleType>() : nullptr;
    if (tuple && tuple->elements().size() > 1) {
        returns.clear();
        for (const c10::TypePtr& type : tuple->elements())
            returns.emplace_back("", type);
    }
    return {op, "", std::move(arguments), std::move(returns)};
}

Result<void> registerMethod(const torch::jit::Module& module, const std::string& op,
                            const std::string& name, const PackScript& script)
{
    const auto wrong = [&](const std::string& message, std::string hint = {}) {
        return fail(
            makeError(ErrorCode::BadInput, message).inFile(script.path).withHint(std::move(hint)));
    };
    const auto method = module.find_method(name);
    if (!method) {
        std::vector<std::string> known;
        for (const torch::jit::Method& one : module.get_methods())
            known.push_back(one.name());
        return wrong("it has no method " + inQuotes(name), suggestName(name, known));
    }
    const c10::FunctionSchema schema = schemaOf(op, method->function().getSchema());
    if (c10::Dispatcher::singleton().findSchema(schema.operator_name()))
        return wrong("there is an operator " + op + " already");
    const std::string space = op.substr(0, op.find("::"));
    auto library = std::make_unique<torch::Library>(torch::Library::FRAGMENT, space, std::nullopt,
                                                    __FILE__, __LINE__);
    const std::string plain = op.substr(space.size() + 2);
    library->def(c10::FunctionSchema(schema));
    library->impl(
        plain.c_str(),
        torch::CppFunction::makeFromBoxedFunctor(std::make_unique<MethodKernel>(*method)));
    keepLibrary(std::move(library));
    return {};
}

} // namespace

Result<void> loadScript(const PackScript& script)
{
    auto done = guardTorch([&]() -> Result<void> {
        torch::jit::Module module = torch::jit::load(script.path, at::kCPU);
        module.eval();
        for (const auto& [op, method] : script.methods)
            QS_CHECK(registerMethod(module, op, method, script));
        return {};
    });
    if (!done && done.error().file.empty())
        return fail(makeError(ErrorCode::BadInput,
                              "is not TorchScript that can be loaded: " + done.error().message)
                        .inFile(script.path));
    return done;
}

} // namespace qs
