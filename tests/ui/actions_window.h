// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/ui/gestures_window.h"
#include "tests/ui/session_order.h"
#include "ui/edit/edit_dialog.h"
#include "ui/frame/actions.h"
#include "ui/shell/actions/selection_menu.h"

#include <QAbstractButton>
#include <QAction>
#include <QComboBox>
#include <QFileDialog>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPointer>
#include <QTabBar>

namespace qs::test {

/// Answers whatever pops up while commands run, or closes it: dialogs, menus, questions about
/// files. Dialogs that stay open are closed after a few checks.
class Answers : public QObject
{
public:
    Answers(QString folder, std::mt19937& random)
        : m_folder(std::move(folder))
        , m_random(random)
    {
        connect(&m_timer, &QTimer::timeout, this, [this] { answer(); });
        m_timer.start(8);
    }

    /// Something is open that keeps the window from its keys.
    static bool isOpen()
    {
        return QApplication::activePopupWidget() || QApplication::activeModalWidget();
    }
    int count() const { return m_count; }

private:
    static constexpr int kMostPolls = 25;
    int dice(int sides) { return int(m_random() % unsigned(sides)); }

    void answer()
    {
        QWidget* shown = QApplication::activePopupWidget();
        if (!shown)
            shown = QApplication::activeModalWidget();
        if (!shown)
            return;
        if (shown != m_last) {
            m_last = shown;
            m_polls = 0;
            ++m_count;
        }
        if (++m_polls > kMostPolls) {
            close(*shown);
            return;
        }
        // One look in two lets it be drawn and go on with its work. A timer does not fire while it
        // runs, and an answer may open something that waits for one.
        if (m_polls % 2 > 0)
            QMetaObject::invokeMethod(
                this,
                [this, asked = QPointer(shown)] {
                    if (asked)
                        answer(*asked);
                },
                Qt::QueuedConnection);
    }

    void answer(QWidget& asked)
    {
        if (auto* menu = qobject_cast<QMenu*>(&asked))
            answerMenu(*menu);
        else if (auto* files = qobject_cast<QFileDialog*>(&asked))
            answerFiles(*files);
        else if (auto* box = qobject_cast<QMessageBox*>(&asked))
            box->buttons()[dice(int(box->buttons().size()))]->click();
        else if (auto* edit = qobject_cast<EditDialog*>(&asked))
            answerEdit(*edit);
        else
            answerAny(asked);
    }

    void close(QWidget& shown)
    {
        if (auto* dialog = qobject_cast<QDialog*>(&shown))
            dialog->reject();
        else
            shown.close();
    }

    void answerMenu(QMenu& menu)
    {
        QList<QAction*> actions;
        for (QAction* action : menu.actions())
            if (action->isEnabled() && !action->isSeparator() && !action->menu())
                actions << action;
        if (actions.isEmpty() || dice(3) == 0)
            return void(menu.close());
        menu.setActiveAction(actions[dice(int(actions.size()))]);
        QTest::keyClick(&menu, Qt::Key_Return);
    }

    /// Of files to read: the sample's, and some of another kind.
    void answerFiles(QFileDialog& files)
    {
        if (dice(3) == 0)
            return files.reject();
        const bool saves = files.acceptMode() == QFileDialog::AcceptSave;
        const QStringList names = saves
            ? QStringList {"saved.json", "saved.pt2", "saved.npz", "saved.png", "none/saved.json"}
            : QStringList {"digits.pt2", "calib.npz", "test.npz", "saved.json", "missing.json"};
        const QString& name = names[dice(int(names.size()))];
        files.setDirectory(m_folder);
        files.selectFile(m_folder + QLatin1Char('/') + name);
        static_cast<QDialog&>(files).accept();
    }

    void answerEdit(EditDialog& dialog)
    {
        static const QStringList operators {"aten.relu.default", "aten.clamp.default",
                                            "aten.neg.default", "aten.add.Tensor", "nonsense"};
        QList<QPointer<QComboBox>> boxes; // another member, or operator, is asked about anew
        for (auto* box : dialog.findChildren<QComboBox*>())
            boxes << box;
        for (const auto& box : boxes) {
            if (!box || !box->isVisible() || !box->isEnabled() || dice(2))
                continue;
            if (box->objectName() == QStringLiteral("editOperator"))
                box->setCurrentText(operators[dice(int(operators.size()))]);
            else if (box->count() > 0)
                box->setCurrentIndex(dice(box->count()));
        }
        QList<QPointer<QLineEdit>> fields; // one may make the others anew
        for (auto* field : dialog.findChildren<QLineEdit*>())
            fields << field;
        for (const auto& field : fields)
            if (field && field->objectName().startsWith(QStringLiteral("argument_"))
                && dice(3) == 0)
                field->setText(QStringList {"0", "1", "[1, 1]", "x"}[dice(4)]);
        if (dice(5) == 0)
            dialog.reject();
        else if (auto* ok = dialog.findChild<QAbstractButton*>(QStringLiteral("editOk")))
            ok->click();
    }

    void answerAny(QWidget& shown)
    {
        QList<QAbstractButton*> buttons;
        for (auto* button : shown.findChildren<QAbstractButton*>())
            if (button->isVisible() && button->isEnabled())
                buttons << button;
        if (buttons.isEmpty() || dice(3) == 0) {
            QTest::keyClick(&shown, Qt::Key_Escape);
            return;
        }
        buttons[dice(int(buttons.size()))]->click();
    }

    QString m_folder;
    std::mt19937& m_random;
    QTimer m_timer;
    QPointer<QWidget> m_last;
    int m_polls = 0, m_count = 0;
};

/// A window on the real engine whose commands are triggered, by key and by menu.
class ActionsWindow : public GesturesWindow
{
protected:
    std::unique_ptr<Answers> m_answers;
    std::unique_ptr<SessionOrder> m_order;

    Actions& actions() { return m_window->actions(); }

    /// Lets what is under way go on for a while, at least until nothing is open over the window.
    void goOn(int milliseconds)
    {
        QElapsedTimer clock;
        clock.start();
        do {
            QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
            if (clock.elapsed() > 60000)
                qFatal("a dialog or menu stays open");
        } while (clock.elapsed() < milliseconds || Answers::isOpen());
    }

    void byKey(QAction& action)
    {
        const auto keys = action.shortcuts();
        if (keys.isEmpty())
            return;
        m_window->activateWindow();
        m_window->raise();
        QTest::keySequence(m_window.get(), keys[dice(int(keys.size()))]);
    }

    void byMenu(QAction& action)
    {
        auto* menu = qobject_cast<QMenu*>(action.parent());
        menu->popup(m_window->mapToGlobal(QPoint(40, 40)));
        menu->setActiveAction(&action);
        if (action.isEnabled())
            QTest::keyClick(menu, Qt::Key_Return);
        menu->close();
    }

    QString selectSomething()
    {
        auto& selection = workspace().selection();
        const GraphPtr& model = document().model();
        const auto& tree = workspace().foldTree();
        if (!model || !tree)
            return "nothing is open";
        const auto& nodes = model->nodes();
        const auto entryWith = [&](const std::function<bool(const FoldEntry&)>& fits) {
            std::vector<int> found;
            for (int i = 0; i < int(tree->size()); ++i)
                if (fits(tree->entry(i)))
                    found.push_back(i);
            return found.empty() ? -1 : found[std::size_t(dice(int(found.size())))];
        };
        switch (dice(9)) {
        case 0:
            selection.clear();
            return "select nothing";
        case 1:
        case 2: {
            workspace().selectNode(nodes[std::size_t(dice(int(nodes.size())))]->id);
            const std::vector<Edge> edges = edgesAround(workspace());
            if (!edges.empty())
                workspace().selectEdge(edges[std::size_t(dice(int(edges.size())))]);
            return "select an edge";
        }
        case 3:
            workspace().selectEntry(
                entryWith([](const FoldEntry& entry) { return entry.members.size() > 1; }));
            return "select a unit";
        case 4: {
            const int module = entryWith([](const FoldEntry& entry) { return entry.isModule(); });
            workspace().selectEntry(module);
            pane().foldAll();
            return "select a folded module";
        }
        case 5: {
            std::vector<int> several;
            for (int i = 0; i < 3; ++i)
                several.push_back(entryWith([](const FoldEntry&) { return true; }));
            workspace().selectEntries(several, false);
            return "select several";
        }
        case 6:
            workspace().selectEntry(entryWith(
                [](const FoldEntry& entry) { return entry.kind == FoldEntry::Kind::Input; }));
            return "select an input";
        case 7:
            workspace().selectEntry(entryWith(
                [](const FoldEntry& entry) { return entry.kind == FoldEntry::Kind::Output; }));
            return "select the output";
        default:
            workspace().selectNode(nodes[std::size_t(dice(int(nodes.size())))]->id);
            return "select a node";
        }
    }

    /// A click into the picture of the graph, whichever is there, or into the list of tabs.
    QString pointSomewhere()
    {
        auto& view = pane().view();
        if (!document().model() || !view.isVisible())
            return "no picture";
        if (dice(3) == 0) {
            auto& tabs = m_window->bottomTabs();
            tabs.setCurrentIndex(dice(tabs.count()));
            return "another tab";
        }
        const QPoint at(dice(std::max(1, view.viewport()->width())),
                        dice(std::max(1, view.viewport()->height())));
        if (dice(3) > 0) {
            QTest::mouseClick(view.viewport(), Qt::LeftButton,
                              dice(3) ? Qt::NoModifier : Qt::ControlModifier, at);
            return "click";
        }
        QContextMenuEvent event(QContextMenuEvent::Mouse, at, view.viewport()->mapToGlobal(at));
        QApplication::sendEvent(view.viewport(), &event);
        return "context menu";
    }

    /// A stage that goes on while the next commands come.
    QString startSomething()
    {
        static constexpr std::array stages {Stage::Calibrate, Stage::Convert, Stage::Compare};
        if (document().model() && document().plan())
            pipeline().runUpTo(stages[std::size_t(dice(int(stages.size())))]);
        return "start a stage";
    }
};

} // namespace qs::test
