// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/plan/graph_maker.h"
#include "tests/ui/decoder_window.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/graph/layout/block_runs.h"
#include "ui/graph/layout/expansion.h"
#include "ui/graph/layout/graph_layout.h"
#include "ui/session/search/finder.h"
#include "ui/shell/actions/commands.h"

#include <QMenu>
#include <QSettings>
#include <QStandardPaths>

using namespace qs;
using test::kLayers;

namespace {

/// Residual blocks as those of ResNet: convolution, rectifier, convolution, sum.
class BlockNet
{
public:
    ValueRef input(const char* name) { return m_maker.input(name); }
    ValueRef block(const std::string& path, ValueRef x, bool downsample = false)
    {
        m_maker.edit.modules().add(path, "Bottleneck");
        ValueRef y = op(path + ".conv1", "aten.conv2d.default", {{"input", x}});
        y = op(path + ".relu", "aten.relu.default", {{"self", y}});
        y = op(path + ".conv2", "aten.conv2d.default", {{"input", y}});
        if (downsample)
            x = op(path + ".downsample", "aten.conv2d.default", {{"input", x}});
        return sum(path, "Bottleneck", y, x);
    }
    ValueRef sum(const std::string& module, const char* className, ValueRef a, ValueRef b)
    {
        return m_maker.op("n" + std::to_string(m_count++), "aten.add.Tensor",
                          {{"self", a}, {"other", b}}, module, className);
    }
    ValueRef op(const std::string& path, const char* target, std::vector<NamedArgument> args)
    {
        return m_maker.op("n" + std::to_string(m_count++), target, std::move(args), path, "Leaf");
    }
    /// The keys of the runs that are found.
    QStringList runs(const std::vector<ValueRef>& outputs)
    {
        const Graph graph = m_maker.finish(outputs);
        const auto tree = FoldTree::build(graph, nullptr);
        QStringList out;
        for (const auto& run : findBlockRuns(graph, *tree, *RepeatedModules::find(graph)))
            out << toQString(run.key);
        return out;
    }

private:
    GraphMaker m_maker;
    int m_count = 0;
};

} // namespace

/// Blocks that are the same again, one after the other, are one box.
class TestRepeats : public test::DecoderWindow
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init() { QSettings().clear(); }
    void cleanup() { m_window.reset(); }
    void layersOfADecoderAreARun();
    void differingBlocksAreNot();
    void unchainedBlocksAreNot();
    void boxesStandBetweenOpenBlocks();
    void firstViewShowsTheBox();
    void clickSelectsAll();
    void allAreUnfoldedAndFoldedAgain();
    void oneIsUnfolded();
    void whatIsSearchedComesOut();
    void boxShowsTheSpread();
    void switchIsKept();
    void repeatsInOtherForms();

private:
    void trigger(ActionId id)
    {
        m_window->actions()[id].trigger();
        QTRY_VERIFY(settled());
    }
    void clickBox(int index, bool twice = false)
    {
        auto& view = pane().view();
        const QRectF rect = boxes()[std::size_t(index)].rect;
        view.centerOn(rect.center());
        const QPoint at = view.mapFromScene(rect.center());
        QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, at);
        if (twice)
            QTest::mouseDClick(view.viewport(), Qt::LeftButton, {}, at);
    }
    int framesOfLayers()
    {
        int out = 0;
        for (const auto& box : drawing().boxes)
            out += QString::fromStdString(drawing().tree->entry(box.entry).path)
                       .contains(QRegularExpression(QStringLiteral("layers\\.\\d+$")));
        return out;
    }
};

void TestRepeats::layersOfADecoderAreARun()
{
    const auto model = decoderGraph(kLayers);
    const auto tree = FoldTree::build(*model, nullptr);
    const auto runs = findBlockRuns(*model, *tree, *RepeatedModules::find(*model));
    QCOMPARE(runs.size(), std::size_t(1));
    QCOMPARE(runs[0].paths.size(), std::size_t(kLayers));
    QCOMPARE(runs[0].paths.front(), std::string("model.layers.0"));
    QCOMPARE(runs[0].paths.back(), std::string("model.layers.11"));
    QCOMPARE(toQString(runs[0].key), QStringLiteral("model.layers.0–11 ×12"));
    const auto two = decoderGraph(2);
    QVERIFY(
        findBlockRuns(*two, *FoldTree::build(*two, nullptr), *RepeatedModules::find(*two)).empty());
}

void TestRepeats::differingBlocksAreNot()
{
    BlockNet net;
    ValueRef x = net.input("x");
    x = net.block("layer1.0", x, true);
    for (const char* path : {"layer1.1", "layer1.2"})
        x = net.block(path, x);
    x = net.block("layer2.0", x, true);
    for (const char* path : {"layer2.1", "layer2.2", "layer2.3", "layer2.4"})
        x = net.block(path, x);
    QCOMPARE(net.runs({x}), QStringList {QStringLiteral("layer2.1–4 ×4")});
}

void TestRepeats::unchainedBlocksAreNot()
{
    BlockNet heads;
    const ValueRef x = heads.input("x");
    std::vector<ValueRef> out;
    for (const char* path : {"heads.0", "heads.1", "heads.2", "heads.3"})
        out.push_back(heads.block(path, x));
    QCOMPARE(heads.runs(out), QStringList()); // beside each other

    // What one made is added elsewhere and comes back: as one box they would be a loop.
    BlockNet skips;
    ValueRef y = skips.input("y");
    for (const char* path : {"steps.block0", "steps.block1", "steps.block2"})
        y = skips.sum("outside", "Other", skips.block(path, y), y);
    QCOMPARE(skips.runs({y}), QStringList());

    // Something else between the second and the third, which they do not read, changes nothing.
    BlockNet mixed;
    ValueRef z = mixed.input("z");
    const ValueRef other = mixed.input("other");
    for (const char* path : {"stack.block0", "stack.block1"})
        z = mixed.block(path, z);
    const ValueRef aside = mixed.op("aside", "aten.relu.default", {{"self", other}});
    for (const char* path : {"stack.block2", "stack.block3"})
        z = mixed.block(path, z);
    QCOMPARE(mixed.runs({z, aside}), QStringList {QStringLiteral("stack.block0–3 ×4")});
}

void TestRepeats::boxesStandBetweenOpenBlocks()
{
    const auto model = decoderGraph(kLayers);
    const auto tree = FoldTree::build(*model, nullptr);
    const auto runs = findBlockRuns(*model, *tree, *RepeatedModules::find(*model));
    const auto labelsWith = [&](const std::set<std::string>& open) {
        const auto grouped = groupedTree(*model, tree, runs, open);
        QStringList out;
        for (std::size_t i = 0; i < grouped->size(); ++i) {
            const auto& entry = grouped->entry(int(i));
            if (i < tree->size())
                continue; // entries keep their places
            out << toQString(entry.label);
            std::size_t nodes = 0;
            for (const int block : entry.children)
                nodes += grouped->nodesOf(block).size();
            if (grouped->nodesOf(int(i)).size() != nodes)
                out << QStringLiteral("other nodes");
        }
        return out;
    };
    QCOMPARE(labelsWith({}), QStringList {QStringLiteral("layers.0–11 ×12")});
    QCOMPARE(labelsWith({"model.layers.5"}),
             QStringList({QStringLiteral("layers.0–4 ×5"), QStringLiteral("layers.6–11 ×6")}));
    QCOMPARE(labelsWith({"model.layers.1"}),
             QStringList {QStringLiteral("layers.2–11 ×10")}); // the first is alone
    QCOMPARE(labelsWith({runs[0].key, "model.layers.5"}),
             QStringList {QStringLiteral("layers.0–11 ×12")}); // the frame around all of them
    QCOMPARE(groupedTree(*model, tree, {}, {}), tree);
    // The layout draws the box as one node, and no line twice.
    const auto grouped = groupedTree(*model, tree, runs, {});
    const auto drawn = layoutGraph(model, grouped, entriesOf(*grouped, {"model", "model.layers"}));
    QVERIFY(drawn);
    const int box = int(grouped->size()) - 1;
    QCOMPARE((*drawn)->nodeShowing(tree->moduleEntry("model.layers.7")),
             (*drawn)->nodeOfEntry[std::size_t(box)]);
    std::set<std::pair<int, int>> ends;
    for (const auto& edge : (*drawn)->edges) {
        QVERIFY(edge.fromEntry != edge.toEntry);
        QVERIFY(ends.insert({edge.fromEntry, edge.toEntry}).second);
    }
}

void TestRepeats::firstViewShowsTheBox()
{
    openWindow();
    QCOMPARE(boxLabels(), QStringList {QStringLiteral("layers.0–11 ×12")});
    const auto& style = pane().view().graphScene().canvas().style();
    const NodeText words = style.text(drawing().nodeOfEntry[std::size_t(boxes().front().entry)]);
    QCOMPARE(words.title, QStringLiteral("layers.0–11 ×12  DecoderLayer"));
    QVERIFY2(words.detail.endsWith(QStringLiteral("nodes each")), qPrintable(words.detail));
}

void TestRepeats::clickSelectsAll()
{
    openWindow();
    clickBox(0);
    std::size_t nodes = 0;
    const auto& tree = *workspace().foldTree();
    for (int i = 0; i < kLayers; ++i)
        nodes += tree.nodesOf(tree.moduleEntry("model.layers." + std::to_string(i))).size();
    QCOMPARE(workspace().selection().nodes().size(), nodes);
    QCOMPARE(pane().selectedBlocks().size(), std::size_t(kLayers));
    // The keys lead to the box and on from it.
    auto& view = pane().view();
    QTest::keyClick(&view, Qt::Key_Down);
    QVERIFY(pane().selectedBlocks().empty());
    QTest::keyClick(&view, Qt::Key_Up);
    QCOMPARE(pane().selectedBlocks().size(), std::size_t(kLayers));
    // With Ctrl a click takes the box away from what is selected, and adds it.
    const QRectF rect = boxes().front().rect;
    view.centerOn(rect.center());
    const QPoint at = view.mapFromScene(rect.center());
    QTest::mouseClick(view.viewport(), Qt::LeftButton, Qt::ControlModifier, at);
    QVERIFY(workspace().selection().nodes().empty());
    QTest::mouseClick(view.viewport(), Qt::LeftButton, Qt::ControlModifier, at);
    QCOMPARE(pane().selectedBlocks().size(), std::size_t(kLayers));
    // Going to the selection leaves the box as it is.
    trigger(ActionId::Reveal);
    QCOMPARE(boxLabels().size(), 1);
}

void TestRepeats::allAreUnfoldedAndFoldedAgain()
{
    openWindow();
    const auto before = drawing().nodes.size();
    clickBox(0);
    trigger(ActionId::Expand);
    QCOMPARE(boxLabels(), QStringList());
    QCOMPARE(drawing().nodes.size(), before - 1 + kLayers);
    // One of them is selected: folding takes the frame around it.
    workspace().selectEntry(workspace().foldTree()->moduleEntry("model.layers.3"));
    trigger(ActionId::Collapse);
    QCOMPARE(boxLabels(), QStringList {QStringLiteral("layers.0–11 ×12")});
    clickBox(0, true);
    QTRY_VERIFY(settled() && boxLabels().isEmpty());
    pane().setExpanded({"", "model", "model.layers"});
    QTRY_VERIFY(settled());
    clickBox(0);
    trigger(ActionId::ExpandRepeats); // each with what is inside
    QCOMPARE(framesOfLayers(), kLayers);
    trigger(ActionId::ExpandAll);
    QCOMPARE(boxLabels(), QStringList());
}

void TestRepeats::oneIsUnfolded()
{
    openWindow();
    m_window->actions()[ActionId::ExpandOne].trigger(); // nothing is selected
    QVERIFY(m_window->messageBar().headline().contains(QStringLiteral("box")));
    clickBox(0);
    m_window->actions()[ActionId::ExpandOne].trigger();
    auto* menu = find<QMenu>("blockMenu");
    QVERIFY(menu && menu->isVisible());
    QCOMPARE(menu->actions().size(), kLayers);
    QCOMPARE(menu->actions().at(5)->text(), QStringLiteral("model.layers.5"));
    menu->actions().at(5)->trigger();
    menu->close();
    QTRY_VERIFY(settled());
    QCOMPARE(boxLabels(),
             QStringList({QStringLiteral("layers.0–4 ×5"), QStringLiteral("layers.6–11 ×6")}));
    QCOMPARE(framesOfLayers(), 1);
    trigger(ActionId::Collapse);
    QCOMPARE(boxLabels(), QStringList {QStringLiteral("layers.0–11 ×12")});
}

void TestRepeats::whatIsSearchedComesOut()
{
    openWindow();
    m_window->finder().setExpression(QStringLiteral("module:model.layers.7 op:silu"));
    QCOMPARE(m_window->finder().results().size(), std::size_t(1));
    trigger(ActionId::FindNext);
    QCOMPARE(boxLabels(),
             QStringList({QStringLiteral("layers.0–6 ×7"), QStringLiteral("layers.8–11 ×4")}));
    QVERIFY(pane().view().isShowing(
        pane().view().graphScene().rectOf(workspace().selectedEntries().front())));
}

void TestRepeats::boxShowsTheSpread()
{
    openWindow();
    m_window->commands().runAll();
    QTRY_VERIFY(workspace().document().comparison() && settled());
    const auto& tree = *workspace().foldTree();
    std::vector<double> errors;
    for (int i = 0; i < kLayers; ++i)
        errors.push_back(*workspace().facts().worstSqnr(
            tree.nodesOf(tree.moduleEntry("model.layers." + std::to_string(i))),
            ErrorTerm::BornHere));
    const auto [worst, best] = std::minmax_element(errors.begin(), errors.end());
    QVERIFY(*worst < *best);
    const auto& style = pane().view().graphScene().canvas().style();
    const int box = drawing().nodeOfEntry[std::size_t(boxes().front().entry)];
    const QString spread = shownSqnr(*worst, "") + QStringLiteral("…") + shownSqnr(*best);
    QVERIFY2(style.text(box).detail.endsWith(spread), qPrintable(style.text(box).detail));
    QCOMPARE(style.nodes[std::size_t(box)].measure, float(*worst));
    clickBox(0);
    m_window->actions()[ActionId::ExpandOne].trigger();
    auto* menu = find<QMenu>("blockMenu");
    QVERIFY2(menu->actions().front()->text().startsWith(QStringLiteral("model.layers.11\t")),
             qPrintable(menu->actions().front()->text())); // the worst
    menu->close();
}

void TestRepeats::switchIsKept()
{
    openWindow();
    QVERIFY(m_window->actions()[ActionId::BoxRepeats].isChecked());
    trigger(ActionId::BoxRepeats);
    QTRY_VERIFY(settled() && boxLabels().isEmpty());
    openWindow();
    QVERIFY(!m_window->actions()[ActionId::BoxRepeats].isChecked());
    QCOMPARE(boxLabels(), QStringList());
    trigger(ActionId::BoxRepeats);
    pane().setExpanded({"", "model", "model.layers"});
    QTRY_VERIFY(settled());
    QCOMPARE(boxLabels().size(), 1);
}

void TestRepeats::repeatsInOtherForms()
{
    openWindow();
    m_window->commands().runAll();
    QTRY_VERIFY(workspace().document().comparison() && settled());
    pane().showForm(CodeForm::Lowered);
    QTRY_VERIFY(settled() && !boxLabels().isEmpty());
    QCOMPARE(boxLabels(), QStringList {QStringLiteral("layers.0–11 ×12")});
    clickBox(0);
    QCOMPARE(pane().selectedBlocks().size(), std::size_t(kLayers));
}

QTEST_MAIN(TestRepeats)
#include "tst_ui_repeats.moc"
