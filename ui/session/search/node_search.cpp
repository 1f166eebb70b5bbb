// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/search/node_search.h"

#include "ui/session/node_measures.h"
#include "ui/session/text.h"

#include <QStringMatcher>

#include <algorithm>

namespace qs {

namespace {

bool hasOp(const FoldEntry& entry, const Graph& model, const QString& op)
{
    return std::any_of(entry.members.begin(), entry.members.end(), [&](NodeId id) {
        const Node* node = model.tryGet(id);
        return node && node->kind == NodeKind::Op
            && toQString(node->target).contains(op, Qt::CaseInsensitive);
    });
}

bool hasArgument(const FoldEntry& entry, const Graph& model, const ArgumentTest& test)
{
    return std::any_of(entry.members.begin(), entry.members.end(), [&](NodeId id) {
        const Node* node = model.tryGet(id);
        return node && test.isMetBy(model, *node);
    });
}

bool makesShape(const FoldEntry& entry, const Graph& model, const ShapePattern& wanted)
{
    return std::any_of(entry.members.begin(), entry.members.end(), [&](NodeId id) {
        const Node* node = model.tryGet(id);
        return node
            && std::any_of(node->outputs.begin(), node->outputs.end(),
                           [&](const Value& value) { return wanted.isMetBy(value.type); });
    });
}

/// True if the entry is inside the module. An unknown name is a prefix of module paths, as while it
/// is typed.
bool isInModule(const FoldEntry& entry, const Graph& model, const std::string& wanted)
{
    const bool whole = model.modules().tryGet(wanted) != nullptr;
    return std::any_of(entry.members.begin(), entry.members.end(), [&](NodeId id) {
        const Node* node = model.tryGet(id);
        return node
            && (whole ? ModuleTree::isWithin(node->scope.path, wanted)
                      : toQString(node->scope.path)
                            .startsWith(toQString(wanted), Qt::CaseInsensitive));
    });
}

/// True if a dtype of the unit's quantized output or weight, else the file's dtype, begins with
/// `wanted`.
bool hasDType(const FoldEntry& entry, const Graph& model, const Facts& facts, const QString& wanted)
{
    const NodeId leader = facts.leader(entry.members);
    const auto begins = [&wanted](DType dtype) {
        return toQString(dtypeName(dtype)).startsWith(wanted, Qt::CaseInsensitive);
    };
    if (const auto* weight = facts.observer(facts.weightObserver(leader));
        weight && begins(weight->spec.dtype))
        return true;
    const auto* decided = facts.plan(leader);
    if (decided && decided->quantized)
        if (const auto* output = facts.observer(facts.outputObserver(leader)))
            return begins(output->spec.dtype);
    const Node* node = model.tryGet(facts.last(leader));
    return node && std::any_of(node->outputs.begin(), node->outputs.end(), [&](const Value& value) {
               return begins(value.type.dtype);
           });
}

} // namespace

NodeSearch::NodeSearch(FoldTreePtr tree, GraphPtr model)
    : m_tree(std::move(tree))
    , m_model(std::move(model))
{
    for (std::size_t i = 0; i < m_tree->size(); ++i)
        if (!m_tree->entry(int(i)).isModule())
            m_units.push_back(int(i));
    std::sort(m_units.begin(), m_units.end(),
              [this](int a, int b) { return m_tree->entry(a).order < m_tree->entry(b).order; });
    std::string text;
    for (const int unit : m_units) {
        const auto& entry = m_tree->entry(unit);
        std::vector<std::string> names {entry.title, entry.label, entry.path};
        for (NodeId id : entry.members)
            if (const Node* node = m_model->tryGet(id)) {
                names.push_back(node->name);
                names.push_back(node->scope.path);
            }
        m_start.push_back(qsizetype(text.size()));
        m_namesOf.push_back(m_nameEnds.size());
        for (auto name = names.begin(); name != names.end(); ++name) {
            if (name->empty())
                continue;
            text += (qsizetype(text.size()) == m_start.back() ? "" : " ") + *name;
            if (std::find(names.begin(), name, *name) != name)
                continue;
            m_names += *name;
            m_nameEnds.push_back(m_names.size());
        }
        text += '\n';
    }
    m_start.push_back(qsizetype(text.size()));
    m_namesOf.push_back(m_nameEnds.size());
    m_text = QString::fromUtf8(text.data(), qsizetype(text.size())).toLower();
    if (m_text.size() == m_start.back())
        return;
    // UTF-16 text is shorter than UTF-8 beyond ASCII: find the starts of the lines again.
    m_start.assign(1, 0);
    for (qsizetype end = m_text.indexOf(QLatin1Char('\n')); end >= 0;
         end = m_text.indexOf(QLatin1Char('\n'), end + 1))
        m_start.push_back(end + 1);
}

/// Applies a text term by one scan over all names.
void NodeSearch::keepText(const SearchTerm& term, std::vector<char>& keep) const
{
    const QStringMatcher matcher(term.text);
    std::vector<char> hit(keep.size(), 0);
    std::size_t line = 0;
    for (qsizetype at = matcher.indexIn(m_text); at >= 0 && line < hit.size();
         at = matcher.indexIn(m_text, m_start[line])) {
        const auto next = std::upper_bound(m_start.begin() + qsizetype(line), m_start.end(), at);
        line = std::size_t(next - m_start.begin());
        hit[line - 1] = 1;
    }
    for (std::size_t i = 0; i < keep.size(); ++i)
        keep[i] = char(keep[i] && (hit[i] != 0) != term.negated);
}

/// True if the pattern is found in a name of the line. `^` and `$` match the ends of each name, as
/// in a recipe's rules.
bool NodeSearch::hasMatch(const Pattern& pattern, std::size_t line) const
{
    for (std::size_t i = m_namesOf[line]; i < m_namesOf[line + 1]; ++i) {
        const std::size_t from = i > 0 ? m_nameEnds[i - 1] : 0;
        if (pattern.isFoundIn(std::string_view(m_names).substr(from, m_nameEnds[i] - from)))
            return true;
    }
    return false;
}

/// Returns the number that the term's bound applies to; nothing if it was not measured or is
/// unknown.
std::optional<double> NodeSearch::figure(const SearchTerm& term, const FoldEntry& entry,
                                         const Facts& facts, double seconds) const
{
    switch (term.kind) {
    case SearchTerm::Kind::Bytes:
        return memoryOf(*m_model, *m_tree, entry, entry.members);
    case SearchTerm::Kind::Seconds:
        return facts.seconds(*m_model, entry.members);
    case SearchTerm::Kind::Share: {
        const auto own = facts.seconds(*m_model, entry.members);
        return own && seconds > 0 ? std::optional(*own / seconds) : std::nullopt;
    }
    default:
        return facts.worstSqnr(entry.members, term.error);
    }
}

double NodeSearch::allSeconds(const Facts& facts) const
{
    double sum = 0;
    for (const int unit : m_units)
        sum += facts.seconds(*m_model, m_tree->entry(unit).members).value_or(0);
    return sum;
}

bool NodeSearch::meets(const SearchTerm& term, std::size_t line, const Facts& facts,
                       const Asked& asked) const
{
    using Kind = SearchTerm::Kind;
    const auto& entry = m_tree->entry(m_units[line]);
    switch (term.kind) {
    case Kind::Text:
        break;
    case Kind::Regex:
        return hasMatch(*term.regex, line);
    case Kind::Op:
        return hasOp(entry, *m_model, term.text);
    case Kind::Module:
        return isInModule(entry, *m_model, term.text.toStdString());
    case Kind::QConfig:
        return facts.qconfigText(entry.members).startsWith(term.text, Qt::CaseInsensitive)
            || facts.outputQConfigText(entry.members).startsWith(term.text, Qt::CaseInsensitive);
    case Kind::Verdict:
        return facts.hasPlan() && entry.kind == FoldEntry::Kind::Unit
            && toQString(verdictName(facts.verdict(entry.members))).startsWith(term.text);
    case Kind::DType:
        return hasDType(entry, *m_model, facts, term.text);
    case Kind::Argument:
        return hasArgument(entry, *m_model, term.argument);
    case Kind::Shape:
        return makesShape(entry, *m_model, term.shape);
    case Kind::Sqnr:
    case Kind::Bytes:
    case Kind::Seconds:
    case Kind::Share: {
        const auto known = figure(term, entry, facts, asked.seconds);
        return known && term.bound.holds(*known);
    }
    case Kind::Edited:
        return std::any_of(entry.members.begin(), entry.members.end(),
                           [&](NodeId id) { return facts.isEdited(id); });
    case Kind::Bookmark:
        return std::any_of(entry.members.begin(), entry.members.end(),
                           [&](NodeId id) { return asked.bookmarks.contains(id); });
    }
    return true;
}

std::vector<int> NodeSearch::find(const SearchQuery& query, const Facts& facts,
                                  const std::unordered_set<NodeId>& bookmarks) const
{
    std::vector<int> out;
    if (query.terms.empty())
        return out;
    std::vector<char> keep(m_units.size(), 1);
    for (const auto& term : query.terms)
        if (term.kind == SearchTerm::Kind::Text)
            keepText(term, keep);
    const bool share
        = std::any_of(query.terms.begin(), query.terms.end(),
                      [](const SearchTerm& term) { return term.kind == SearchTerm::Kind::Share; });
    const Asked asked {bookmarks, share ? allSeconds(facts) : 0};
    for (std::size_t line = 0; line < keep.size(); ++line)
        if (keep[line]
            && std::all_of(query.terms.begin(), query.terms.end(), [&](const SearchTerm& term) {
                   return term.kind == SearchTerm::Kind::Text
                       || meets(term, line, facts, asked) != term.negated;
               }))
            out.push_back(m_units[line]);
    return out;
}

} // namespace qs
