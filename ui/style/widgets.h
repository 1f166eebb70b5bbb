// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QBoxLayout>
#include <QLabel>
#include <QMargins>
#include <QPushButton>
#include <QSplitter>
#include <QString>

#include <functional>
#include <initializer_list>

class QAbstractItemView;
class QLineEdit;
class QModelIndex;
class QTableView;

// Set-up that many widgets share. `parent` owns the new widgets; GUI thread only.
namespace qs {

/// Sets a widget's object name, accessible name and tool tip.
void setNames(QWidget& widget, const char* objectName, const QString& accessibleName,
              const QString& toolTip = {});
/// Sets up a field that filters a list: its names, and a button that clears it.
void setUpFilter(QLineEdit& field, const char* objectName, const QString& accessibleName,
                 const QString& placeholder);
/// Sets up a dense table of figures that is sorted by its header: selects whole rows, no grid, rows
/// of one line with `rowHeight` pixels at 100 %; Tab leaves it.
void setUpTable(QTableView& table, double rowHeight);
/// Calls `chosen` with each cell that is clicked or activated by key.
void connectChosen(QAbstractItemView& view, std::function<void(const QModelIndex&)> chosen);
/// Connects the button, and the copy key in the table, to put `text()` on the clipboard.
void connectCopy(QPushButton& button, QTableView& table, std::function<QString()> text);

QPushButton* makeButton(const char* objectName, const QString& text, const QString& toolTip,
                        QWidget* parent);
/// Fills the button with the accent colour, or not.
void setPrimary(QPushButton& button, bool isPrimary);
/// Returns a label of one line in the muted colour; `pixels`: text size at 100 %.
QLabel* makeMutedLabel(const QString& text, double pixels, QWidget* parent);
/// Returns a paragraph in the muted colour.
QLabel* makeParagraph(const QString& text, QWidget* parent);
/// Returns a paragraph for problems, hidden at first.
QLabel* makeProblemLabel(const char* objectName, QWidget* parent);

/// Returns a row or a column: the layout of `parent`, or without one, for another layout. Spacing
/// -1: the style's.
QHBoxLayout* makeHBox(QWidget* parent, const QMargins& margins = {}, int spacing = -1);
QVBoxLayout* makeVBox(QWidget* parent, const QMargins& margins = {}, int spacing = -1);
/// A widget or layout in a row or column, with its stretch.
struct BoxItem
{
    BoxItem(QWidget* item, int share = 0)
        : widget(item)
        , stretch(share)
    {
    }
    BoxItem(QLayout* item, int share = 0)
        : layout(item)
        , stretch(share)
    {
    }
    QWidget* widget = nullptr;
    QLayout* layout = nullptr;
    int stretch;
};
/// Appends the items in their order: `{{m_field, 1}, m_note}`.
void addItems(QBoxLayout& box, std::initializer_list<BoxItem> items);
/// Returns a splitter with a thin line between panes that cannot be collapsed by dragging.
QSplitter* makeSplitter(const char* objectName, Qt::Orientation orientation, QWidget* parent);

} // namespace qs
