// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/graph/graph_edit.h"
#include "tests/support/fake_engine.h"
#include "tests/ui/window_test.h"
#include "ui/session/search/finder.h"
#include "ui/shell/actions/commands.h"

#include <QStandardPaths>
#include <QtTest>

using namespace qs;

/// The terms of a search: how they are written, and what those on arguments, shapes, sizes and
/// times find.
class TestSearchTerms : public test::WindowTest<FakeEngine>
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void cleanup() { m_window.reset(); }
    void readsExpressions_data();
    void readsExpressions();
    void refusesExpressions_data();
    void refusesExpressions();
    void findsByArgumentAndShape_data();
    void findsByArgumentAndShape();
    void findsBySizeAndTime();
};

void TestSearchTerms::readsExpressions_data()
{
    QTest::addColumn<QString>("expression");
    QTest::addColumn<int>("terms");
    QTest::addColumn<int>("kind");
    QTest::addColumn<QString>("text");
    using Kind = SearchTerm::Kind;
    QTest::newRow("empty") << "  " << 0 << 0 << "";
    QTest::newRow("word") << "Conv1" << 1 << int(Kind::Text) << "conv1";
    QTest::newRow("words") << "layer1 conv" << 2 << int(Kind::Text) << "layer1";
    QTest::newRow("quoted") << "\"a b:c\"" << 1 << int(Kind::Text) << "a b:c";
    QTest::newRow("key") << "op:Conv2d" << 1 << int(Kind::Op) << "conv2d";
    QTest::newRow("key with =") << "op=conv2d" << 1 << int(Kind::Op) << "conv2d";
    QTest::newRow("module keeps case") << "module:Net.A" << 1 << int(Kind::Module) << "Net.A";
    QTest::newRow("verdict") << "verdict:float-by" << 1 << int(Kind::Verdict) << "float by";
    QTest::newRow("quoted value") << "verdict:\"float by rule\"" << 1 << int(Kind::Verdict)
                                  << "float by rule";
    QTest::newRow("regex with space") << "/conv 1|b/ x" << 2 << int(Kind::Regex) << "";
    QTest::newRow("sqnr") << "sqnr<30" << 1 << int(Kind::Sqnr) << "";
    QTest::newRow("argument") << "arg:Stride=2" << 1 << int(Kind::Argument) << "stride=2";
    QTest::newRow("argument's bound") << "arg:eps<=1e-5" << 1 << int(Kind::Argument) << "eps<=1e-5";
    QTest::newRow("shape") << "shape:*x64x*" << 1 << int(Kind::Shape) << "*x64x*";
    QTest::newRow("bytes") << "bytes>1M" << 1 << int(Kind::Bytes) << "";
    QTest::newRow("share of time") << "time>=5%" << 1 << int(Kind::Share) << "";
    QTest::newRow("time") << "time<2ms" << 1 << int(Kind::Seconds) << "";
    QTest::newRow("minus") << "-op:relu" << 1 << int(Kind::Op) << "relu";
    QTest::newRow("lone minus") << "-" << 1 << int(Kind::Text) << "-";
}

void TestSearchTerms::readsExpressions()
{
    QFETCH(QString, expression);
    QFETCH(int, terms);
    QFETCH(int, kind);
    QFETCH(QString, text);
    const auto query = parseSearch(expression);
    QVERIFY2(query, query ? "" : query.error().message.c_str());
    QCOMPARE(int(query->terms.size()), terms);
    if (terms == 0)
        return;
    QCOMPARE(int(query->terms[0].kind), kind);
    QCOMPARE(query->terms[0].text, text);
    QCOMPARE(query->terms[0].negated, expression.startsWith(QStringLiteral("-op")));
}

void TestSearchTerms::refusesExpressions_data()
{
    QTest::addColumn<QString>("expression");
    QTest::addColumn<QString>("names");
    QTest::newRow("key") << "foo:x"
                         << "'foo'";
    QTest::newRow("no value") << "op:"
                              << "op: expects";
    QTest::newRow("no number") << "sqnr<lots"
                               << "sqnr<30";
    QTest::newRow("compares what") << "size<3"
                                   << "sqnr<3";
    QTest::newRow("spaces") << "sqnr < 30"
                            << "without spaces";
    QTest::newRow("regex") << "/conv(/"
                           << "'conv(' is not a regular expression";
    QTest::newRow("lookahead") << "/(?=conv)/"
                               << "'(?=conv)' is not a regular expression";
    QTest::newRow("repeats") << "/(((a{100}){100}){100})/"
                             << "becomes too large";
    QTest::newRow("open regex") << "/conv"
                                << "/conv/";
    QTest::newRow("open quote") << "\"conv"
                                << "quotation mark";
    QTest::newRow("argument without name") << "arg:=2"
                                           << "arg:stride=2";
    QTest::newRow("argument without value") << "arg:stride="
                                            << "arg:stride=2, without spaces";
    QTest::newRow("argument's bound") << "arg:eps<small"
                                      << "arg:eps<2";
    QTest::newRow("cut list") << "arg:stride=[2, 2]"
                              << "arg:stride=[2,2]";
    QTest::newRow("list with a hole") << "arg:stride=[2,,2]"
                                      << "empty item";
    QTest::newRow("no shape") << "shape:"
                              << "shape: expects";
    QTest::newRow("shape with a hole") << "shape:64xx3"
                                       << "shape:*x64x*";
    QTest::newRow("bytes") << "bytes>many"
                           << "bytes>1M";
    QTest::newRow("bytes of what") << "bytes>3%"
                                   << "bytes>1M";
    QTest::newRow("time without unit") << "time>5"
                                       << "time>5% or time>2ms";
    QTest::newRow("time with spaces") << "time > 5%"
                                      << "without spaces";
    QTest::newRow("verdict") << "verdict:good"
                             << "float by constraint";
    QTest::newRow("is") << "is:new"
                        << "is:bookmark";
}

void TestSearchTerms::refusesExpressions()
{
    QFETCH(QString, expression);
    QFETCH(QString, names);
    const auto query = parseSearch(expression);
    QVERIFY(!query);
    const QString message = QString::fromStdString(query.error().message);
    QVERIFY2(message.contains(names), qPrintable(message));
    QVERIFY(!message.contains(QLatin1Char('\n')));
}

void TestSearchTerms::findsByArgumentAndShape_data()
{
    QTest::addColumn<QString>("expression");
    QTest::addColumn<QStringList>("found");
    const auto row = [](const char* expression, const QStringList& found) {
        QTest::newRow(expression) << QString::fromUtf8(expression) << found;
    };
    row("arg:stride=2", {"conv2d", "conv2d_1"}); // [2, 2], and 2 itself
    row("arg:stride=[2,2]", {"conv2d"});
    row("arg:STRIDE=(2,1)", {"conv2d_2"});
    row("arg:stride=1", {}); // of [2, 1] not all
    row("arg:stride>0 -arg:stride>1", {"conv2d_2"});
    row("arg:padding", {"conv2d"}); // given, with an empty list; None is not given
    row("arg:padding=0", {"conv2d_2"}); // left out: the default of the schema
    row("arg:dilation=1", {"conv2d", "conv2d_1", "conv2d_2"});
    row("arg:dilation=[1,1]", {"conv2d", "conv2d_1", "conv2d_2"});
    row("arg:dilation>1", {});
    row("arg:dilation", {}); // left out everywhere
    row("arg:alpha=1", {"add"});
    row("arg:END_DIM<0", {"flatten"});
    row("arg:memory_format=none", {});
    row("arg:eps=1e-5", {"batch_norm"});
    row("arg:eps=0.00001", {"batch_norm"});
    row("arg:eps<1e-4", {"batch_norm"});
    row("arg:scale=0.7071", {"relu"}); // as the window prints it
    row("arg:mode=nearest", {"add"});
    row("arg:mode='nearest'", {"add"});
    row("arg:antialias=true", {"add"});
    row("arg:dtype=torch.float32", {"flatten"});
    row("arg:dtype=float32", {"flatten"});
    row("arg:other=relu", {}); // the second input of add is "weight" here
    row("arg:weight=relu", {"add"}); // reads that value
    row("shape:*x64x*", {"relu_1", "relu_2"});
    row("shape:8x64x*", {"relu_1"});
    row("shape:*x64", {"linear"});
    row("shape:8,64", {"linear"});
    row("shape:*x8x*", {}); // * stands for one dimension and more
    row("shape:S7x64x3", {"relu_2"});
    row("shape:scalar", {"adaptive_avg_pool2d"});
    row("shape:8\u00d764\u00d7*", {"relu_1"});
}

void TestSearchTerms::findsByArgumentAndShape()
{
    QFETCH(QString, expression);
    QFETCH(QStringList, found);
    const GraphPtr plain = fakeModel();
    GraphEdit edit(*plain);
    const auto give = [&](const char* name, const char* argument, Argument value) {
        edit.change(plain->tryFind(name)->id).args.push_back({argument, std::move(value)});
    };
    const auto shape = [&](const char* name, std::vector<Dim> dims) {
        edit.change(plain->tryFind(name)->id).outputs[0].type.shape = std::move(dims);
    };
    using List = Argument::List;
    const auto whole = [](std::int64_t number) { return Argument(number); };
    give("conv2d", "stride", List {whole(2), whole(2)});
    give("conv2d_1", "stride", 2);
    give("conv2d_2", "stride", List {whole(2), whole(1)});
    give("conv2d", "padding", List {});
    give("conv2d_1", "padding", Argument());
    give("batch_norm", "eps", 1e-5);
    give("relu", "scale", 0.70710678118);
    give("add", "mode", "nearest");
    give("add", "antialias", true);
    give("flatten", "dtype", DType::Float32);
    shape("relu_1", {Dim::fixed(8), Dim::fixed(64), Dim::fixed(56), Dim::fixed(56)});
    shape("relu_2", {Dim {4, "s7", "s7"}, Dim::fixed(64), Dim::fixed(3)});
    shape("linear", {Dim::fixed(8), Dim::fixed(64)});
    shape("adaptive_avg_pool2d", {});
    const auto model = std::make_shared<const Graph>(edit.build());
    const auto tree = FoldTree::build(*model, nullptr);
    const auto query = parseSearch(expression);
    QVERIFY2(query, query ? "" : query.error().message.c_str());
    QStringList names;
    for (const int unit : NodeSearch(tree, model).find(*query, Facts()))
        names << QString::fromStdString(model->get(tree->entry(unit).members.front()).name);
    QCOMPARE(names, found);
}

void TestSearchTerms::findsBySizeAndTime()
{
    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->show();
    m_window->openModel(QStringLiteral("/models/net.pt2"));
    QTRY_VERIFY(settled());
    auto& finder = m_window->finder();
    const auto found = [this, &finder](const char* expression) {
        finder.setExpression(QString::fromUtf8(expression));
        QStringList out;
        for (const int unit : finder.results())
            out << QString::fromStdString(
                workspace()
                    .document()
                    .model()
                    ->get(workspace().foldTree()->entry(unit).members.front())
                    .name);
        return finder.error().isEmpty() ? out : QStringList {finder.error()};
    };
    // Each value has 128 KiB, with what is stored inside: as the badges of "Colour by memory" say.
    const QStringList stored {"conv2d", "conv2d_1", "conv2d_2", "linear"};
    QCOMPARE(found("bytes>128k"), stored);
    QCOMPARE(found("bytes>131072"), stored);
    QCOMPARE(found("bytes>131.6kB"), stored);
    QCOMPARE(found("bytes>=128KiB op:flatten"), QStringList {"flatten"});
    QCOMPARE(found("bytes>1M"), QStringList());
    QCOMPARE(found("bytes>1000000G"), QStringList());
    QCOMPARE(found("time>0%"), QStringList()); // not measured
    m_window->commands().runAll();
    QTRY_VERIFY(workspace().document().comparison());
    // 1 ms, each operator half as long as the one before: the stem's three are seven eighths.
    QCOMPARE(found("time>50%"), QStringList {"conv2d"});
    QCOMPARE(found("time>5%"), QStringList({"conv2d", "conv2d_1"}));
    QCOMPARE(found("time>1.7ms"), QStringList {"conv2d"});
    QCOMPARE(found("time<1us"), QStringList({"adaptive_avg_pool2d", "flatten", "linear"}));
    QCOMPARE(found("time>=1us time<5%"), QStringList({"conv2d_2", "add"}));
}

QTEST_MAIN(TestSearchTerms)
#include "tst_ui_search_terms.moc"
