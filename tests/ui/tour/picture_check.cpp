// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/tour/picture_check.h"

#include "ui/shell/bars/stage_button.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"

#include <QAbstractButton>
#include <QComboBox>
#include <QHeaderView>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QPixmap>
#include <QTabBar>
#include <QTextDocument>
#include <QToolButton>
#include <QTreeView>
#include <QWidget>

#include <algorithm>
#include <unordered_map>

namespace qs {

namespace {

/// Rounding of fonts at fractional scales.
constexpr int kSlack = 2;

int textWidth(const QWidget& widget, const QString& text)
{
    return QFontMetrics(widget.font()).horizontalAdvance(text);
}

/// What does not fit, or nothing.
QString clippedLabel(const QLabel& label)
{
    if (label.text().isEmpty() || !label.pixmap().isNull())
        return {};
    if (label.wordWrap())
        return label.heightForWidth(label.width()) > label.height() + kSlack ? label.text()
                                                                             : QString();
    const bool fits = label.sizeHint().width() <= label.width() + kSlack
        && label.sizeHint().height() <= label.height() + kSlack;
    return fits ? QString() : label.text();
}

QString clippedButton(const QAbstractButton& button)
{
    if (const auto* stage = qobject_cast<const StageButton*>(&button)) {
        // A narrow one, with large text, shortens it on purpose; the tool tip has it all.
        const int room = stage->width() - 24;
        if (px(100) != 100 && stage->toolTip().contains(stage->status().text))
            return {};
        const QString status = stage->status().text;
        QFont small = stage->font();
        small.setPixelSize(10);
        return QFontMetrics(small).horizontalAdvance(status) > room ? status : QString();
    }
    return button.sizeHint().width() > button.width() + kSlack ? button.text() : QString();
}

QString clippedHeading(const QHeaderView& header)
{
    for (int section = 0; header.isVisible() && section < header.count(); ++section) {
        QString text = header.model()->headerData(section, Qt::Horizontal).toString();
        if (!header.isSectionHidden(section)
            && textWidth(header, text) + 6 > header.sectionSize(section))
            return text;
    }
    return {};
}

QString clippedRow(const QTreeView& tree)
{
    const auto* model = tree.model();
    for (auto row = tree.indexAt({4, 4}); row.isValid(); row = tree.indexBelow(row)) {
        if (tree.visualRect(row).top() > tree.viewport()->height())
            break;
        for (int column = 0; column < model->columnCount(row.parent()); ++column) {
            const auto cell = row.sibling(row.row(), column);
            QString text = cell.data().toString();
            if (!text.isEmpty() && textWidth(tree, text) > tree.visualRect(cell).width() + kSlack
                && cell.data(Qt::ToolTipRole).toString().isEmpty())
                return text;
        }
    }
    return {};
}

QString clipped(const QWidget& widget)
{
    // It shortens its text on purpose, which its tool tip holds.
    if (const auto* elided = qobject_cast<const ElidedLabel*>(&widget))
        return elided->toolTip().contains(elided->text()) ? QString() : elided->text();
    if (const auto* label = qobject_cast<const QLabel*>(&widget))
        return clippedLabel(*label);
    if (const auto* button = qobject_cast<const QAbstractButton*>(&widget))
        return clippedButton(*button);
    if (const auto* box = qobject_cast<const QComboBox*>(&widget))
        return textWidth(*box, box->currentText()) + 34 > box->width() ? box->currentText()
                                                                       : QString();
    if (const auto* field = qobject_cast<const QLineEdit*>(&widget))
        return field->text().isEmpty()
                && textWidth(*field, field->placeholderText()) + 16 > field->width()
            ? field->placeholderText()
            : QString();
    if (const auto* tabs = qobject_cast<const QTabBar*>(&widget)) {
        // With large text they scroll, by buttons that are seen.
        const auto* scroller = tabs->findChild<const QToolButton*>();
        if (px(100) != 100 && tabs->usesScrollButtons() && scroller && scroller->isVisible())
            return {};
        // Or are shortened, where that was asked for.
        if (px(100) != 100 && !tabs->usesScrollButtons() && tabs->elideMode() != Qt::ElideNone)
            return {};
        return tabs->sizeHint().width() > tabs->width() + kSlack ? tabs->tabText(tabs->count() - 1)
                                                                 : QString();
    }
    if (const auto* menu = qobject_cast<const QMenuBar*>(&widget))
        return menu->actions().isEmpty()
                || menu->actionGeometry(menu->actions().back()).right() < menu->width()
            ? QString()
            : menu->actions().back()->text();
    if (const auto* header = qobject_cast<const QHeaderView*>(&widget))
        return header->orientation() == Qt::Horizontal ? clippedHeading(*header) : QString();
    if (const auto* tree = qobject_cast<const QTreeView*>(&widget))
        return clippedRow(*tree);
    return {};
}

} // namespace

QStringList clippedTexts(QWidget& root)
{
    QStringList out;
    for (auto* widget : root.findChildren<QWidget*>()) {
        if (!widget->isVisibleTo(&root) || widget->visibleRegion().isEmpty())
            continue;
        if (const QString text = clipped(*widget); !text.isEmpty())
            out << QStringLiteral("%1 '%2' (%3 wide): %4")
                       .arg(QString::fromLatin1(widget->metaObject()->className()),
                            widget->objectName())
                       .arg(widget->width())
                       .arg(text);
    }
    return out;
}

double inkOf(QWidget& widget)
{
    const QImage image = widget.grab().toImage().convertToFormat(QImage::Format_RGB32);
    std::unordered_map<QRgb, int> counts;
    for (int y = 0; y < image.height(); ++y) {
        const auto* line = reinterpret_cast<const QRgb*>(image.constScanLine(y));
        for (int x = 0; x < image.width(); ++x)
            ++counts[line[x]];
    }
    int most = 0;
    for (const auto& [color, count] : counts)
        most = std::max(most, count);
    const double all = double(image.width()) * image.height();
    return all > 0 ? 1 - most / all : 0;
}

} // namespace qs
