// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/search/search_query.h"

#include "ui/session/text.h"

#include <QRegularExpression>
#include <QStringList>

#include <algorithm>

namespace qs {

namespace {

using Kind = SearchTerm::Kind;

tl::unexpected<Error> badTerm(const QString& text)
{
    return fail(makeError(ErrorCode::Usage, text.toStdString()));
}

/// A term as typed, without its minus and quotes.
struct Word
{
    QString text;
    qsizetype keyEnd = -1; ///< of a ':' or '=' outside quotes
    bool negated = false;
    bool isRegex = false;
};

/// Reads one word from `at` on and sets `at` to the position after it.
Result<Word> readWord(const QString& expression, qsizetype& at)
{
    Word word;
    if (expression[at] == QLatin1Char('-') && at + 1 < expression.size()
        && !expression[at + 1].isSpace()) {
        word.negated = true;
        ++at;
    }
    if (expression[at] == QLatin1Char('/')) {
        word.isRegex = true;
        for (++at; at < expression.size() && expression[at] != QLatin1Char('/'); ++at) {
            if (expression[at] == QLatin1Char('\\') && at + 1 < expression.size())
                word.text += expression[at++];
            word.text += expression[at];
        }
        if (at == expression.size())
            return badTerm(QObject::tr("The regex /%1 has no end; write /%1/").arg(word.text));
        ++at;
        return word;
    }
    bool quoted = false;
    for (; at < expression.size() && (quoted || !expression[at].isSpace()); ++at) {
        const QChar c = expression[at];
        if (c == QLatin1Char('"')) {
            quoted = !quoted;
            continue;
        }
        const bool isKey = c == QLatin1Char(':')
            || (c == QLatin1Char('=') && at > 0
                && !QStringLiteral("<>").contains(expression[at - 1]));
        if (!quoted && word.keyEnd < 0 && isKey)
            word.keyEnd = word.text.size();
        word.text += c;
    }
    if (quoted)
        return badTerm(QObject::tr("A quotation mark is missing after %1").arg(word.text));
    return word;
}

struct FigureName
{
    const char* name;
    Kind kind;
    ErrorTerm error = ErrorTerm::BornHere;
};

/// Reads the bound of a figure, in its unit. Fails if it is malformed.
Result<void> readBound(SearchTerm& term, const QString& name, const QString& sign,
                       const QString& figure)
{
    const auto take = [&term](std::optional<double> number) {
        term.bound.at = number.value_or(0);
        return number.has_value();
    };
    bool isNumber = false;
    const double plain = figure.toDouble(&isNumber);
    switch (term.kind) {
    case Kind::Bytes:
        if (!take(parseBytes(figure)))
            return badTerm(
                QObject::tr(
                    "%1 expects a number of bytes, such as %1%2; k, M and G are powers of 1024")
                    .arg(name + sign, QStringLiteral("1M")));
        return {};
    case Kind::Seconds:
        if (take(parseShare(figure)))
            term.kind = Kind::Share;
        else if (!take(parseSeconds(figure)))
            return badTerm(
                QObject::tr("%1 expects a share of the whole or a time with its unit: %1%2 or %1%3")
                    .arg(name + sign, QStringLiteral("5%"), QStringLiteral("2ms")));
        return {};
    default:
        if (!take(isNumber ? std::optional(plain) : std::nullopt))
            return badTerm(QObject::tr("%1 expects a number of dB: %1%2").arg(name + sign).arg(30));
        return {};
    }
}

/// Reads a comparison such as "sqnr<30", "bytes>1M" or "time>5%"; nothing if the word has another
/// form.
std::optional<Result<SearchTerm>> readComparison(const QString& word)
{
    static const QRegularExpression shape(QStringLiteral("^([^<>]*)([<>]=?)(.*)$"));
    static const FigureName names[] = {{"sqnr", Kind::Sqnr},
                                       {"born", Kind::Sqnr},
                                       {"isolated", Kind::Sqnr, ErrorTerm::Isolated},
                                       {"inherited", Kind::Sqnr, ErrorTerm::Inherited},
                                       {"cumulative", Kind::Sqnr, ErrorTerm::Cumulative},
                                       {"bytes", Kind::Bytes},
                                       {"time", Kind::Seconds}};
    const auto match = shape.match(word);
    if (!match.hasMatch())
        return {};
    const QString name = match.captured(1), sign = match.captured(2), figure = match.captured(3);
    const auto* const found
        = std::find_if(std::begin(names), std::end(names),
                       [&](const auto& entry) { return name == QLatin1String(entry.name); });
    if (found == std::end(names))
        return badTerm(
            QObject::tr("Only sqnr, isolated, inherited, cumulative, bytes and time can be "
                        "compared, without spaces: sqnr%1%2")
                .arg(sign, figure.isEmpty() ? QStringLiteral("30") : figure));
    SearchTerm term;
    term.kind = found->kind;
    term.error = found->error;
    term.bound.below = sign[0] == QLatin1Char('<');
    term.bound.inclusive = sign.size() == 2;
    if (auto read = readBound(term, name, sign, figure); !read)
        return fail(std::move(read).error());
    return term;
}

QStringList verdictNames()
{
    QStringList out;
    for (int verdict = int(Verdict::Quantized); verdict <= int(Verdict::Shared); ++verdict)
        out << toQString(verdictName(Verdict(verdict)));
    return out;
}

bool beginsOne(const QStringList& names, const QString& start)
{
    return std::any_of(names.begin(), names.end(),
                       [&](const QString& name) { return name.startsWith(start); });
}

/// Reads "key:value". `given`: the value as typed, because module paths are case-sensitive.
Result<SearchTerm> readKey(const QString& key, const QString& given)
{
    const QString value = given.toLower();
    static const std::pair<const char*, Kind> keys[]
        = {{"op", Kind::Op},           {"module", Kind::Module}, {"qconfig", Kind::QConfig},
           {"verdict", Kind::Verdict}, {"dtype", Kind::DType},   {"arg", Kind::Argument},
           {"shape", Kind::Shape},     {"is", Kind::Bookmark}};
    const auto* const found
        = std::find_if(std::begin(keys), std::end(keys),
                       [&](const auto& entry) { return key == QLatin1String(entry.first); });
    if (found == std::end(keys))
        return badTerm(QObject::tr("There is no key '%1'; use op:, module:, qconfig:, verdict:, "
                                   "dtype:, arg:, shape:, is:bookmark or is:edited, or put the "
                                   "word in quotes")
                           .arg(key));
    if (value.isEmpty())
        return badTerm(QObject::tr("%1: expects a word right after it").arg(key));
    SearchTerm term;
    term.kind = found->second;
    term.text = term.kind == Kind::Module ? given : value;
    if (term.kind == Kind::Argument) {
        QS_TRY(term.argument, parseArgumentTest(given));
    } else if (term.kind == Kind::Shape) {
        QS_TRY(term.shape, parseShapePattern(given));
    }
    if (term.kind == Kind::Verdict) {
        term.text.replace(QLatin1Char('-'), QLatin1Char(' '));
        if (!beginsOne(verdictNames(), term.text))
            return badTerm(QObject::tr("There is no verdict '%1'; there are %2")
                               .arg(value, verdictNames().join(QStringLiteral(", "))));
    }
    if (term.kind == Kind::Bookmark && !QStringLiteral("bookmark").startsWith(value)) {
        if (!QStringLiteral("edited").startsWith(value))
            return badTerm(QObject::tr("Unknown is:%1; use is:bookmark or is:edited").arg(value));
        term.kind = Kind::Edited;
    }
    return term;
}

Result<SearchTerm> readTerm(const Word& word)
{
    SearchTerm term;
    if (word.isRegex) {
        term.kind = Kind::Regex;
        auto compiled = Pattern::compile(word.text.toStdString(), true);
        if (!compiled) {
            compiled.error().code = ErrorCode::Usage;
            return fail(std::move(compiled).error());
        }
        term.regex = std::move(*compiled);
        return term;
    }
    const QString text = word.text.toLower();
    if (word.keyEnd >= 0)
        return readKey(text.left(word.keyEnd), word.text.mid(word.keyEnd + 1));
    if (auto comparison = readComparison(text))
        return *comparison;
    term.text = text;
    return term;
}

} // namespace

Result<SearchQuery> parseSearch(const QString& expression)
{
    SearchQuery query;
    for (qsizetype at = 0; at < expression.size();) {
        if (expression[at].isSpace()) {
            ++at;
            continue;
        }
        QS_TRY(const Word word, readWord(expression, at));
        QS_TRY(SearchTerm term, readTerm(word));
        term.negated = word.negated;
        query.terms.push_back(std::move(term));
    }
    return query;
}

QString searchProblem(const Error& error)
{
    return toQString(error.hint.empty() ? error.message : error.message + "; " + error.hint);
}

QString searchHint()
{
    return QObject::tr(
        "Words of a name, /regex/, op:conv2d, module:layer1, qconfig:float, verdict:float-by-rule, "
        "dtype:quint8, arg:stride=2, shape:*x64x*, sqnr<30, bytes>1M, time>5%, is:bookmark, "
        "is:edited; a minus in front excludes");
}

} // namespace qs
