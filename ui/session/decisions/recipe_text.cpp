// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/decisions/recipe_text.h"

#include "ui/session/text.h"

#include <QRegularExpression>

#include <algorithm>
#include <vector>

namespace qs {

namespace {

/// Splits "a.b[2]" into "a", "b", "[2]".
std::vector<std::string> pathSteps(const std::string& path)
{
    std::vector<std::string> out(1);
    for (const char c : path) {
        if (c == '.') {
            out.emplace_back();
            continue;
        }
        if (c == '[' && !out.back().empty())
            out.emplace_back();
        out.back() += c;
    }
    if (out.back().empty())
        out.pop_back();
    return out;
}

/// Walks well-formed JSON along a path and skips all other values.
class JsonWalker
{
public:
    JsonWalker(const std::string& json, std::vector<std::string> steps)
        : m_json(json)
        , m_steps(std::move(steps))
    {
    }

    std::size_t find()
    {
        value(0, true);
        return m_found;
    }

private:
    bool atEnd() const { return m_at >= m_json.size(); }
    char here() const { return atEnd() ? '\0' : m_json[m_at]; }
    void blanks() { m_at = std::min(m_json.find_first_not_of(" \t\r\n,:", m_at), m_json.size()); }

    std::string string()
    {
        std::string out;
        for (++m_at; !atEnd() && here() != '"'; ++m_at) {
            if (here() == '\\')
                ++m_at;
            out += here();
        }
        ++m_at;
        return out;
    }

    /// Reads one value. `onPath`: the first `depth` steps of the path lead to it.
    void value(std::size_t depth, bool onPath)
    {
        blanks();
        const char open = here();
        if (open == '"') {
            string();
        } else if (open == '{' || open == '[') {
            ++m_at;
            const char close = open == '{' ? '}' : ']';
            std::size_t index = 0;
            for (blanks(); !atEnd() && here() != close; blanks()) {
                const std::size_t start = m_at;
                const std::string step
                    = open == '{' ? string() : "[" + std::to_string(index++) + "]";
                const std::size_t taken = onPath ? stepsTaken(step, depth) : 0;
                if (taken > 0)
                    m_found = start;
                value(depth + taken, taken > 0);
            }
            ++m_at;
        } else {
            m_at = std::min(m_json.find_first_of(" \t\r\n,:]}", m_at), m_json.size());
        }
    }

    /// Returns how many steps of the path a key covers: several if the key has dots, 0 if it is not
    /// on the path.
    std::size_t stepsTaken(const std::string& key, std::size_t depth) const
    {
        std::string joined;
        for (std::size_t i = depth; i < m_steps.size(); ++i) {
            joined += (i > depth ? "." : "") + m_steps[i];
            if (joined == key)
                return i + 1 - depth;
        }
        return 0;
    }

    const std::string& m_json;
    std::vector<std::string> m_steps;
    std::size_t m_at = 0, m_found = 0;
};

} // namespace

int lineOfJsonPath(const std::string& json, const std::string& path)
{
    const std::size_t at = JsonWalker(json, pathSteps(path)).find();
    return 1 + int(std::count(json.begin(), json.begin() + std::ptrdiff_t(at), '\n'));
}

QStringList jsonPathAt(const QString& json, qsizetype at)
{
    struct Level
    {
        bool isObject;
        QString key;
        int index = 0;
        bool atKey = true;
    };
    std::vector<Level> open;
    for (qsizetype i = 0; i < std::min(at, json.size()); ++i) {
        const QChar c = json[i];
        if (c == QLatin1Char('"')) {
            const qsizetype start = i + 1;
            for (++i; i < json.size() && json[i] != QLatin1Char('"'); ++i)
                i += json[i] == QLatin1Char('\\') ? 1 : 0;
            if (!open.empty() && open.back().isObject && open.back().atKey)
                open.back().key = json.mid(start, i - start);
        } else if (c == QLatin1Char('{') || c == QLatin1Char('[')) {
            open.push_back({c == QLatin1Char('{'), {}, 0, true});
        } else if (open.empty()) {
            continue;
        } else if (c == QLatin1Char('}') || c == QLatin1Char(']')) {
            open.pop_back();
        } else if (c == QLatin1Char(':')) {
            open.back().atKey = false;
        } else if (c == QLatin1Char(',')) {
            open.back().atKey = true;
            ++open.back().index;
        }
    }
    QStringList out;
    for (const Level& level : open)
        if (!level.isObject)
            out << QStringLiteral("[%1]").arg(level.index);
        else if (!level.key.isEmpty())
            out << level.key;
    return out;
}

QString RecipeProblem::place() const
{
    return column > 0 ? QObject::tr("Line %1, column %2").arg(line).arg(column)
                      : QObject::tr("Line %1").arg(line);
}

tl::expected<Recipe, RecipeProblem> readRecipeText(const QString& text)
{
    static const QRegularExpression place(
        QStringLiteral("^not JSON: line (\\d+), column (\\d+): (.*)$"));
    static const QRegularExpression unknownKey(QStringLiteral("unknown key '([^']+)'"));
    const std::string json = text.toStdString();
    auto recipe = parseRecipe(json, {});
    if (recipe)
        return std::move(*recipe);
    RecipeProblem problem {toQString(recipe.error().line()), 1, 0};
    const QString cause = toQString(recipe.error().message);
    if (const auto syntax = place.match(cause); syntax.hasMatch()) {
        problem.line = syntax.captured(1).toInt();
        problem.column = syntax.captured(2).toInt();
        problem.message = syntax.captured(3);
        return tl::unexpected(problem);
    }
    QString path = cause.section(QStringLiteral(": "), 0, 0);
    if (path == cause || path.contains(QLatin1Char(' ')))
        path.clear();
    if (const auto key = unknownKey.match(cause); key.hasMatch())
        path += (path.isEmpty() ? QString() : QStringLiteral(".")) + key.captured(1);
    problem.line = lineOfJsonPath(json, path.toStdString());
    return tl::unexpected(problem);
}

} // namespace qs
