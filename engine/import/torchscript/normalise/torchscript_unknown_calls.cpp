// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/normalise/torchscript_unknown_calls.h"

#include <torch/csrc/jit/frontend/builtin_functions.h>
#include <torch/csrc/jit/frontend/lexer.h>
#include <torch/csrc/jit/frontend/parser.h>
#include <torch/csrc/jit/frontend/script_type_parser.h>
#include <torch/csrc/jit/frontend/tree_views.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>

namespace qs {

namespace {

using namespace torch::jit;

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

bool isUnknown(const std::string& name)
{
    const auto symbol = c10::Symbol::fromQualString(name);
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

/// Walks one function twice: what its places want of variables, then the calls of unknown
/// operators.
class FunctionReading
{
public:
    FunctionReading(const Def& function, UnknownOperators& known)
        : m_known(known)
    {
        if (function.decl().return_type().present())
            m_returned = writtenType(function.decl().return_type().get());
        // A variable may be handed on before it is read: once more for every such step, in reason.
        constexpr int kRounds = 3;
        for (int round = 0; round < kRounds; ++round)
            walk(function.statements().tree(), &FunctionReading::learn);
        walk(function.statements().tree(), &FunctionReading::collect);
    }

private:
    void walk(const TreeRef& tree, void (FunctionReading::*visit)(const TreeRef&))
    {
        (this->*visit)(tree);
        for (const TreeRef& part : tree->trees())
            walk(part, visit);
    }

    void want(const Expr& expr, const c10::TypePtr& type)
    {
        if (!type)
            return;
        const auto wantAll = [&](const List<Expr>& parts, const auto& typeAt) {
            for (std::size_t i = 0; i < parts.size(); ++i)
                want(parts[i], typeAt(i));
        };
        if (expr.kind() == TK_VAR) {
            m_variables.emplace(Var(expr).name().name(), type);
        } else if (expr.kind() == TK_APPLY) {
            m_calls.emplace(expr.tree().get(), type);
        } else if (const auto list = type->cast<c10::ListType>();
                   list && expr.kind() == TK_LIST_LITERAL) {
            wantAll(ListLiteral(expr).inputs(),
                    [&](std::size_t) { return list->getElementType(); });
        } else if (const auto tuple = type->cast<c10::TupleType>();
                   tuple && expr.kind() == TK_TUPLE_LITERAL) {
            const auto& types = tuple->elements();
            wantAll(TupleLiteral(expr).inputs(),
                    [&](std::size_t i) { return i < types.size() ? types[i] : c10::TypePtr(); });
        }
    }

    void learn(const TreeRef& tree)
    {
        switch (tree->kind()) {
        case TK_SUBSCRIPT:
            want(Subscript(tree).value(), c10::ListType::ofTensors());
            break;
        case TK_IF:
            want(If(tree).cond(), c10::BoolType::get());
            break;
        case TK_WHILE:
            want(While(tree).cond(), c10::BoolType::get());
            break;
        case TK_NOT:
        case TK_AND:
        case TK_OR:
            for (const TreeRef& part : tree->trees())
                want(Expr(part), c10::BoolType::get());
            break;
        case TK_RETURN:
            want(Return(tree).expr(), m_returned);
            break;
        case TK_APPLY:
            learnFromCall(Apply(tree));
            break;
        case TK_ASSIGN:
            learnFromAssignment(Assign(tree));
            break;
        default:
            break;
        }
    }

    void learnFromCall(const Apply& call)
    {
        const std::string name = calledOperator(call.callee());
        if (name.empty())
            return;
        for (std::size_t i = 0; i < call.inputs().size(); ++i)
            want(call.inputs()[i], wantedByOperator(name, i));
    }

    void learnFromAssignment(const Assign& assign)
    {
        if (!assign.rhs().present() || assign.lhs_list().size() != 1)
            return;
        if (assign.type().present())
            want(assign.rhs().get(), writtenType(assign.type().get()));
        else if (takesListApart(assign))
            want(assign.rhs().get(),
                 c10::ListType::create(partTypes(TupleLiteral(assign.lhs())).front()));
        else
            want(assign.rhs().get(), typeOf(assign.lhs()));
    }

    /// With a comma before the sign: `a, b, = x`.
    static bool takesListApart(const Assign& assign)
    {
        if (assign.lhs().kind() != TK_TUPLE_LITERAL)
            return false;
        const auto parts = TupleLiteral(assign.lhs()).inputs();
        const std::size_t end = parts[parts.size() - 1].range().end();
        const auto& text = assign.lhs().range().source()->text_str();
        for (auto c = text.iter_for_pos(end); c.has_next(); ++c)
            if (*c == ',' || *c == '=')
                return *c == ',';
        return false;
    }

    std::vector<c10::TypePtr> partTypes(const TupleLiteral& parts) const
    {
        std::vector<c10::TypePtr> types;
        for (const Expr& part : parts.inputs()) {
            const auto type = typeOf(part);
            types.push_back(type ? type : c10::TensorType::get());
        }
        return types;
    }

    c10::TypePtr typeOf(const Expr& variable) const
    {
        if (variable.kind() != TK_VAR)
            return nullptr;
        const auto it = m_variables.find(Var(variable).name().name());
        return it == m_variables.end() ? nullptr : it->second;
    }

    void collect(const TreeRef& tree)
    {
        if (tree->kind() == TK_ASSIGN && Assign(tree).rhs().present()
            && Assign(tree).lhs_list().size() == 1)
            collectUnpacked(Assign(tree));
        else if (tree->kind() == TK_EXPR_STMT && ExprStmt(tree).expr().kind() == TK_APPLY)
            m_results.emplace(ExprStmt(tree).expr().tree().get(), std::vector<c10::TypePtr>());
        if (tree->kind() == TK_APPLY)
            collectCall(Apply(tree));
    }

    /// Comes before the call itself, which stands inside.
    void collectUnpacked(const Assign& assign)
    {
        const Expr call = assign.rhs().get();
        if (call.kind() != TK_APPLY || assign.lhs().kind() != TK_TUPLE_LITERAL
            || takesListApart(assign))
            return;
        m_results.emplace(call.tree().get(), partTypes(TupleLiteral(assign.lhs())));
    }

    void collectCall(const Apply& call)
    {
        const std::string name = calledOperator(call.callee());
        if (name.empty() || !isUnknown(name))
            return;
        const std::size_t given = call.inputs().size();
        const bool isNew = !m_known.contains(name);
        UnknownOperator& op = m_known[name];
        op.required = isNew ? given : std::min(op.required, given);
        op.positional = std::max(op.positional, given);
        for (const Attribute& keyword : call.attributes())
            op.keywords.insert(keyword.name().name());
        const auto found = m_results.find(call.tree().get());
        const auto wanted = m_calls.find(call.tree().get());
        std::vector<c10::TypePtr> results {wanted == m_calls.end() ? c10::TensorType::get()
                                                                   : wanted->second};
        if (found != m_results.end())
            results = found->second;
        // The call that tells most counts.
        const bool tellsMore = results.size() > op.results.size()
            || (results.size() == 1 && op.results.size() == 1
                && op.results[0]->kind() == c10::TypeKind::TensorType);
        if (isNew || tellsMore)
            op.results = std::move(results);
    }

    UnknownOperators& m_known;
    c10::TypePtr m_returned;
    std::map<std::string, c10::TypePtr> m_variables; ///< what is wanted of them
    std::map<const Tree*, c10::TypePtr> m_calls; ///< the same of what a call returns
    std::map<const Tree*, std::vector<c10::TypePtr>> m_results; ///< of calls taken apart
};

void readFunctions(const TreeRef& tree, UnknownOperators& known)
{
    if (tree->kind() == TK_DEF) {
        FunctionReading(Def(tree), known);
        return;
    }
    for (const TreeRef& part : tree->trees())
        readFunctions(part, known);
}

} // namespace

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

} // namespace qs
