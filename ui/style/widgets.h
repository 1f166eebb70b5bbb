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

/// A widget's object name and its words for screen readers and tool tip.
void setNames(QWidget& widget, const char* objectName, const QString& accessibleName,
              const QString& toolTip = {});
/// A field to filter a list: its names, and a button that clears it.
void setUpFilter(QLineEdit& field, const char* objectName, const QString& accessibleName,
                 const QString& placeholder);
/// A dense table of figures that is sorted by its header: whole rows, no grid, one line a row of
/// `rowHeight` pixels at 100 %; Tab leaves it.
void setUpTable(QTableView& table, double rowHeight);
/// `chosen` is called with the cell that is clicked, or activated by key.
void connectChosen(QAbstractItemView& view, std::function<void(const QModelIndex&)> chosen);
/// The button, and the copy key in the table, put `text()` on the clipboard.
void connectCopy(QPushButton& button, QTableView& table, std::function<QString()> text);

QPushButton* makeButton(const char* objectName, const QString& text, const QString& toolTip,
                        QWidget* parent);
/// One line in the muted colour, of a size in pixels at 100 %.
QLabel* makeMutedLabel(const QString& text, double pixels, QWidget* parent);
/// A paragraph in the muted colour.
QLabel* makeParagraph(const QString& text, QWidget* parent);
/// A paragraph for problems, hidden at first.
QLabel* makeProblemLabel(const char* objectName, QWidget* parent);

/// A row or a column; of `parent`, else to be put into another layout. Spacing -1 is the style's.
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
/// Panes that a thin line separates and that cannot be dragged away.
QSplitter* makeSplitter(const char* objectName, Qt::Orientation orientation, QWidget* parent);

} // namespace qs
