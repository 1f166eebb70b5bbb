// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/plan.h"

#include <QColor>
#include <QFont>
#include <QString>

class QApplication;

namespace qs {

/// The colours of the window. A value.
struct Theme
{
    bool dark = false;
    QColor window, panel, canvas, border, text, muted, faint;
    QColor accent, accentSoft, accentText;
    QColor doneFill, doneBorder, warning, warningFill, danger, dangerFill;
    QColor node, nodeBorder, frame, frameBorder, frameText, edge;
    QColor histogram, histogramBeyond;

    static const Theme& light();
    static const Theme& darkTheme();
};

/// The theme in use. Set once by `applyTheme`.
const Theme& theme();
/// Fusion style, palette, fonts and style sheet.
void applyTheme(QApplication& app, bool dark);

/// Interface font of a size in pixels; weight 600 is semi-bold.
QFont uiFont(double pixels, int weight = 400);
QFont monoFont(double pixels);

QColor verdictColor(Verdict verdict);
/// The cividis palette, safe for colour-blind eyes: 0 = good (dark blue), 1 = worst (yellow).
QColor cividis(double badness);
/// Black or white, whichever reads better on `fill`.
QColor textOn(const QColor& fill);
/// A calm colour that stays the same for the same word.
QColor wordColor(const QString& word);
QString verdictText(Verdict verdict);

} // namespace qs
