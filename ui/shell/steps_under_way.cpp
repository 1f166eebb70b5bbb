// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/steps_under_way.h"

#include "ui/session/text.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <filesystem>

namespace qs {

bool writeSteps(const StepsUnderWay& steps, const QString& file)
{
    const QJsonObject object {{QStringLiteral("steps"), QJsonArray::fromStringList(steps.names)},
                              {QStringLiteral("before"), toQString(recipeToJson(steps.before))},
                              {QStringLiteral("after"), toQString(recipeToJson(steps.after))}};
    QDir().mkpath(QFileInfo(file).path());
    // Atomic rename. Not flushed to disk: that is not needed for a crash of the program.
    QFile written(file + QStringLiteral(".new"));
    const QByteArray text = QJsonDocument(object).toJson(QJsonDocument::Compact);
    if (!written.open(QIODevice::WriteOnly) || written.write(text) != text.size())
        return false;
    written.close();
    std::error_code failed;
    std::filesystem::rename(written.fileName().toStdString(), file.toStdString(), failed);
    return !failed;
}

std::optional<StepsUnderWay> readSteps(const QString& file)
{
    QFile kept(file);
    if (!kept.open(QIODevice::ReadOnly))
        return std::nullopt;
    const QJsonObject object = QJsonDocument::fromJson(kept.readAll()).object();
    const auto recipeOf = [&](const char* key) {
        return parseRecipe(object[QLatin1String(key)].toString().toStdString(), file.toStdString());
    };
    StepsUnderWay steps;
    for (const QJsonValue name : object[QStringLiteral("steps")].toArray())
        steps.names << name.toString();
    auto before = recipeOf("before"), after = recipeOf("after");
    if (steps.names.isEmpty() || !before || !after)
        return std::nullopt;
    steps.before = std::move(*before);
    steps.after = std::move(*after);
    return steps;
}

} // namespace qs
