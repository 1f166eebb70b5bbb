// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/window_state.h"

#include "ui/shell/main_window.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

namespace qs {

namespace {

const QString kStylesKey = QStringLiteral("styles");

} // namespace

QByteArray windowStateOf(MainWindow& window)
{
    const auto& rules = window.workspace().styleRules().rules();
    const QJsonObject state {
        {kStylesKey, QJsonDocument::fromJson(StyleRules::toJson(rules)).array()}};
    return QJsonDocument(state).toJson(QJsonDocument::Compact);
}

void applyWindowState(MainWindow& window, const QByteArray& state)
{
    const QJsonObject kept = QJsonDocument::fromJson(state).object();
    if (kept.contains(kStylesKey))
        window.workspace().styleRules().replace(
            StyleRules::fromJson(QJsonDocument(kept[kStylesKey].toArray()).toJson()));
}

} // namespace qs
