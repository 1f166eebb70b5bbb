// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/torchscript_placeholders.h"

#include "engine/import/torchscript/normalise/torchscript_unknown_calls.h"

#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>

namespace qs {

namespace {

constexpr const char* kOverload = "quantscope_placeholder";

/// Held by everyone who compiles TorchScript, since the registry is the program's.
std::shared_mutex& registryUse()
{
    static std::shared_mutex mutex;
    return mutex;
}

torch::jit::Operator placeholder(const std::string& name, const UnknownOperator& op)
{
    const auto any = c10::AnyType::get();
    const auto argument = [&](const std::string& as, bool optional, bool byName) {
        return c10::Argument(as, any, std::nullopt,
                             optional ? std::optional(c10::IValue()) : std::nullopt, byName);
    };
    std::vector<c10::Argument> arguments, results;
    for (std::size_t i = 0; i < op.positional; ++i)
        arguments.push_back(argument("argument_" + std::to_string(i), i >= op.required, false));
    for (const std::string& keyword : op.keywords)
        arguments.push_back(argument(keyword, true, true));
    for (const c10::TypePtr& type : op.results)
        results.emplace_back("", type);
    return {name,
            kOverload,
            std::move(arguments),
            std::move(results),
            [name](torch::jit::Stack&) {
                TORCH_CHECK(false, "operator '", name, "' is not known to this LibTorch");
            },
            c10::AliasAnalysisKind::CONSERVATIVE};
}

} // namespace

ScriptPlaceholders::ScriptPlaceholders()
    : m_beside(registryUse())
    , m_alone(registryUse(), std::defer_lock)
{
}

ScriptPlaceholders::~ScriptPlaceholders()
{
    for (const c10::FunctionSchema& schema : m_added)
        torch::jit::deregisterOperator(schema);
}

Result<bool> ScriptPlaceholders::add(const Pt2Archive& archive)
{
    m_beside.unlock();
    m_alone.lock();
    UnknownOperators unknown;
    for (const std::string& name : archive.names()) {
        if (!name.starts_with("code/") || !name.ends_with(".py"))
            continue;
        QS_TRY(std::string text, archive.read(name));
        addUnknownOperators(
            std::make_shared<torch::jit::Source>(std::move(text), std::optional(name), 1), unknown);
    }
    for (const auto& [name, op] : unknown) {
        torch::jit::Operator made = placeholder(name, op);
        m_added.push_back(made.schema());
        torch::jit::registerOperator(std::move(made));
    }
    return !unknown.empty();
}

bool isPlaceholder(const c10::FunctionSchema& schema)
{
    return schema.overload_name() == kOverload;
}

std::size_t placesOf(const c10::FunctionSchema& schema)
{
    return std::size_t(std::count_if(schema.arguments().begin(), schema.arguments().end(),
                                     [](const c10::Argument& slot) { return !slot.kwarg_only(); }));
}

} // namespace qs
