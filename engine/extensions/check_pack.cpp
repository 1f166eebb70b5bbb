// SPDX-License-Identifier: Apache-2.0
#include "engine/extensions/check_pack.h"

#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"
#include "engine/configure/backend/backend_check.h"
#include "engine/configure/backend/lowering_row_check.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <optional>

namespace qs {

namespace {

/// Returns any overload of the operator, the default one if it exists.
std::optional<c10::OperatorHandle> findAny(const std::string& name)
{
    const auto dot = name.find('.');
    auto& dispatcher = c10::Dispatcher::singleton();
    if (dot != std::string::npos)
        return dispatcher.findSchema({name.substr(0, dot), name.substr(dot + 1)});
    if (auto plain = dispatcher.findSchema({name, ""}))
        return plain;
    for (const c10::OperatorName& known : dispatcher.getAllOpNames())
        if (known.name == name)
            return dispatcher.findSchema(known);
    return std::nullopt;
}

std::vector<std::string> operatorsOf(const std::string& space)
{
    std::vector<std::string> names;
    for (const c10::OperatorName& known : c10::Dispatcher::singleton().getAllOpNames())
        if (known.name.starts_with(space + "::"))
            names.push_back(known.name);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

class PackCheck
{
public:
    explicit PackCheck(const ExtensionPack& pack)
        : m_pack(pack)
    {
    }

    Result<void> run() const
    {
        for (const OperatorFacts& facts : m_pack.operators)
            QS_CHECK(checkFacts(facts));
        for (const KernelRow& row : m_pack.rows)
            QS_CHECK(checkRow(row));
        for (const PackModuleSpec& module : m_pack.modules)
            QS_CHECK(checkModule(module));
        return checkPatterns();
    }

private:
    tl::unexpected<Error> wrong(const std::string& message, std::string hint = {}) const
    {
        return fail(makeError(ErrorCode::BadInput, message)
                        .inFile(m_pack.folder + "/extension.json")
                        .withHint(std::move(hint)));
    }

    Result<c10::OperatorHandle> find(const std::string& name) const
    {
        if (const auto found = findAny(name))
            return *found;
        const std::string space = name.substr(0, name.find("::"));
        const auto known = operatorsOf(space);
        const std::string near = nearestName(name.substr(0, name.find('.')), known);
        return wrong("the libraries register no operator '" + name + "'",
                     near.empty() ? known.empty() ? "they register nothing as " + space + "::"
                                                  : suggestName(name, known)
                                  : "did you mean '" + near + "'?");
    }

    Result<void> hasArgument(const c10::FunctionSchema& schema, const std::string& name) const
    {
        if (name.empty() || schema.argumentIndexWithName(name))
            return {};
        std::vector<std::string> names;
        for (const auto& argument : schema.arguments())
            names.push_back(argument.name());
        return wrong(schema.name() + " has no argument '" + name + "'", suggestName(name, names));
    }

    Result<void> checkFacts(const OperatorFacts& facts) const
    {
        QS_TRY(const c10::OperatorHandle op, find(qualifiedName(facts.target)));
        std::vector<std::string> told {facts.input, facts.weight, facts.bias};
        told.insert(told.end(), facts.carried.begin(), facts.carried.end());
        std::erase(told, "");
        for (auto name = told.begin(); name != told.end(); ++name) {
            QS_CHECK(hasArgument(op.schema(), *name));
            if (std::find(told.begin(), name, *name) != name)
                return wrong(op.schema().name() + ": '" + *name
                             + "' is named twice; an argument is one of input, weight, bias and "
                               "those carried");
        }
        return {};
    }

    /// Checks results: a row's kernel and a prepack operator return one value; a custom module's
    /// kernel returns tensors, and each scale belongs to one of them.
    Result<void> checkReturns(const std::string& kernel) const
    {
        QS_TRY(const c10::OperatorHandle op, find(kernel));
        const std::size_t count = op.schema().returns().size();
        if (count == 1)
            return {};
        return wrong(kernel + " returns " + counted(std::int64_t(count), "value")
                     + ", a kernel returns one");
    }
    Result<void> checkTensors(const PackCall& call) const
    {
        QS_TRY(const c10::OperatorHandle op, find(call.kernel));
        const auto& returns = op.schema().returns();
        for (const auto& result : returns)
            if (result.type()->kind() != c10::TypeKind::TensorType)
                return wrong(call.kernel + " returns " + result.type()->str()
                             + ", a module's kernel returns tensors");
        for (const KernelArgument& argument : call.arguments) {
            const bool isOfResult = argument.source == KernelArgument::Source::OutputScale
                || argument.source == KernelArgument::Source::OutputZeroPoint;
            if (isOfResult && argument.input >= returns.size())
                return wrong("'" + argument.name + "' is of result "
                                 + std::to_string(argument.input) + ", " + call.kernel + " returns "
                                 + counted(std::int64_t(returns.size()), "tensor"),
                             "results are counted from 0");
        }
        return {};
    }

    /// Checks that the kernel has every given argument and that no required one is missing.
    Result<void> checkArguments(const std::string& what, const std::string& kernel,
                                const std::vector<KernelArgument>& given) const
    {
        QS_TRY(const c10::OperatorHandle op, find(kernel));
        const c10::FunctionSchema& schema = op.schema();
        for (const KernelArgument& argument : given) {
            QS_CHECK(hasArgument(schema, argument.name));
            if (argument.source != KernelArgument::Source::Prepacked)
                continue;
            QS_CHECK(checkReturns(argument.from));
            QS_CHECK(checkArguments(what, argument.from, argument.parts));
        }
        for (const auto& argument : schema.arguments()) {
            const bool told = std::any_of(given.begin(), given.end(), [&](const auto& one) {
                return one.name == argument.name();
            });
            if (!told && !argument.default_value())
                return wrong(what + ": the call of " + kernel + " gives nothing for '"
                             + argument.name() + "'");
        }
        return {};
    }

    Result<void> checkRow(const KernelRow& row) const
    {
        LoweringRow written {{}, row.kernel};
        for (const std::string& kind : row.pattern)
            written.pattern.push_back(packOperator(kind) ? qualifiedName(kind) : kind);
        if (auto known = checkAddedRow(written); !known)
            return wrong("lowering: " + known.error().message, known.error().hint);
        for (const std::string& kind : row.pattern)
            if (kind.find('.') != std::string::npos && !packOperator(kind))
                return wrong("lowering: no pack declares an operator '" + qualifiedName(kind) + "'",
                             suggestName(kind, packOperators()));
        for (const std::string& kind : row.pattern)
            if (kind.find('.') == std::string::npos && !findAny("aten::" + kind)
                && kind != "batch_norm2d" && kind != "batch_norm3d")
                return wrong("lowering: LibTorch has no operator '" + kind + "'");
        if (row.arguments.empty())
            return {};
        QS_CHECK(checkReturns(row.kernel));
        return checkArguments("lowering", row.kernel, row.arguments);
    }

    Result<void> checkModule(const PackModuleSpec& module) const
    {
        const std::string what = "custom module " + module.floatClass;
        std::vector<const PackCall*> calls;
        for (const auto& [mode, call] : module.kernels)
            calls.push_back(&call);
        if (module.observed)
            calls.push_back(&*module.observed);
        for (const PackCall* call : calls) {
            QS_CHECK(checkTensors(*call));
            QS_CHECK(checkArguments(what, call->kernel, call->arguments));
        }
        return {};
    }

    Result<void> checkPatterns() const
    {
        Backend own;
        own.name = m_pack.name;
        own.patterns = m_pack.patterns;
        for (const BackendProblem& problem : checkBackend(own))
            if (problem.error)
                return wrong(problem.text);
        return {};
    }

    const ExtensionPack& m_pack;
};

} // namespace

Result<void> checkPack(const ExtensionPack& pack)
{
    return PackCheck(pack).run();
}

} // namespace qs
