// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/ui/dialogs.h"
#include "tests/ui/edge_window.h"
#include "ui/runs/run_library.h"

#include <QInputDialog>
#include <QTableView>
#include <QTreeWidget>

namespace qs::test {

/// The window with its Runs page at hand.
class RunsWindow : public EdgeWindow
{
protected:
    QString m_project; ///< that the runs are kept by, once it is saved

    QTreeWidget& list() { return *find<QTreeWidget>("runsList"); }
    QTableView& table() { return *find<QTableView>("runsTable"); }
    RunLibrary& runs() { return m_window->runs(); }
    int rows() { return table().model()->rowCount(); }
    QVariant cell(int row, int column, int role = Qt::UserRole)
    {
        return table().model()->index(row, column).data(role);
    }
    int column(const QString& title)
    {
        for (int i = 0; i < table().model()->columnCount(); ++i)
            if (table().model()->headerData(i, Qt::Horizontal).toString() == title)
                return i;
        return -1;
    }
    QStringList names()
    {
        QStringList out;
        for (const RunEntry& run : runs().runs())
            out << QString::fromStdString(run.label.name);
        return out;
    }
    QTreeWidgetItem* item(const QString& name)
    {
        const auto found = list().findItems(name, Qt::MatchExactly, 1);
        return found.isEmpty() ? nullptr : found.front();
    }
    /// Types a name into the dialog that comes next.
    void answer(const QString& name)
    {
        atDialog<QInputDialog>(*this, [name](QInputDialog& dialog) {
            dialog.setTextValue(name);
            QTest::keyClick(&dialog, Qt::Key_Return);
        });
    }
    void key(QWidget* widget, int key, Qt::KeyboardModifiers modifiers = {})
    {
        QTest::keyClick(widget, Qt::Key(key), modifiers);
    }
    void compareAgain()
    {
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        QVERIFY(!document().isStale(Stage::Compare));
    }
    std::optional<double> told(const QJsonObject& run, const char* term, const char* metric)
    {
        const QJsonValue value = run["error"][term][metric];
        return value.isDouble() ? std::optional(value.toDouble()) : std::nullopt;
    }

    /// With another relu, called "more", after the first block.
    static Recipe withMore(Recipe recipe)
    {
        EditStep& step = recipe.edits.emplace_back();
        step.kind = EditKind::Insert;
        step.op = "aten.relu.default";
        step.name = "more";
        step.at.kind = ValueAddress::Kind::Operator;
        step.at.module = "block1.relu";
        step.at.op = "aten.relu.default";
        return recipe;
    }

    /// The window as a picture in the folder that QS_PICTURES names, to be looked at.
    void picture(const char* name, const QSize& size = {1600, 1000})
    {
        m_window->resize(size);
        QTest::qWait(300);
        QTRY_VERIFY(pane().isLayoutDone());
        if (const QString folder = qEnvironmentVariable("QS_PICTURES"); !folder.isEmpty())
            QVERIFY(m_window->grab().save(folder + '/' + name));
    }
};

} // namespace qs::test
