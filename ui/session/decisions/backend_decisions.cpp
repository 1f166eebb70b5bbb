// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/decisions/backend_decisions.h"

#include "engine/base/files/atomic_file.h"
#include "engine/base/text.h"
#include "engine/configure/backend/fusion_entries.h"
#include "engine/plan/match/fusion_gap.h"
#include "ui/session/opened_files.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>

#include <algorithm>

namespace qs {

namespace {

bool says(const QString& path, const std::string& text)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) && file.readAll() == QByteArray::fromStdString(text);
}

} // namespace

QString backendTitle(const Recipe& recipe)
{
    const QString text = toQString(recipe.target());
    return isBackendPath(recipe.target()) ? QFileInfo(text).fileName() : text;
}

QString backendFolder(const Workspace& workspace, const OpenedFiles& files)
{
    const auto& model = workspace.document().model();
    const QString saved = !files.projectPath().isEmpty() || !model ? files.projectPath()
                                                                   : toQString(model->info().path);
    return QFileInfo(saved).absolutePath();
}

QString backendPurpose(const std::string& nameOrPath)
{
    const auto backend = findBackend(nameOrPath);
    return backend ? toQString(backend->description) : QString();
}

Result<Backend> editedBackend(const Recipe& recipe)
{
    QS_TRY(Backend backend, findBackend(recipe.target()));
    if (!isBackendPath(recipe.target())) {
        backend.description
            = (backend.patterns.empty() ? QObject::tr("A target of our own")
                                        : QObject::tr("A copy of %1").arg(toQString(backend.name)))
                  .toStdString();
        backend.name = backend.patterns.empty() ? "my_target" : "my_" + backend.name;
    }
    return backend;
}

QString backendFileIn(const QString& folder, const Backend& backend)
{
    static const QRegularExpression unusual(QStringLiteral("[^A-Za-z0-9._-]+"));
    QString name = toQString(backend.name).replace(unusual, QStringLiteral("_"));
    if (name.isEmpty())
        name = QStringLiteral("backend");
    const std::string text = backendToJson(backend);
    for (int number = 1;; ++number) {
        QString path = QDir(folder).filePath(
            name + (number > 1 ? QStringLiteral("_%1").arg(number) : QString())
            + QStringLiteral(".json"));
        if (!QFileInfo::exists(path) || says(path, text))
            return path;
    }
}

Result<void> useBackend(Workspace& workspace, const QString& text, const Backend& backend,
                        const QString& path)
{
    const std::string file = QFileInfo(path).absoluteFilePath().toStdString();
    const std::string content = backendToJson(backend);
    if (!says(path, content)) {
        if (QFileInfo::exists(path))
            return fail(
                makeError(ErrorCode::BadInput,
                          QObject::tr("another file of this name exists").toStdString())
                    .inFile(file)
                    .withHint(QObject::tr("choose another name, so that undo finds what was there")
                                  .toStdString()));
        QS_CHECK(writeFileAtomically(file, content));
    }
    Recipe recipe = workspace.document().recipe();
    recipe.backend = file;
    workspace.change(text, std::move(recipe));
    return {};
}

std::optional<MissingFusion> missingFusion(const Workspace& workspace, NodeId node)
{
    const Document& document = workspace.document();
    if (!document.model() || !document.plan() || !document.model()->tryGet(node))
        return std::nullopt;
    MissingFusion missing;
    missing.pattern = fusionGap(*document.model(), *document.plan(), node);
    if (missing.pattern.empty())
        return std::nullopt;
    const auto backend = editedBackend(document.recipe());
    auto fused = backend ? withFusion(*backend, missing.pattern) : backend;
    if (!fused || fused->patterns.size() == backend->patterns.size())
        return std::nullopt;
    missing.isPartnerAlone = std::any_of(
        backend->patterns.begin(), backend->patterns.end(), [&](const BackendPattern& entry) {
            return entry.pattern == missing.pattern && !entry.fuserMethod.empty();
        });
    missing.backend = std::move(*fused);
    return missing;
}

QString shortPattern(const std::vector<std::string>& pattern)
{
    QStringList names;
    for (const std::string& name : pattern)
        names << toQString(lastPart(name));
    return names.join(QStringLiteral(", "));
}

} // namespace qs
