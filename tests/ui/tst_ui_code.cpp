// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/fake_engine.h"
#include "ui/panels/code_panel.h"
#include "ui/panels/code_view.h"
#include "ui/panels/line_match.h"
#include "ui/session/workspace.h"
#include "ui/style/property_cards.h"

#include <QComboBox>
#include <QLabel>
#include <QScrollBar>
#include <QTextBlock>
#include <QtTest>

using namespace qs;

class TestUiCode : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_engine = std::make_unique<FakeEngine>();
        m_workspace = std::make_unique<Workspace>(*m_engine);
        m_panel = std::make_unique<CodePanel>(*m_workspace);
        m_panel->resize(900, 300);
        m_panel->show();
        m_workspace->pipeline().open("net.pt2", defaultRecipe());
        QTRY_VERIFY(m_workspace->document().plan());
        QTRY_VERIFY(rowWith(*left(), QStringLiteral("def forward(self, x):")) > 0);
        QTRY_VERIFY(!m_workspace->pipeline().isBusy());
    }
    void cleanup()
    {
        m_panel.reset();
        m_workspace.reset();
    }

    void matchedLinesKeepTheirOrder()
    {
        const std::vector<QString> a {"x", "y", ")", "z", "w"}, b {"x", "q", ")", "z", "w", "v"};
        const std::vector<LinePair> expected {{0, 0}, {1, -1}, {-1, 1}, {2, 2},
                                              {3, 3}, {4, 4},  {-1, 5}};
        QCOMPARE(matchLines(a, b), expected);
        QCOMPARE(matchLines({}, {"x"}), std::vector<LinePair>({{-1, 0}}));
        QCOMPARE(matchLines({"x"}, {}), std::vector<LinePair>({{0, -1}}));
        // Every line of both sides stands in the result once, in order, whatever moved.
        const std::vector<QString> moved {"w", "z", "x", "x", ")", "y"};
        int l = 0, r = 0;
        for (const LinePair& pair : matchLines(a, moved)) {
            if (pair.left >= 0)
                QCOMPARE(pair.left, l++);
            if (pair.right >= 0)
                QCOMPARE(pair.right, r++);
        }
        QCOMPARE(l, int(a.size()));
        QCOMPARE(r, int(moved.size()));
    }

    void floatFormCallsModules()
    {
        QVERIFY(!right()->isVisible());
        QVERIFY(rowWith(*left(), QStringLiteral("  (fc): Linear(")) > 0);
        QVERIFY(rowWith(*left(), QStringLiteral("    fc = self.fc(")) > 0);
    }

    void selectionMarksItsLines()
    {
        const NodeId linear = node("linear");
        m_workspace->selectNode(linear);
        QCOMPARE(left()->rowsOf({linear}).size(), std::size_t(2)); // its module and its call
        const int call = rowWith(*left(), QStringLiteral("    fc = self.fc("));
        QCOMPARE(left()->textCursor().blockNumber(), call);
        QCOMPARE(left()->extraSelections().size(), 2);
    }

    void clickOnALineSelectsItsNode()
    {
        const int row = rowWith(*left(), QStringLiteral("    add = "));
        QVERIFY(row > 0);
        QTextCursor cursor(left()->document()->findBlockByNumber(row));
        left()->setTextCursor(cursor);
        left()->ensureCursorVisible();
        const QPoint at = left()->cursorRect(cursor).center() + QPoint(30, 0);
        QTest::mouseClick(left()->viewport(), Qt::LeftButton, {}, at);
        QVERIFY(m_workspace->selection().contains(node("add")));
    }

    void twoFormsStandSideBySide()
    {
        m_workspace->selectNode(node("linear"));
        auto* other = m_panel->findChild<QComboBox*>("codeOtherForm");
        QTest::keyClick(other, Qt::Key_End); // the Python source
        QTest::keyClick(other, Qt::Key_Up);
        QTRY_VERIFY(right()->isVisible());
        QTRY_VERIFY(left()->changeCount() > 1);
        QCOMPARE(left()->blockCount(), right()->blockCount());
        const auto change = [](const CodeView& view, const char* start) {
            const int row = rowWith(view, QString::fromLatin1(start));
            return row < 0 ? CodeView::Change::Gap : view.rows()[std::size_t(row)].change;
        };
        QCOMPARE(change(*left(), "  (fc): Linear("), CodeView::Change::Changed);
        QCOMPARE(change(*right(), "  (fc): QuantizedLinear("), CodeView::Change::Changed);
        QCOMPARE(change(*left(), "def forward(self, x):"), CodeView::Change::None);
        // A folded batch norm is a line of the float form alone.
        QCOMPARE(change(*left(), "  (bn1): BatchNorm2d("), CodeView::Change::Own);
        QCOMPARE(rowWith(*right(), QStringLiteral("  (bn1)")), -1);
        QVERIFY(rowWith(*right(), QStringLiteral("  (fc): QuantizedLinear(")) > 0);
        QCOMPARE(right()->rowsOf({node("linear")}).size(), std::size_t(2));
        auto* note = m_panel->findChild<ElidedLabel*>("codeNote");
        QVERIFY2(note->text().contains(QStringLiteral("Names only")), qPrintable(note->text()));

        // Both scroll as one, whichever is moved; the one just shown starts where the other is.
        QTRY_VERIFY(left()->verticalScrollBar()->value() > 0);
        QTRY_COMPARE(right()->verticalScrollBar()->value(), left()->verticalScrollBar()->value());
        m_panel->resize(900, 120);
        QTRY_VERIFY(left()->verticalScrollBar()->maximum() > 4);
        right()->verticalScrollBar()->setValue(3);
        QCOMPARE(left()->verticalScrollBar()->value(), 3);
        left()->verticalScrollBar()->setValue(1);
        QCOMPARE(right()->verticalScrollBar()->value(), 1);
    }

private:
    CodeView* left() const { return m_panel->findChild<CodeView*>("codeLeft"); }
    CodeView* right() const { return m_panel->findChild<CodeView*>("codeRight"); }
    NodeId node(const char* name) const
    {
        return m_workspace->document().model()->tryFind(name)->id;
    }
    static int rowWith(const CodeView& view, const QString& start)
    {
        for (auto block = view.document()->begin(); block.isValid(); block = block.next())
            if (block.text().startsWith(start))
                return block.blockNumber();
        return -1;
    }

    std::unique_ptr<FakeEngine> m_engine;
    std::unique_ptr<Workspace> m_workspace;
    std::unique_ptr<CodePanel> m_panel;
};

QTEST_MAIN(TestUiCode)
#include "tst_ui_code.moc"
