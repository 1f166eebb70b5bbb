// SPDX-License-Identifier: Apache-2.0
#include "engine/extensions/classes/adapt_classes.h"

#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/classes/class_methods.h"
#include "engine/extensions/kept_libraries.h"
#include "engine/graph/operators/class_parts.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/function.h>
#include <torch/library.h>

#include <algorithm>

namespace qs {

namespace {

using Handle = c10::OperatorHandle;

c10::IValue callOne(const Handle& op, torch::jit::Stack stack)
{
    op.callBoxed(&stack);
    return stack.back();
}

/// Kernel of an overload on parts: joins each field with its rest, runs the operator, splits the
/// results.
class PartsKernel : public c10::OperatorKernel
{
public:
    PartsKernel(Handle op, Handle get, Handle replace, c10::ClassTypePtr type)
        : m_op(std::move(op))
        , m_get(std::move(get))
        , m_replace(std::move(replace))
        , m_type(std::move(type))
    {
    }

    void operator()(const Handle& parts, c10::DispatchKeySet, torch::jit::Stack* stack)
    {
        auto next = stack->end() - std::ptrdiff_t(parts.schema().arguments().size());
        const auto first = next;
        torch::jit::Stack whole;
        for (const c10::Argument& argument : m_op.schema().arguments()) {
            if (*argument.type() != *m_type) {
                whole.push_back(std::move(*next++));
                continue;
            }
            c10::IValue field = std::move(*next++);
            whole.push_back(callOne(m_replace, {std::move(*next++), std::move(field)}));
        }
        stack->erase(first, stack->end());
        m_op.callBoxed(&whole);
        for (std::size_t i = 0; i < whole.size(); ++i) {
            if (*m_op.schema().returns()[i].type() == *m_type)
                stack->push_back(callOne(m_get, {whole[i]}));
            stack->push_back(std::move(whole[i]));
        }
    }

private:
    Handle m_op, m_get, m_replace;
    c10::ClassTypePtr m_type;
};

class ClassAdapter
{
public:
    ClassAdapter(const ExtensionPack& pack, const PackClassSpec& spec)
        : m_pack(pack)
        , m_spec(spec)
        , m_type(findForeignClass(torchClassName(spec.name)))
    {
    }

    Result<void> run()
    {
        if (adaptedClass(m_spec.name))
            return wrong("another loaded pack adapts the class '" + m_spec.name + "'");
        if (!m_type)
            return wrong("the libraries register no class '" + m_spec.name + "'",
                         "name it as TORCH_LIBRARY and class_ do: \"mypack::SparseTensor\"");
        for (const torch::jit::Function* method : m_type->methods())
            if (const std::string& name = method->name();
                !name.starts_with("__") || name == kConstructor)
                classMethodTarget(m_type, name);
        for (const std::string& name : m_spec.get) {
            QS_TRY(const Handle op, find(name));
            QS_CHECK(fits(op, {m_type}, c10::TensorType::get(), "gets the field from an object"));
            m_get.push_back(op);
        }
        for (const std::string& name : m_spec.replace) {
            QS_TRY(const Handle op, find(name));
            QS_CHECK(fits(op, {m_type, c10::TensorType::get()}, m_type,
                          "gives an object with another field"));
            m_replace.push_back(op);
        }
        for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames())
            if (const auto op = c10::Dispatcher::singleton().findSchema(name))
                if (!isAccess(name))
                    registerParts(*op);
        return {};
    }

private:
    tl::unexpected<Error> wrong(const std::string& message, std::string hint = {}) const
    {
        return fail(makeError(ErrorCode::BadInput, "classes: " + message)
                        .inFile(m_pack.folder + "/extension.json")
                        .withHint(std::move(hint)));
    }

    bool isAccess(const c10::OperatorName& name) const
    {
        const auto is = [&](const Handle& op) { return op.operator_name() == name; };
        return std::any_of(m_get.begin(), m_get.end(), is)
            || std::any_of(m_replace.begin(), m_replace.end(), is);
    }

    Result<Handle> find(const std::string& op) const
    {
        if (const auto found = c10::Dispatcher::singleton().findSchema({op, ""}))
            return *found;
        const std::string prefix = m_spec.name + "_";
        if (!op.starts_with(prefix))
            return wrong("the libraries register no operator '" + op + "'");
        std::vector<std::string> methods;
        for (const torch::jit::Function* method : m_type->methods())
            if (!method->name().starts_with("__"))
                methods.emplace_back(memberName(method->name()));
        const std::string name = op.substr(prefix.size());
        return wrong(m_spec.name + " has no method or property '" + name + "'",
                     suggestName(name, methods));
    }

    Result<void> fits(const Handle& op, const std::vector<c10::TypePtr>& takes,
                      const c10::TypePtr& gives, const std::string& does) const
    {
        const c10::FunctionSchema& schema = op.schema();
        bool fit = schema.arguments().size() == takes.size() && schema.returns().size() == 1
            && *schema.returns()[0].type() == *gives;
        for (std::size_t i = 0; fit && i < takes.size(); ++i)
            fit = *schema.arguments()[i].type() == *takes[i];
        if (fit)
            return {};
        return wrong(schema.name() + " is not what " + does + ": it is "
                     + c10::toString(schema).substr(schema.name().size()));
    }

    bool isObject(const c10::Argument& argument) const { return *argument.type() == *m_type; }

    /// Replaces each object argument by its field and its rest.
    std::vector<c10::Argument> byParts(const std::vector<c10::Argument>& whole) const
    {
        std::vector<c10::Argument> parts;
        for (const c10::Argument& argument : whole) {
            if (!isObject(argument)) {
                parts.push_back(argument);
                continue;
            }
            const std::string& name = argument.name();
            parts.emplace_back(name, c10::TypePtr(c10::TensorType::get()));
            parts.emplace_back(name.empty() ? "" : name + std::string(kRestSuffix),
                               c10::TypePtr(m_type));
        }
        return parts;
    }

    void registerParts(const Handle& op) const
    {
        const c10::FunctionSchema& schema = op.schema();
        const auto takes = [this](const c10::Argument& argument) { return isObject(argument); };
        const auto& arguments = schema.arguments();
        const auto& returns = schema.returns();
        if (isPartsTarget(schema.name() + "." + schema.overload_name())
            || (std::none_of(arguments.begin(), arguments.end(), takes)
                && std::none_of(returns.begin(), returns.end(), takes)))
            return;
        const std::string overload = partsOverload(schema.overload_name());
        if (c10::Dispatcher::singleton().findSchema({schema.name(), overload}))
            return;
        const auto colons = schema.name().find("::");
        auto library = std::make_unique<torch::Library>(torch::Library::FRAGMENT,
                                                        schema.name().substr(0, colons),
                                                        std::nullopt, __FILE__, __LINE__);
        library->def(
            c10::FunctionSchema(schema.name(), overload, byParts(arguments), byParts(returns)));
        const std::string plain = schema.name().substr(colons + 2) + "." + overload;
        library->impl(plain.c_str(),
                      torch::CppFunction::makeFromBoxedFunctor(std::make_unique<PartsKernel>(
                          op, m_get.front(), m_replace.front(), m_type)));
        keepLibrary(std::move(library));
    }

    const ExtensionPack& m_pack;
    const PackClassSpec& m_spec;
    c10::ClassTypePtr m_type;
    std::vector<Handle> m_get, m_replace;
};

} // namespace

Result<void> adaptClasses(const ExtensionPack& pack)
{
    return guardTorch([&]() -> Result<void> {
        for (const PackClassSpec& spec : pack.classes)
            QS_CHECK(ClassAdapter(pack, spec).run());
        return {};
    });
}

} // namespace qs
