// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/torchscript_placeholders.h"

#include "engine/import/torchscript/walk/torchscript_values.h"

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

using namespace torch::jit;

/// An operator that LibTorch does not have, as the calls of it in a program tell.
struct UnknownOperator
{
    std::size_t positional = 0; ///< the most arguments without a name
    std::size_t required = 0; ///< the fewest
    std::set<std::string> keywords;
    std::vector<c10::TypePtr> results;
};
using UnknownOperators = std::map<std::string, UnknownOperator>; ///< by name ("mylib::foo")

/// "mylib::foo" for `ops.mylib.foo`, "aten::foo" for `torch.foo`; else empty.
std::string calledOperator(const Expr& callee)
{
    if (callee.kind() != '.')
        return {};
    const Select select(callee);
    const std::string name = select.selector().name();
    if (select.value().kind() == TK_VAR)
        return Var(select.value()).name().name() == "torch" ? "aten::" + name : std::string();
    if (select.value().kind() != '.')
        return {};
    const Select space(select.value());
    const bool isOps = space.value().kind() == TK_VAR && Var(space.value()).name().name() == "ops";
    return isOps ? space.selector().name() + "::" + name : std::string();
}

bool isUnknownCall(const Expr& expr)
{
    const std::string name
        = expr.kind() == TK_APPLY ? calledOperator(Apply(expr).callee()) : std::string();
    const auto symbol = c10::Symbol::fromQualString(name.empty() ? "aten::len" : name);
    return getAllOperatorsFor(symbol).empty() && getAllBuiltinFunctionsFor(symbol).empty();
}

/// What every overload of a known operator wants at this place, where that is no tensor.
c10::TypePtr wantedByOperator(const std::string& name, std::size_t place)
{
    c10::TypePtr wanted;
    for (const auto& op : getAllOperatorsFor(c10::Symbol::fromQualString(name))) {
        const auto& formal = op->schema().arguments();
        if (place >= formal.size())
            continue;
        c10::TypePtr type = formal[place].type();
        if (const auto optional = type->cast<c10::OptionalType>())
            type = optional->getElementType();
        const bool takesTensors = c10::TensorType::get()->isSubtypeOf(*type)
            || type->kind() == c10::TypeKind::VarType || type->kind() == c10::TypeKind::NumberType;
        if (takesTensors)
            return nullptr;
        if (type->hasFreeVariables())
            type = type->kind() == c10::TypeKind::ListType ? c10::ListType::ofTensors() : nullptr;
        if (!wanted)
            wanted = type;
    }
    return wanted;
}

c10::TypePtr writtenType(const Expr& expr)
{
    try {
        return ScriptTypeParser().parseTypeFromExpr(expr);
    } catch (const std::exception&) { // a class of the model
        return nullptr;
    }
}

/// The calls of unknown operators in one function. A result is a tensor unless the place that reads
/// it needs something else: an index a list, a condition a bool, an operator or a declared type
/// what they say.
class FunctionReading
{
public:
    explicit FunctionReading(const Def& function)
    {
        if (function.decl().return_type().present())
            m_returned = writtenType(function.decl().return_type().get());
        walk(function.statements().tree(), &FunctionReading::find);
        walk(function.statements().tree(), &FunctionReading::learn);
    }

    void addTo(UnknownOperators& known) const
    {
        for (const auto& [tree, results] : m_results) {
            const Apply call(tree);
            const std::size_t given = call.inputs().size();
            const auto [found, isNew] = known.try_emplace(calledOperator(call.callee()),
                                                          UnknownOperator {0, given, {}, {}});
            UnknownOperator& op = found->second;
            op.required = std::min(op.required, given);
            op.positional = std::max(op.positional, given);
            for (const Attribute& keyword : call.attributes())
                op.keywords.insert(keyword.name().name());
            // The call that tells most counts.
            const bool tellsMore = results.size() > op.results.size()
                || (results.size() == 1 && op.results.size() == 1
                    && op.results[0]->kind() == c10::TypeKind::TensorType);
            if (isNew || tellsMore)
                op.results = results;
        }
    }

private:
    using Types = std::vector<c10::TypePtr>;
    /// One of the results of a call.
    using Place = std::pair<TreeRef, std::size_t>;

    void walk(const TreeRef& tree, void (FunctionReading::*visit)(const TreeRef&))
    {
        (this->*visit)(tree);
        for (const TreeRef& part : tree->trees())
            walk(part, visit);
    }

    /// A call comes after the statement that it stands in.
    void find(const TreeRef& tree)
    {
        if (tree->kind() == TK_ASSIGN && Assign(tree).rhs().present()
            && Assign(tree).lhs_list().size() == 1)
            findAssigned(Assign(tree).lhs(), Assign(tree).rhs().get());
        else if (tree->kind() == TK_EXPR_STMT && isUnknownCall(ExprStmt(tree).expr()))
            m_results.push_back({ExprStmt(tree).expr().tree(), {}});
        else if (tree->kind() == TK_APPLY && !resultsOf(tree) && isUnknownCall(Expr(tree)))
            m_results.push_back({tree, {c10::TensorType::get()}});
    }

    void findAssigned(const Expr& to, const Expr& from)
    {
        if (to.kind() == TK_VAR && from.kind() == TK_VAR)
            m_held[nameOf(to)] = m_held[nameOf(from)];
        if (!isUnknownCall(from))
            return;
        auto& results = m_results.emplace_back(from.tree(), Types()).second;
        const auto take = [&](const Expr& target) {
            m_held[nameOf(target)] = {{from.tree(), results.size()}};
            results.push_back(c10::TensorType::get());
        };
        if (to.kind() != TK_TUPLE_LITERAL || takesListApart(to))
            take(to);
        else
            for (const Expr& part : TupleLiteral(to).inputs())
                take(part);
    }

    /// Of a variable; "" for any other expression.
    static std::string nameOf(const Expr& expr)
    {
        return expr.kind() == TK_VAR ? Var(expr).name().name() : std::string();
    }

    /// With a comma before the sign: `a, b, = x`.
    static bool takesListApart(const Expr& to)
    {
        if (to.kind() != TK_TUPLE_LITERAL)
            return false;
        const auto& text = to.range().source()->text_str();
        const auto parts = TupleLiteral(to).inputs();
        for (auto c = text.iter_for_pos(parts[parts.size() - 1].range().end()); c.has_next(); ++c)
            if (*c == ',' || *c == '=')
                return *c == ',';
        return false;
    }

    void learn(const TreeRef& tree)
    {
        switch (tree->kind()) {
        case TK_SUBSCRIPT:
            return want(Subscript(tree).value(), c10::ListType::ofTensors());
        case TK_IF:
            return want(If(tree).cond(), c10::BoolType::get());
        case TK_WHILE:
            return want(While(tree).cond(), c10::BoolType::get());
        case TK_NOT:
        case TK_AND:
        case TK_OR:
            for (const TreeRef& part : tree->trees())
                want(Expr(part), c10::BoolType::get());
            return;
        case TK_RETURN:
            return want(Return(tree).expr(), m_returned);
        case TK_ASSIGN:
            if (const Assign assign(tree); assign.rhs().present() && assign.type().present())
                want(assign.rhs().get(), writtenType(assign.type().get()));
            else if (assign.rhs().present() && takesListApart(assign.lhs()))
                want(assign.rhs().get(), c10::ListType::ofTensors());
            return;
        case TK_APPLY:
            if (const std::string name = calledOperator(Apply(tree).callee()); !name.empty())
                for (std::size_t i = 0; i < Apply(tree).inputs().size(); ++i)
                    want(Apply(tree).inputs()[i], wantedByOperator(name, i));
            return;
        default:
            return;
        }
    }

    void want(const Expr& expr, const c10::TypePtr& type)
    {
        if (!type)
            return;
        const bool isTuple
            = expr.kind() == TK_TUPLE_LITERAL && type->kind() == c10::TypeKind::TupleType;
        if (isTuple || (expr.kind() == TK_LIST_LITERAL && type->kind() == c10::TypeKind::ListType))
            for (std::size_t i = 0; i < expr.tree()->trees()[0]->trees().size(); ++i)
                want(Expr(expr.tree()->trees()[0]->trees()[i]), partType(type, i));
        if (expr.kind() == TK_APPLY)
            wantAt({expr.tree(), 0}, type);
        if (expr.kind() == TK_VAR)
            for (const Place& place : m_held[nameOf(expr)])
                wantAt(place, type);
    }

    void wantAt(const Place& place, const c10::TypePtr& type)
    {
        Types* results = resultsOf(place.first);
        if (results && place.second < results->size()
            && results->at(place.second)->kind() == c10::TypeKind::TensorType)
            results->at(place.second) = type;
    }

    Types* resultsOf(const TreeRef& call)
    {
        const auto found = std::find_if(m_results.begin(), m_results.end(),
                                        [&](const auto& known) { return known.first == call; });
        return found == m_results.end() ? nullptr : &found->second;
    }

    c10::TypePtr m_returned;
    std::vector<std::pair<TreeRef, Types>> m_results; ///< of each call
    std::map<std::string, std::vector<Place>> m_held; ///< what variables may hold
};

void readFunctions(const TreeRef& tree, UnknownOperators& known)
{
    if (tree->kind() == TK_DEF) {
        FunctionReading(Def(tree)).addTo(known);
        return;
    }
    for (const TreeRef& part : tree->trees())
        readFunctions(part, known);
}

/// Reads the calls in one file of TorchScript code. May throw what LibTorch's parser throws.
void addUnknownOperators(const std::shared_ptr<Source>& code, UnknownOperators& known)
{
    Parser parser(code);
    Lexer& lexer = parser.lexer();
    while (lexer.cur().kind != TK_EOF) {
        if (lexer.cur().kind == TK_CLASS_DEF)
            readFunctions(parser.parseClass(), known);
        else if (lexer.cur().kind == TK_DEF)
            readFunctions(parser.parseFunction(false), known);
        else
            lexer.next(); // a line that names the version of the operators
    }
}

constexpr const char* kOverload = "quantscope_placeholder";

/// Held by everyone who compiles TorchScript, since the registry is the program's.
std::shared_mutex& registryUse()
{
    static std::shared_mutex mutex;
    return mutex;
}

Operator placeholder(const std::string& name, const UnknownOperator& op)
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
            [name](Stack&) {
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
        deregisterOperator(schema);
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
        addUnknownOperators(std::make_shared<Source>(std::move(text), std::optional(name), 1),
                            unknown);
    }
    for (const auto& [name, op] : unknown) {
        Operator made = placeholder(name, op);
        m_added.push_back(made.schema());
        registerOperator(std::move(made));
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
