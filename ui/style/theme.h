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

/// The theme in use. Set by `applyTheme`.
const Theme& theme();
/// Fusion style, palette, fonts and style sheet; `textPercent` scales every font of the interface.
/// Existing widgets keep their style.
void applyTheme(QApplication& app, bool dark, int textPercent = 100);

/// A length that follows the text size, in whole pixels: `px(20)` is 30 at 150 %.
int px(double atNormalSize);

/// Interface font of a size in pixels at 100 %; weight 600 is semi-bold.
QFont uiFont(double pixels, int weight = 400);
QFont monoFont(double pixels);
/// Fonts in units of the graph's scene, which are independent of the text size.
QFont sceneFont(double units, int weight = 400);
QFont sceneMonoFont(double units);

QColor verdictColor(Verdict verdict);
/// The cividis palette, safe for colour-blind eyes: 0 = good (dark blue), 1 = worst (yellow).
QColor cividis(double badness);
/// Returns the style sheet for text in this colour.
QString inkStyle(const QColor& ink);
/// Returns black or white, whichever is more readable on `fill`.
QColor textOn(const QColor& fill);
/// Returns a muted colour, always the same for the same word.
QColor wordColor(const QString& word);
QString verdictText(Verdict verdict);

} // namespace qs
