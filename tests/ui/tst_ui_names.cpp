// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/export/documents/result_writer.h"
#include "engine/graph/text/node_titles.h"
#include "tests/support/decoder_graph.h"
#include "tests/ui/edge_window.h"
#include "ui/edit/edit_dialog.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/graph/style/graph_style.h"
#include "ui/models/module_tree_model.h"
#include "ui/models/search_result_model.h"
#include "ui/style/fitted_title.h"
#include "ui/style/theme.h"

#include <QClipboard>
#include <QComboBox>
#include <QFontMetricsF>
#include <QPushButton>
#include <QRegularExpression>
#include <QTableView>
#include <QTreeView>
#include <QTreeWidget>
#include <QTreeWidgetItemIterator>

#include <set>

using namespace qs;

/// A node has one name, wherever a user reads of it: the module's path first, the operator second.
class TestNames : public test::EdgeWindow
{
    Q_OBJECT

private:
    const FoldTree& tree() { return *workspace().foldTree(); }

    std::vector<int> units()
    {
        std::vector<int> found;
        for (int i = 0; i < int(tree().size()); ++i)
            if (!tree().entry(i).isModule())
                found.push_back(i);
        return found;
    }

    QString titleOfUnit(int unit) { return QString::fromStdString(tree().entry(unit).title); }

    /// As the graph shows it.
    QString drawn(int unit)
    {
        const auto drawing = pane().view().graphScene().drawing();
        const int node = drawing->nodeOfEntry[std::size_t(unit)];
        if (node < 0)
            return {};
        return pane().view().graphScene().canvas().style().text(node).title;
    }

    /// Titles of the report's table, by the node's name.
    QMap<QString, QString> reported()
    {
        m_commandLine.quantize(document().recipe(), document().settings());
        const QString page = m_folder.filePath(QStringLiteral("report.html"));
        const QString folder = m_folder.filePath(QStringLiteral("cli"));
        if (!writeHtmlReport(folder.toStdString(), page.toStdString()))
            return {};
        QFile file(page);
        if (!file.open(QFile::ReadOnly))
            return {};
        static const QRegularExpression row(
            QStringLiteral("<td>([^<]+)</td><td>[^<]*</td><td>([^<]+)</td>"));
        QMap<QString, QString> found;
        for (auto it = row.globalMatch(QString::fromUtf8(file.readAll())); it.hasNext();) {
            const auto match = it.next();
            found[match.captured(2)] = match.captured(1);
        }
        return found;
    }

private Q_SLOTS:
    void initTestCase() { openAndCompare(); }
    void init() { startAgain(); }
    void cleanupTestCase() { m_window.reset(); }

    /// A box that is too narrow for a title cuts it at a dot, and keeps the operator longest.
    void titlesAreCutAtDots_data()
    {
        QTest::addColumn<QString>("title");
        QTest::addColumn<QStringList>("shorter");
        QTest::newRow("fused") << QStringLiteral("block1.conv1.conv + bn + relu")
                               << QStringList {"block1.conv1.conv + bn + relu",
                                               "block1.conv1.conv + …", "conv1.conv + …",
                                               "conv + …", "conv"};
        QTest::newRow("fused operators of a module")
            << QStringLiteral("block1 · add + relu")
            << QStringList {"block1 · add + relu", "add + relu", "add + …", "add"};
        QTest::newRow("an operator")
            << QStringLiteral("layers.0.self_attn · matmul 2")
            << QStringList {"layers.0.self_attn · matmul 2", "0.self_attn · matmul 2",
                            "self_attn · matmul 2", "matmul 2"};
        QTest::newRow("outside") << QStringLiteral("flatten") << QStringList {"flatten"};
    }
    void titlesAreCutAtDots()
    {
        QFETCH(QString, title);
        QFETCH(QStringList, shorter);
        const QFontMetricsF metrics(uiFont(12));
        QStringList seen;
        for (double width = metrics.horizontalAdvance(title) + 1;
             width >= metrics.horizontalAdvance(shorter.last()); width -= 1)
            if (const QString text = fittedTitle(metrics, title, width);
                seen.isEmpty() || seen.last() != text)
                seen << text;
        QCOMPARE(seen, shorter);
        const QString cut
            = fittedTitle(metrics, title, metrics.horizontalAdvance(shorter.last()) - 2);
        QVERIFY2(cut.endsWith(QStringLiteral("…")) && shorter.last().startsWith(cut.chopped(1)),
                 qPrintable(cut));
    }

    /// Messages of the engine name nodes as everything else does.
    void messagesNameNodesByTheirTitle()
    {
        MessageBar& bar = m_window->messageBar();
        bar.showError(QStringLiteral("Calibrate"),
                      makeError(ErrorCode::Numeric, "NaN or Inf appears in 'conv2d_2'")
                          .atNode("linear")
                          .withHint("keep 'linear' float"),
                      true);
        QVERIFY2(bar.headline().contains(QStringLiteral("head · linear")),
                 qPrintable(bar.headline()));
        for (const char* title : {"'block1.conv2 + bn2'", "'head · linear'"})
            QVERIFY2(bar.detail().contains(QString::fromUtf8(title)), qPrintable(bar.detail()));
        auto* show = m_window->findChild<QPushButton*>(QStringLiteral("messageGoto"));
        QCOMPARE(show->text(), QStringLiteral("Show head · linear"));
        workspace().selection().clear();
        show->click();
        QVERIFY(workspace().selection().contains(graph().tryFind("linear")->id));
        bar.dismiss();
    }

    void titlesAreWords_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("title");
        QTest::newRow("a separate module")
            << QStringLiteral("linear") << QStringLiteral("head · linear");
        QTest::newRow("a fusion") << QStringLiteral("conv2d_2")
                                  << QStringLiteral("block1.conv2 + bn2");
    }
    void titlesAreWords()
    {
        QFETCH(QString, name);
        QFETCH(QString, title);
        const Node* node = graph().tryFind(name.toStdString());
        QVERIFY(node);
        QCOMPARE(workspace().facts().title(node->id), title);
    }

    void everyPlaceShowsTheSameName()
    {
        const auto* modules
            = qobject_cast<ModuleTreeModel*>(find<QTreeView>("moduleTree")->model());
        QVERIFY(modules);
        SearchResultModel results(workspace());
        results.setUnits(units());
        const auto& table = *find<QTableView>("metricsTable")->model();
        QStringList inTable;
        for (int row = 0; row < table.rowCount(); ++row)
            inTable << table.index(row, 0).data().toString();
        const QMap<QString, QString> page = reported();
        std::set<QString> seen;
        int drawnOnes = 0, reportedOnes = 0, measured = 0;
        for (const int unit : units()) {
            const FoldEntry& entry = tree().entry(unit);
            const QString title = titleOfUnit(unit);
            QVERIFY2(seen.insert(title).second, qPrintable(title));
            const auto row = modules->indexOf(unit);
            const QString path = QString::fromStdString(tree().entry(entry.parent).path);
            const QString shown = row.data().toString();
            QVERIFY2(path.isEmpty() ? shown == title
                                    : title == path + QLatin1Char('.') + shown
                             || title == path + QStringLiteral(" · ") + shown,
                     qPrintable(shown));
            QCOMPARE(row.data(Qt::AccessibleTextRole).toString(), title);
            QCOMPARE(row.data(Qt::ToolTipRole).toString().section('\n', 0, 0), title);
            QCOMPARE(results.index(results.rowOf(unit), SearchResultModel::Name).data().toString(),
                     title);
            if (const QString inGraph = drawn(unit); !inGraph.isEmpty()) {
                QCOMPARE(inGraph, title);
                ++drawnOnes;
            }
            workspace().selectNode(entry.members.front());
            QTRY_COMPARE(label("propertyTitle"), title);
            for (const NodeId member : entry.members) {
                QCOMPARE(workspace().facts().title(member), title);
                const QString name = QString::fromStdString(graph().get(member).name);
                if (page.contains(name)) {
                    QCOMPARE(page[name], title);
                    ++reportedOnes;
                }
            }
            if (workspace().facts().error(entry.members.front())) {
                QVERIFY2(inTable.contains(title), qPrintable(title));
                ++measured;
            }
            if (workspace().facts().outputObserver(entry.members.front()))
                QTRY_VERIFY2(histogram().caption().startsWith(title + QLatin1Char(' ')),
                             qPrintable(histogram().caption()));
            if (entry.kind != FoldEntry::Kind::Unit)
                continue;
            workspace().assign(workspace().nodeTarget(), std::string());
            QCOMPARE(workspace().undoStack().undoText(),
                     QStringLiteral("set %1 to float").arg(title));
            workspace().undoStack().undo();
            settle();
        }
        QVERIFY(drawnOnes > 10 && reportedOnes > 20 && measured > 10);
    }

    /// What the engine says of nodes names them likewise, in findings and in reasons.
    void sentencesNameTheSame()
    {
        const Node* relu = graph().tryFind("relu");
        QVERIFY(relu);
        const QString title = workspace().facts().title(relu->id);
        QCOMPARE(workspace().facts().titled(QStringLiteral("reads 'relu' and 'nothing'")),
                 QStringLiteral("reads '%1' and 'nothing'").arg(title));
        std::set<QString> titles;
        for (const int unit : units())
            titles.insert(titleOfUnit(unit));
        int rows = 0;
        for (QTreeWidgetItemIterator it(find<QTreeWidget>("findingsPanel")); *it; ++it) {
            const QString node = (*it)->data(0, Qt::UserRole).toString();
            if (!(*it)->parent() || !graph().tryFind(node.toStdString()))
                continue;
            QVERIFY2(titles.count((*it)->text(0)), qPrintable((*it)->text(0)));
            ++rows;
        }
        qInfo("%d findings name nodes", rows);
        const Edge edge = forked();
        QCOMPARE(edgeText(workspace().facts(), edge),
                 QStringLiteral("%1 ► %2").arg(workspace().facts().title(edge.value.node),
                                               workspace().facts().title(edge.reader.node)));
    }

    /// Edits say the same: dialogs, members, steps of the history and the list of edits.
    void editsNameTheSame()
    {
        const Node conv = *graph().tryFind("conv2d_2");
        const NodeTitles titles(graph());
        const QString title = QString::fromStdString(titles.of(conv));
        QCOMPARE(title, QStringLiteral("block1.conv2 · conv2d"));
        workspace().selectNode(conv.id);
        m_window->actions()[ActionId::InsertAfter].trigger();
        QPointer<EditDialog> dialog = m_window->findChild<EditDialog*>();
        QVERIFY(dialog);
        QCOMPARE(dialog->windowTitle(), QStringLiteral("Insert after %1").arg(title));
        const auto* members = dialog->findChild<QComboBox*>("editMember");
        QVERIFY(members);
        QCOMPARE(members->itemText(0), title);
        QCOMPARE(members->itemText(1), QStringLiteral("block1.bn2 · batch_norm"));
        QCOMPARE(dialog->findChild<QComboBox*>("editChoice")->itemText(2),
                 QStringLiteral("block1.bn2 · batch_norm, input"));
        QTest::keyClick(dialog.data(), Qt::Key_Return);
        QTRY_VERIFY(!dialog);
        settle();
        const QString step = QStringLiteral("insert aten.relu.default after %1").arg(title);
        QCOMPARE(workspace().undoStack().undoText(), step);
        QTRY_COMPARE(find<QTreeWidget>("editsList")->topLevelItemCount(), 1);
        QCOMPARE(find<QTreeWidget>("editsList")->topLevelItem(0)->text(0), "1. " + step);
        workspace().undoStack().undo();
        settle();
        QCOMPARE(workspace().undoStack().redoText(), step);
        workspace().selectNode(conv.id);
        m_window->actions()[ActionId::RemoveNode].trigger();
        QTRY_COMPARE(document().recipe().edits.size(), std::size_t(2));
        settle();
        QCOMPARE(workspace().undoStack().undoText(), QStringLiteral("remove block1.conv2 + bn2"));
        QTRY_COMPARE(find<QTreeWidget>("editsList")->topLevelItem(1)->text(0),
                     QStringLiteral("2. remove %1").arg(title)); // though it is gone
        workspace().undoStack().undo();
        settle();
    }

    /// What is copied is a rule's key: a module that holds nothing else, or a node.
    void whatIsCopiedFitsARule()
    {
        int modules = 0, nodes = 0;
        for (const int unit : units()) {
            if (tree().entry(unit).kind != FoldEntry::Kind::Unit)
                continue;
            workspace().selectNode(tree().entry(unit).members.front());
            m_window->actions()[ActionId::CopyName].trigger();
            for (const QString& key : QApplication::clipboard()->text().split('\n')) {
                const Node* node = graph().tryFind(key.toStdString());
                for (const NodePtr& other : graph().nodes())
                    if (!node && other->isOperator()
                        && (other->scope.path + '.').starts_with(key.toStdString() + '.'))
                        QCOMPARE(tree().unitOf(other->id), unit);
                AssignTarget target;
                target.kind = node ? RuleKind::Node : RuleKind::ModuleName;
                target.keys = {key.toStdString()};
                ++(node ? nodes : modules);
                workspace().assign(target, std::string());
                settle();
                QVERIFY(document().plan());
                for (const std::string& warning : document().plan()->warnings)
                    QVERIFY2(warning.find("matches nothing") == std::string::npos, warning.c_str());
                workspace().undoStack().undo();
                settle();
            }
        }
        settle();
        QVERIFY(modules > 5 && nodes > 0);
    }

    /// Names of a large model differ too.
    void namesDiffer()
    {
        const GraphPtr decoder = decoderGraph(12);
        const NodeTitles titles(*decoder);
        std::set<std::string> seen;
        int operators = 0;
        for (const NodePtr& node : decoder->nodes())
            if (node->isOperator()) {
                const std::string title = titles.of(*node);
                QVERIFY2(seen.insert(title).second, title.c_str());
                QVERIFY2(node->scope.path.empty() || title.starts_with(node->scope.path + " · "),
                         title.c_str());
                ++operators;
            }
        QVERIFY(operators > 100);
    }
};

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    applyTheme(app, false);
    TestNames test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_ui_names.moc"
