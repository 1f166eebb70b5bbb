// SPDX-License-Identifier: Apache-2.0
// The table of causes: names, sentences and the page of the guide that lists them.
#include "engine/plan/reason/reason.h"

#include <QFile>
#include <QRegularExpression>
#include <QtTest/QtTest>

#include <set>

using namespace qs;

namespace {

QString markOf(std::size_t argument)
{
    return QStringLiteral("<%1>").arg(argument);
}

/// The cause with a mark for each of its arguments.
template<ReasonCode code, std::size_t... argument>
Reason marked(std::index_sequence<argument...>)
{
    return Reason::of<code>(markOf(argument).toStdString()...);
}

template<std::size_t... row>
std::vector<Reason> allMarked(std::index_sequence<row...>)
{
    return {marked<ReasonCode(row + 1)>(
        std::make_index_sequence<argumentCount(ReasonCode(row + 1))>())...};
}

template<ReasonCode code, typename... Arguments>
concept CanBeMade = requires(Arguments... arguments)
{
    Reason::of<code>(arguments...);
};
static_assert(CanBeMade<ReasonCode::NoQConfig>);
static_assert(!CanBeMade<ReasonCode::NoQConfig, std::string>);
static_assert(CanBeMade<ReasonCode::RuleKeepsFloat, std::string>);
static_assert(!CanBeMade<ReasonCode::RuleKeepsFloat>);
static_assert(!CanBeMade<ReasonCode::None>);

} // namespace

class TestReason : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void everySentenceTellsAllArgumentsInOrder()
    {
        const auto reasons = allMarked(std::make_index_sequence<kReasons.size() - 1>());
        std::set<std::string_view> names;
        static const QRegularExpression snakeCase(QStringLiteral("^[a-z0-9]+(_[a-z0-9]+)*$"));
        for (std::size_t i = 0; i < reasons.size(); ++i) {
            const Reason& reason = reasons[i];
            const QString name = QString::fromUtf8(reason.name().data(), int(reason.name().size()));
            const QString text = QString::fromStdString(reason.text());
            QCOMPARE(int(reason.code()), int(i + 1));
            QVERIFY2(snakeCase.match(name).hasMatch(), qPrintable(name));
            QVERIFY2(names.insert(reason.name()).second, qPrintable(name));
            QVERIFY2(!text.isEmpty() && !text.contains(QRegularExpression("[\\[\\]{}]")),
                     qPrintable(text));
            qsizetype at = -1;
            for (std::size_t a = 0; a < argumentCount(reason.code()); ++a) {
                QVERIFY2(text.count(markOf(a)) == 1 && text.indexOf(markOf(a)) > at,
                         qPrintable(text));
                at = text.indexOf(markOf(a));
            }
            QCOMPARE(text.count(QLatin1Char('<')), qsizetype(argumentCount(reason.code())));
        }
    }
    void aClauseIsToldWithItsArgument()
    {
        QCOMPARE(Reason::of<ReasonCode::InsideWholeModule>("torch.nn.LSTM", "").text(),
                 "it is a step inside torch.nn.LSTM, which is quantized as a whole or not");
        QCOMPARE(Reason::of<ReasonCode::InsideWholeModule>("torch.nn.LSTM", "torch.fx").text(),
                 "it is a step inside torch.nn.LSTM, which is quantized as a whole or not; "
                 "torch.fx decomposed it");
        QCOMPARE(Reason::of<ReasonCode::QConfigDoesNotFit>("own", "", "no").text(),
                 "qconfig 'own' does not fit: no");
        QCOMPARE(Reason::of<ReasonCode::QConfigDoesNotFit>("own", "LSTM", "no").text(),
                 "qconfig 'own' does not fit a whole LSTM: no");
    }
    /// What a user named may look like a part of a sentence.
    void argumentsAreTakenAsTheyAre()
    {
        QCOMPARE(Reason::of<ReasonCode::DecidesBranch>("a]{x}[").text(),
                 "its result only decides which way 'a]{x}[' goes");
    }
    void equalCausesAreEqual()
    {
        const Reason one = Reason::of<ReasonCode::RuleKeepsFloat>("a");
        QVERIFY(one == Reason::of<ReasonCode::RuleKeepsFloat>("a"));
        QVERIFY(one != Reason::of<ReasonCode::RuleKeepsFloat>("b"));
        QVERIFY(Reason().empty() && Reason().text().empty() && !one.empty());
    }
    void theGuideListsEveryName()
    {
        QFile page(QStringLiteral(QS_SOURCE_DIR "/resources/help/reasons.md"));
        QVERIFY(page.open(QIODevice::ReadOnly));
        static const QRegularExpression row(QStringLiteral("^\\| `(\\w+)` \\| .+ \\|$"),
                                            QRegularExpression::MultilineOption);
        QStringList listed;
        for (auto it = row.globalMatch(QString::fromUtf8(page.readAll())); it.hasNext();)
            listed << it.next().captured(1);
        QStringList names {QStringLiteral("reason_code")};
        for (const ReasonRow& reason : kReasons)
            if (reason.code != ReasonCode::None)
                names << QString::fromUtf8(reason.name.data(), int(reason.name.size()));
        QCOMPARE(listed, names);
    }
};

QTEST_GUILESS_MAIN(TestReason)
#include "tst_reason.moc"
