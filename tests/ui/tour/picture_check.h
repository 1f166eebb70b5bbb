// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

class QWidget;

namespace qs {

/// Visible widgets inside `root` whose text does not fit: labels, buttons, boxes, fields, tabs,
/// column headings, rows of trees. One line each: class, name, text. What shortens its text on
/// purpose (and has it as tool tip) is left out.
QStringList clippedTexts(QWidget& root);

/// The part of a widget's picture that is not its background, 0 to 1: about 0 where nothing is
/// drawn.
double inkOf(QWidget& widget);

} // namespace qs
