// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/style/widgets.h"

#include "ui/style/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QLineEdit>
#include <QShortcut>
#include <QStyle>
#include <QTableView>

namespace qs {

void setNames(QWidget& widget, const char* objectName, const QString& accessibleName,
              const QString& toolTip)
{
    widget.setObjectName(QString::fromLatin1(objectName));
    widget.setAccessibleName(accessibleName);
    if (!toolTip.isEmpty())
        widget.setToolTip(toolTip);
}

void setUpFilter(QLineEdit& field, const char* objectName, const QString& accessibleName,
                 const QString& placeholder)
{
    setNames(field, objectName, accessibleName);
    field.setPlaceholderText(placeholder);
    field.setClearButtonEnabled(true);
}

void setUpTable(QTableView& table, double rowHeight)
{
    table.setFont(monoFont(10.5));
    table.setFrameShape(QFrame::NoFrame);
    table.setShowGrid(false);
    table.setSelectionBehavior(QAbstractItemView::SelectRows);
    table.setSortingEnabled(true);
    table.setTabKeyNavigation(false);
    table.setWordWrap(false);
    table.verticalHeader()->hide();
    table.verticalHeader()->setDefaultSectionSize(px(rowHeight));
    table.horizontalHeader()->setFont(uiFont(11));
    table.horizontalHeader()->setHighlightSections(false);
}

void connectChosen(QAbstractItemView& view, std::function<void(const QModelIndex&)> chosen)
{
    const auto choose = [chosen = std::move(chosen)](const QModelIndex& index) {
        if (index.isValid())
            chosen(index);
    };
    QObject::connect(&view, &QAbstractItemView::clicked, &view, choose);
    QObject::connect(&view, &QAbstractItemView::activated, &view, choose);
}

void connectCopy(QPushButton& button, QTableView& table, std::function<QString()> text)
{
    const auto copy = [text = std::move(text)] { QApplication::clipboard()->setText(text()); };
    QObject::connect(&button, &QPushButton::clicked, &table, copy);
    auto* key = new QShortcut(QKeySequence::Copy, &table);
    key->setContext(Qt::WidgetShortcut);
    QObject::connect(key, &QShortcut::activated, &table, copy);
}

QPushButton* makeButton(const char* objectName, const QString& text, const QString& toolTip,
                        QWidget* parent)
{
    auto* button = new QPushButton(text, parent);
    button->setObjectName(QString::fromLatin1(objectName));
    button->setToolTip(toolTip);
    return button;
}

QLabel* makeMutedLabel(const QString& text, double pixels, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setFont(uiFont(pixels));
    label->setStyleSheet(inkStyle(theme().muted));
    return label;
}

QLabel* makeParagraph(const QString& text, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setWordWrap(true);
    label->setStyleSheet(inkStyle(theme().muted));
    return label;
}

QLabel* makeProblemLabel(const char* objectName, QWidget* parent)
{
    auto* label = new QLabel(parent);
    label->setObjectName(QString::fromLatin1(objectName));
    label->setWordWrap(true);
    label->setStyleSheet(inkStyle(theme().danger));
    label->hide();
    return label;
}

QHBoxLayout* makeHBox(QWidget* parent, const QMargins& margins, int spacing)
{
    auto* row = new QHBoxLayout(parent);
    row->setContentsMargins(margins);
    row->setSpacing(spacing);
    return row;
}

QVBoxLayout* makeVBox(QWidget* parent, const QMargins& margins, int spacing)
{
    auto* column = new QVBoxLayout(parent);
    column->setContentsMargins(margins);
    column->setSpacing(spacing);
    return column;
}

void addItems(QBoxLayout& box, std::initializer_list<BoxItem> items)
{
    for (const BoxItem& item : items)
        if (item.widget)
            box.addWidget(item.widget, item.stretch);
        else
            box.addLayout(item.layout, item.stretch);
}

void setPrimary(QPushButton& button, bool isPrimary)
{
    if (button.property("primary").toBool() == isPrimary)
        return;
    button.setProperty("primary", isPrimary);
    button.style()->unpolish(&button);
    button.style()->polish(&button);
}

QSplitter* makeSplitter(const char* objectName, Qt::Orientation orientation, QWidget* parent)
{
    auto* splitter = new QSplitter(orientation, parent);
    splitter->setObjectName(QString::fromLatin1(objectName));
    splitter->setHandleWidth(1);
    splitter->setChildrenCollapsible(false);
    return splitter;
}

} // namespace qs
