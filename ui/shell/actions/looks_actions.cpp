// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/actions/looks_actions.h"

#include <QAction>
#include <QActionGroup>
#include <QMenu>

namespace qs {

LooksActions::LooksActions(QMenu& menu, QObject* parent)
    : QObject(parent)
{
    const Looks now = looksInUse();
    const auto add = [&](QMenu& to, QActionGroup& group, const QString& text, const QString& name,
                         const Looks& looks) {
        auto* action = to.addAction(text);
        action->setObjectName(name);
        action->setCheckable(true);
        action->setChecked(looks == now);
        group.addAction(action);
        connect(action, &QAction::triggered, this, [this, looks] { Q_EMIT chosen(looks); });
    };
    menu.addSeparator();
    auto* theme = menu.addMenu(tr("&Theme"));
    auto* themes = new QActionGroup(theme);
    for (const auto& [colours, name] : {std::pair(Looks::Colours::Light, "themeLight"),
                                        {Looks::Colours::Dark, "themeDark"},
                                        {Looks::Colours::System, "themeSystem"}})
        add(*theme, *themes, coloursText(colours), QString::fromLatin1(name),
            {colours, now.textPercent});
    auto* size = menu.addMenu(tr("Te&xt size"));
    auto* sizes = new QActionGroup(size);
    for (const int percent : textSizes())
        add(*size, *sizes, QStringLiteral("%1 %").arg(percent),
            QStringLiteral("textSize%1").arg(percent), {now.colours, percent});
}

} // namespace qs
