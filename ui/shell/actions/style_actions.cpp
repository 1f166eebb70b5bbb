// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/actions/style_actions.h"

#include <QAction>
#include <QActionGroup>
#include <QMenu>

namespace qs {

StyleActions::StyleActions(QMenu& menu, QObject* parent)
    : QObject(parent)
{
    const WindowStyle now = styleInUse();
    const auto add = [&](QMenu& to, QActionGroup& group, const QString& text, const QString& name,
                         const WindowStyle& style) {
        auto* action = to.addAction(text);
        action->setObjectName(name);
        action->setCheckable(true);
        action->setChecked(style == now);
        group.addAction(action);
        connect(action, &QAction::triggered, this, [this, style] { Q_EMIT chosen(style); });
    };
    menu.addSeparator();
    auto* theme = menu.addMenu(tr("&Theme"));
    auto* themes = new QActionGroup(theme);
    for (const auto& [colours, name] : {std::pair(WindowStyle::Colours::Light, "themeLight"),
                                        {WindowStyle::Colours::Dark, "themeDark"},
                                        {WindowStyle::Colours::System, "themeSystem"}})
        add(*theme, *themes, coloursText(colours), QString::fromLatin1(name),
            {colours, now.textPercent});
    auto* size = menu.addMenu(tr("Te&xt size"));
    auto* sizes = new QActionGroup(size);
    for (const int percent : textSizes())
        add(*size, *sizes, QStringLiteral("%1 %").arg(percent),
            QStringLiteral("textSize%1").arg(percent), {now.colours, percent});
}

} // namespace qs
