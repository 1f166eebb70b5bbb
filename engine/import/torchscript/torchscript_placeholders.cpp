// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/torchscript_placeholders.h"

#include "engine/base/text.h"

#include <torch/csrc/jit/frontend/builtin_functions.h>
#include <torch/csrc/jit/frontend/lexer.h>
#include <torch/csrc/jit/frontend/parser.h>
#include <torch/csrc/jit/frontend/script_type_parser.h>
#include <torch/csrc/jit/frontend/tree_views.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace qs {

namespace {

namespace jit = torch::jit;

/// An operator unknown to LibTorch, as derived from its calls in a program.
struct UnknownOperator
{
    std::size_t positional = 0; ///< maximum number of positional arguments
    std::size_t required = 0; ///< minimum number of positional arguments
    std::set<std::string> keywords;
    std::size_t results = 0; ///< maximum number of results of a call
};
using UnknownOperators = std::map<std::string, UnknownOperator>; ///< by name ("mylib::foo")

/// "mylib::foo" for `ops.mylib.foo`, "aten::foo" for `torch.foo`; else empty.
std::string calledOperator(const jit::Expr& callee)
{
    if (callee.kind() != '.')
        return {};
    const jit::Select select(callee);
    const std::string name = select.selector().name();
    if (select.value().kind() == jit::TK_VAR)
        return jit::Var(select.value()).name().name() == "torch" ? "aten::" + name : std::string();
    if (select.value().kind() != '.')
        return {};
    const jit::Select space(select.value());
    const bool isOps
        = space.value().kind() == jit::TK_VAR && jit::Var(space.value()).name().name() == "ops";
    return isOps ? space.selector().name() + "::" + name : std::string();
}

bool isUnknown(const std::string& name)
{
    const auto symbol = c10::Symbol::fromQualString(name);
    return jit::getAllOperatorsFor(symbol).empty()
        && jit::getAllBuiltinFunctionsFor(symbol).empty();
}

void readCall(const jit::Apply& call, std::size_t results, UnknownOperators& known)
{
    const std::string name = calledOperator(call.callee());
    if (name.empty() || !isUnknown(name))
        return;
    const std::size_t given = call.inputs().size();
    UnknownOperator& op = known.try_emplace(name, UnknownOperator {0, given, {}, 0}).first->second;
    op.required = std::min(op.required, given);
    op.positional = std::max(op.positional, given);
    op.results = std::max(op.results, results);
    for (const jit::Attribute& keyword : call.attributes())
        op.keywords.insert(keyword.name().name());
}

/// Collects all calls. A call has one result, or as many as its statement unpacks.
void readCalls(const jit::TreeRef& tree, std::size_t results, UnknownOperators& known)
{
    if (tree->kind() == jit::TK_APPLY)
        readCall(jit::Apply(tree), results, known);
    std::size_t taken = tree->kind() == jit::TK_OPTION ? results : 1;
    if (tree->kind() == jit::TK_EXPR_STMT)
        taken = 0;
    else if (tree->kind() == jit::TK_ASSIGN && jit::Assign(tree).lhs_list().size() == 1
             && jit::Assign(tree).lhs().kind() == jit::TK_TUPLE_LITERAL)
        taken = jit::TupleLiteral(jit::Assign(tree).lhs()).inputs().size();
    for (const jit::TreeRef& part : tree->trees())
        readCalls(part, taken, known);
}

/// Reads the calls in one file of TorchScript code. May throw what LibTorch's parser throws.
void addUnknownOperators(const std::shared_ptr<jit::Source>& code, UnknownOperators& known)
{
    jit::Parser parser(code);
    jit::Lexer& lexer = parser.lexer();
    while (lexer.cur().kind != jit::TK_EOF) {
        if (lexer.cur().kind == jit::TK_CLASS_DEF)
            readCalls(parser.parseClass(), 1, known);
        else if (lexer.cur().kind == jit::TK_DEF)
            readCalls(parser.parseFunction(false), 1, known);
        else
            lexer.next(); // the line with the operator version
    }
}

constexpr const char* kOverload = "quantscope_placeholder";

/// Lock held while compiling TorchScript, since the operator registry is process-wide.
std::shared_mutex& registryUse()
{
    static std::shared_mutex mutex;
    return mutex;
}

jit::Operator placeholder(const std::string& name, const UnknownOperator& op)
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
    for (std::size_t i = 0; i < op.results; ++i)
        results.emplace_back("", c10::TensorType::get());
    return {name,
            kOverload,
            std::move(arguments),
            std::move(results),
            [name](jit::Stack&) {
                TORCH_CHECK(false, "operator '", name, "' is unknown to this LibTorch");
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
        jit::deregisterOperator(schema);
}

Result<std::string> ScriptPlaceholders::add(const Pt2Archive& archive)
{
    m_beside.unlock();
    m_alone.lock();
    UnknownOperators unknown;
    for (const std::string& name : archive.names()) {
        if (!name.starts_with("code/") || !name.ends_with(".py"))
            continue;
        QS_TRY(std::string text, archive.read(name));
        addUnknownOperators(std::make_shared<jit::Source>(std::move(text), std::optional(name), 1),
                            unknown);
    }
    std::vector<std::string> names;
    for (const auto& [name, op] : unknown) {
        names.push_back(name);
        jit::Operator made = placeholder(name, op);
        m_added.push_back(made.schema());
        jit::registerOperator(std::move(made));
    }
    return quotedNames(names);
}

bool isPlaceholder(const c10::FunctionSchema& schema)
{
    return schema.overload_name() == kOverload;
}

} // namespace qs
