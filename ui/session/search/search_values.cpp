// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/search/search_values.h"

#include "engine/edit/default_arguments.h"
#include "engine/graph/text/graph_printer.h"
#include "ui/session/text.h"

#include <QRegularExpression>

#include <algorithm>
#include <cmath>
#include <span>

namespace qs {

namespace {

/// Relative tolerance of equal numbers. The argument's four-digit form also counts as equal.
constexpr double kSameNumber = 1e-6;

tl::unexpected<Error> badValue(const QString& text)
{
    return fail(makeError(ErrorCode::Usage, text.toStdString()));
}

std::optional<double> numberOf(const Argument& argument)
{
    if (const auto* whole = argument.asInt())
        return double(*whole);
    if (const auto* number = argument.asDouble())
        return *number;
    return std::nullopt;
}

std::optional<double> numberOf(const QString& text)
{
    bool ok = false;
    const double number = text.toDouble(&ok);
    return ok ? std::optional(number) : std::nullopt;
}

/// Returns "float32" for "torch.float32", "mean" for "'mean'", "conv2d" for "%conv2d",
/// "channels_last" for "memory_format('channels_last')".
QString bareText(QString printed)
{
    printed.remove(QStringLiteral("torch."));
    static const QRegularExpression call(QStringLiteral("^\\w+\\((.*)\\)$"));
    if (const auto match = call.match(printed); match.hasMatch())
        printed = match.captured(1);
    if (printed.startsWith(QLatin1Char('%')))
        printed.remove(0, 1);
    if (printed.size() > 1 && (printed[0] == QLatin1Char('\'') || printed[0] == QLatin1Char('"')))
        printed = printed.mid(1, printed.size() - 2);
    return printed;
}

bool isEqual(const Graph& graph, const Argument& argument, const QString& wanted)
{
    if (const auto number = numberOf(argument)) {
        const auto asked = numberOf(wanted);
        return asked
            && (std::abs(*number - *asked) <= kSameNumber * std::abs(*asked)
                || QString::number(*number, 'g', 4) == wanted);
    }
    const QString printed = toQString(printArgument(graph, argument)).toLower();
    return printed == wanted || bareText(printed) == bareText(wanted);
}

/// The argument of that name, ignoring case; null if the node has no such argument.
const Argument* argumentIn(std::span<const NamedArgument> arguments, const QString& name)
{
    const auto found
        = std::find_if(arguments.begin(), arguments.end(), [&name](const NamedArgument& argument) {
              return toQString(argument.name).compare(name, Qt::CaseInsensitive) == 0;
          });
    return found == arguments.end() ? nullptr : &found->value;
}

bool isMatching(std::span<const QString> pattern, std::span<const Dim> dims)
{
    if (pattern.empty())
        return dims.empty();
    if (dims.empty())
        return false;
    if (pattern.front() != QLatin1String("*"))
        return pattern.front() == toQString(dims.front().text()).toLower()
            && isMatching(pattern.subspan(1), dims.subspan(1));
    for (std::size_t taken = 1; taken <= dims.size(); ++taken)
        if (isMatching(pattern.subspan(1), dims.subspan(taken)))
            return true;
    return false;
}

} // namespace

bool ArgumentTest::isMetBy(const Graph& graph, const Node& node) const
{
    const Argument* found = argumentIn(node.args, name);
    if (!found && (values || bound) && node.kind == NodeKind::Op)
        found = argumentIn(defaultArguments(node.target), name);
    if (!found)
        return false;
    const Argument& given = *found;
    const auto* list = given.asList();
    const auto each = [&](const auto& test) {
        return list ? !list->empty() && std::all_of(list->begin(), list->end(), test) : test(given);
    };
    if (bound)
        return each([this](const Argument& item) {
            const auto number = numberOf(item);
            return number && bound->holds(*number);
        });
    if (!values)
        return !given.isNone();
    if (values->size() == 1)
        return each([&](const Argument& item) { return isEqual(graph, item, values->front()); });
    return list
        && std::equal(list->begin(), list->end(), values->begin(), values->end(),
                      [&](const Argument& item, const QString& text) {
                          return isEqual(graph, item, text);
                      });
}

Result<ArgumentTest> parseArgumentTest(const QString& text)
{
    static const QRegularExpression form(QStringLiteral("^([A-Za-z_]\\w*)(?:(<=|>=|<|>|=)(.*))?$"));
    const auto match = form.match(text.toLower());
    if (!match.hasMatch())
        return badValue(
            QObject::tr("arg:%1 does not begin with an argument's name; write arg:stride=2")
                .arg(text));
    ArgumentTest test;
    test.name = match.captured(1);
    const QString sign = match.captured(2);
    QString value = match.captured(3).trimmed();
    if (sign.isEmpty())
        return test;
    if (value.isEmpty())
        return badValue(QObject::tr("arg:%1 has no value; write arg:%2=2, without spaces")
                            .arg(text, test.name));
    if (sign != QLatin1String("=")) {
        const auto number = numberOf(value);
        if (!number)
            return badValue(QObject::tr("arg:%1 is not compared with a number; write arg:%2%3%4")
                                .arg(text, test.name, sign)
                                .arg(2));
        test.bound = Bound {sign[0] == QLatin1Char('<'), sign.size() == 2, *number};
        return test;
    }
    const bool opens = QStringLiteral("[(").contains(value.front());
    const bool closes = QStringLiteral("])").contains(value.back());
    if (opens != closes)
        return badValue(
            QObject::tr("The list in arg:%1 has no end; write it without spaces: arg:%2=[2,2]")
                .arg(text, test.name));
    if (opens)
        value = value.mid(1, value.size() - 2);
    QStringList items = value.split(QLatin1Char(','));
    for (QString& item : items)
        item = item.trimmed();
    if (items.contains(QString()))
        return badValue(QObject::tr("The list in arg:%1 has an empty item; write arg:%2=[2,2]")
                            .arg(text, test.name));
    test.values = std::move(items);
    return test;
}

bool ShapePattern::isMetBy(const ValueType& type) const
{
    if (type.kind != ValueKind::Tensor || !type.shapeKnown)
        return false;
    if (dims == QStringList {QStringLiteral("scalar")})
        return type.shape.empty();
    return isMatching(std::span(dims.constData(), std::size_t(dims.size())), type.shape);
}

Result<ShapePattern> parseShapePattern(const QString& text)
{
    static const QRegularExpression sign(QStringLiteral("[,\u00d7]"));
    const QString lower = text.toLower();
    QStringList dims = lower.contains(sign) ? lower.split(sign) : lower.split(QLatin1Char('x'));
    for (QString& dim : dims)
        dim = dim.trimmed();
    if (dims.contains(QString()))
        return badValue(
            QObject::tr("shape:%1 has an empty dimension; write shape:*x64x*, * for any others")
                .arg(text));
    return ShapePattern {std::move(dims)};
}

std::optional<double> parseBytes(const QString& text)
{
    static const QRegularExpression form(QStringLiteral("^([0-9.]+)(?:b|([kmgt])(i?b?))?$"));
    const auto match = form.match(text.toLower());
    const auto number = numberOf(match.captured(1));
    if (!number)
        return std::nullopt;
    const QString unit = match.captured(2);
    const int power = unit.isEmpty() ? 0 : 1 + int(QStringLiteral("kmgt").indexOf(unit));
    const bool thousands = match.captured(3) == QLatin1String("b");
    return *number * std::pow(thousands ? 1000.0 : 1024.0, power);
}

std::optional<double> parseSeconds(const QString& text)
{
    static const QRegularExpression form(QStringLiteral("^([0-9.]+)(s|ms|us|\u00b5s|ns)$"));
    const auto match = form.match(text.toLower());
    const auto number = numberOf(match.captured(1));
    if (!number)
        return std::nullopt;
    const QString unit = match.captured(2);
    return *number
        * (unit == QLatin1String("s")        ? 1
               : unit == QLatin1String("ms") ? 1e-3
               : unit == QLatin1String("ns") ? 1e-9
                                             : 1e-6);
}

std::optional<double> parseShare(const QString& text)
{
    const auto number = text.endsWith(QLatin1Char('%')) ? numberOf(text.chopped(1)) : std::nullopt;
    return number ? std::optional(*number / 100) : std::nullopt;
}

} // namespace qs
