// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/style/theme.h"

#include "engine/base/error_scale.h"

#include <QApplication>
#include <QFontDatabase>
#include <QPalette>
#include <QStyleFactory>

#include <cmath>
#include <cstdint>

/// Registers the resources of this static library. The macro must be used outside of namespaces.
static void registerIcons()
{
    Q_INIT_RESOURCE(quantscope);
}

namespace qs {

namespace {

Theme makeLight()
{
    Theme t;
    t.window = 0xf3f5f9;
    t.panel = 0xffffff;
    t.canvas = 0xfafbfd;
    t.border = 0xd9dee7;
    t.text = 0x1d2433;
    t.muted = 0x5c677a;
    t.faint = 0x8a94a6;
    t.accent = 0x2f6fed;
    t.accentSoft = 0xeaf0fe;
    t.accentText = 0xffffff;
    t.doneFill = 0xe9f2ec;
    t.doneBorder = 0xb9d8c3;
    t.warning = 0xb26a00;
    t.warningFill = 0xfdf4e3;
    t.danger = 0xc43d5a;
    t.dangerFill = 0xfbeaee;
    t.node = 0xffffff;
    t.nodeBorder = 0xb7c0cf;
    t.frame = 0xeef2fa;
    t.frameBorder = 0xb7c4de;
    t.frameText = 0x46557a;
    t.edge = 0x8d98aa;
    t.histogram = 0x7fa3e8;
    t.histogramBeyond = 0xe3a6b3;
    return t;
}

Theme makeDark()
{
    Theme t;
    t.dark = true;
    t.window = 0x171b23;
    t.panel = 0x1f242e;
    t.canvas = 0x1a1f28;
    t.border = 0x343b49;
    t.text = 0xe6e9f0;
    t.muted = 0x9aa5b8;
    t.faint = 0x6b7689;
    t.accent = 0x6a9bff;
    t.accentSoft = 0x2a3a5c;
    t.accentText = 0x0d1420;
    t.doneFill = 0x203029;
    t.doneBorder = 0x3c5c49;
    t.warning = 0xe0a040;
    t.warningFill = 0x3a2f1b;
    t.danger = 0xef6f8b;
    t.dangerFill = 0x402530;
    t.node = 0x262c38;
    t.nodeBorder = 0x4a5366;
    t.frame = 0x202737;
    t.frameBorder = 0x3d4a66;
    t.frameText = 0xb3c1e0;
    t.edge = 0x7a869b;
    t.histogram = 0x5f86d0;
    t.histogramBeyond = 0xa05a6b;
    return t;
}

const Theme* appliedTheme = nullptr;
double textScale = 1;

QFont familyFont(const QStringList& families, double pixels)
{
    QFont font;
    font.setFamilies(families);
    font.setPixelSize(int(std::lround(pixels)));
    return font;
}

QString fixedFamily()
{
    return QStringLiteral("DejaVu Sans Mono"); // no words
}

QString styleSheet(const Theme& t)
{
    QString css = QStringLiteral(R"(
QMainWindow, QDialog { background: @window; }
QMenuBar { background: @panel; color: @text; padding: 3px 8px; border: none; }
QMenuBar::item { padding: 4px 12px; background: transparent; border-radius: 4px; }
QMenuBar::item:selected { background: @accentSoft; }
QMenu { background: @panel; border: 1px solid @border; padding: 4px; }
QMenu::item { padding: 5px 28px 5px 16px; border-radius: 4px; }
QMenu::item:selected { background: @accentSoft; color: @text; }
QMenu::item:disabled { color: @faint; }
QMenu::separator { height: 1px; background: @border; margin: 4px 6px; }
QStatusBar { background: @panel; border-top: 1px solid @border; }
QStatusBar::item { border: none; }
QToolTip { background: @panel; color: @text; border: 1px solid @border; padding: 4px; }
QSplitter::handle { background: @border; }
QWidget#panel { background: @panel; }
QScrollArea { background: @panel; border: none; }
QTreeView, QListView, QPlainTextEdit, QTableView { background: @panel; border: none; color: @text;
  selection-background-color: @accentSoft; selection-color: @text; }
QTreeView::item { min-height: @rowpx; }
QTreeView::indicator { width: @tickpx; height: @tickpx; border: 1px solid @muted; border-radius: 3px; }
QTreeView::indicator:checked { background: @accent; border-color: @accent;
  image: url(:/icons/check-@mode.svg); }
QTreeView::item:selected, QListView::item:selected { background: @accentSoft; color: @text; }
QTreeView::item:hover, QListView::item:hover { background: @window; }
QHeaderView::section { background: @panel; color: @muted; border: none;
  border-bottom: 1px solid @border; padding: 7px 6px 3px 6px; }
QHeaderView::up-arrow { image: url(:/icons/chevron-up-@mode.svg); width: 7px; height: 7px;
  subcontrol-origin: padding; subcontrol-position: top center; }
QHeaderView::down-arrow { image: url(:/icons/chevron-@mode.svg); width: 7px; height: 7px;
  subcontrol-origin: padding; subcontrol-position: top center; }
QHeaderView::section:first { color: @text; padding-left: 14px; }
QLineEdit, QComboBox, QSpinBox, QDoubleSpinBox { background: @window; border: 1px solid @border;
  border-radius: 5px; padding: 3px 8px; color: @text; min-height: 16px; }
QLineEdit:focus, QComboBox:focus, QAbstractSpinBox:focus { border-color: @accent; }
QComboBox::drop-down { border: none; width: 22px; }
QComboBox::down-arrow { image: url(:/icons/chevron-@mode.svg); width: 10px; height: 10px; }
QComboBox QAbstractItemView { background: @panel; border: 1px solid @border;
  selection-background-color: @accentSoft; selection-color: @text; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QPushButton { background: @panel; border: 1px solid @border; border-radius: 5px;
  padding: 4px 12px; color: @text; }
QPushButton:hover { border-color: @accent; }
QPushButton::menu-indicator { image: url(:/icons/chevron-@mode.svg); width: 9px; height: 9px;
  subcontrol-origin: padding; subcontrol-position: right center; right: 7px; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { border: none; width: 18px; }
QAbstractSpinBox::up-arrow { image: url(:/icons/chevron-up-@mode.svg); width: 8px; height: 8px; }
QAbstractSpinBox::down-arrow { image: url(:/icons/chevron-@mode.svg); width: 8px; height: 8px; }
QPushButton:disabled { color: @faint; }
QPushButton[primary="true"] { background: @accent; border-color: @accent; color: @accentText; }
QPushButton[primary="true"]:disabled { background: @faint; border-color: @faint; }
QToolButton { border: 1px solid transparent; border-radius: 5px; padding: 3px 7px; color: @muted; }
QToolButton:hover { color: @text; }
QToolButton:checked { color: @accent; border-color: @border; font-weight: 600; }
QTabBar { background: @panel; }
QTabBar QToolButton { background: @panel; border: 1px solid @border; border-radius: 0; padding: 0; }
QTabBar::tab { background: @panel; color: @muted; padding: 6px 7px; border: none; }
QTabBar::tab:selected { color: @accent; }
QTabBar::tab:hover { color: @text; }
QTabWidget::pane { border: none; border-top: 1px solid @border; }
QScrollBar:vertical { background: transparent; width: 9px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 9px; margin: 0; }
QScrollBar::handle { background: @border; border-radius: 4px; min-height: 24px; min-width: 24px; }
QScrollBar::handle:hover { background: @faint; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
)");
    const std::pair<const char*, QColor> names[] = {
        {"@accentSoft", t.accentSoft},
        {"@accentText", t.accentText},
        {"@accent", t.accent},
        {"@window", t.window},
        {"@panel", t.panel},
        {"@border", t.border},
        {"@text", t.text},
        {"@muted", t.muted},
        {"@faint", t.faint},
    };
    css.replace(QLatin1String("@mode"), QLatin1String(t.dark ? "dark" : "light"));
    css.replace(QLatin1String("@row"), QString::number(px(21)));
    css.replace(QLatin1String("@tick"), QString::number(px(11)));
    for (const auto& [name, color] : names)
        css.replace(QLatin1String(name), color.name());
    return css;
}

} // namespace

const Theme& Theme::light()
{
    static const Theme instance = makeLight();
    return instance;
}

const Theme& Theme::darkTheme()
{
    static const Theme instance = makeDark();
    return instance;
}

const Theme& theme()
{
    return appliedTheme ? *appliedTheme : Theme::light();
}

void applyTheme(QApplication& app, bool dark, int textPercent)
{
    registerIcons();
    appliedTheme = dark ? &Theme::darkTheme() : &Theme::light();
    textScale = textPercent / 100.0;
    const Theme& t = *appliedTheme;
    app.setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    QPalette palette;
    palette.setColor(QPalette::Window, t.window);
    palette.setColor(QPalette::WindowText, t.text);
    palette.setColor(QPalette::Base, t.panel);
    palette.setColor(QPalette::AlternateBase, t.window);
    palette.setColor(QPalette::Text, t.text);
    palette.setColor(QPalette::Button, t.panel);
    palette.setColor(QPalette::ButtonText, t.text);
    palette.setColor(QPalette::Highlight, t.accentSoft);
    palette.setColor(QPalette::HighlightedText, t.text);
    palette.setColor(QPalette::Link, t.accent);
    palette.setColor(QPalette::PlaceholderText, t.muted);
    palette.setColor(QPalette::ToolTipBase, t.panel);
    palette.setColor(QPalette::ToolTipText, t.text);
    palette.setColor(QPalette::Mid, t.border);
    for (const auto role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, t.faint);
    app.setPalette(palette);
    app.setFont(uiFont(12.5));
    app.setStyleSheet(styleSheet(t));
}

int px(double atNormalSize)
{
    return int(std::lround(atNormalSize * textScale));
}

QFont sceneFont(double units, int weight)
{
    const QString plain = QStringLiteral("DejaVu Sans"); // no words
    QFont font = familyFont({QStringLiteral("Inter"), plain, QStringLiteral("sans-serif")}, units);
    font.setWeight(QFont::Weight(weight));
    return font;
}

QFont sceneMonoFont(double units)
{
    QFont font = familyFont({fixedFamily(), QStringLiteral("monospace")}, units);
    font.setStyleHint(QFont::Monospace);
    return font;
}

QFont uiFont(double pixels, int weight)
{
    return sceneFont(pixels * textScale, weight);
}

QFont monoFont(double pixels)
{
    return sceneMonoFont(pixels * textScale);
}

QColor verdictColor(Verdict verdict)
{
    switch (verdict) {
    case Verdict::Quantized:
        return 0x2f6fed;
    case Verdict::Shared:
        return 0x86abf3;
    case Verdict::FloatByRule:
        return 0x9aa4b5;
    case Verdict::FloatByBackend:
        return 0xd98324;
    case Verdict::FloatByConstraint:
        return 0xc43d5a;
    case Verdict::FloatByKernelCheck:
        return 0x8e5bb5;
    case Verdict::Opaque:
        return 0x4d5566;
    case Verdict::ShapeOnly:
    case Verdict::NotApplicable:
        break;
    }
    return 0xc9d0db;
}

QString verdictText(Verdict verdict)
{
    switch (verdict) {
    case Verdict::Quantized:
        return QObject::tr("quantized");
    case Verdict::Shared:
        return QObject::tr("shared with its input");
    case Verdict::FloatByRule:
        return QObject::tr("float by rule");
    case Verdict::FloatByBackend:
        return QObject::tr("float by backend");
    case Verdict::FloatByConstraint:
        return QObject::tr("float by constraint");
    case Verdict::FloatByKernelCheck:
        return QObject::tr("float by kernel check");
    case Verdict::Opaque:
        return QObject::tr("opaque");
    case Verdict::ShapeOnly:
        return QObject::tr("shape only");
    case Verdict::NotApplicable:
        break;
    }
    return QObject::tr("not applicable");
}

QColor cividis(double badness)
{
    const Rgb colour = cividis(badness, theme().dark);
    return {colour.red, colour.green, colour.blue};
}

QString inkStyle(const QColor& ink)
{
    return QStringLiteral("color: %1;").arg(ink.name());
}

QColor textOn(const QColor& fill)
{
    const auto channel = [](int value) { return std::uint8_t(value); };
    const Rgb ink = inkOn({channel(fill.red()), channel(fill.green()), channel(fill.blue())});
    return {ink.red, ink.green, ink.blue};
}

QColor wordColor(const QString& word)
{
    if (word.isEmpty())
        return 0xc9d0db;
    uint hash = 2166136261u;
    for (const QChar c : word)
        hash = (hash ^ c.unicode()) * 16777619u;
    return QColor::fromHsv(int(hash % 360), 120 + int((hash >> 10) % 50), 190);
}

} // namespace qs
