// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/dialogs/save_report.h"

#include "engine/base/files/temporary_folder.h"
#include "engine/export/documents/result_writer.h"
#include "ui/frame/message_bar.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <QDesktopServices>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QUrl>

namespace qs {

namespace {

const QString kReportTopic = QStringLiteral("report"); // no words

/// Returns the folder of an export with the current results; empty without one.
std::string exportedFolder(const Document& document)
{
    const DecisionKeys* made = document.keysOf(Stage::Export);
    const std::string& folder = document.exported().folder;
    const bool isOfThese = made && made->conversion == document.keys().conversion
        && made->comparison == document.keys().comparison;
    const QString result = QDir(toQString(folder)).filePath(QStringLiteral("result.json"));
    return isOfThese && !folder.empty() && QFileInfo::exists(result) ? folder : std::string();
}

Result<void> writeReport(EngineService& engine, ExportRequest request, const std::string& path,
                         const JobContext& job)
{
    if (!request.folder.empty())
        return writeHtmlReport(request.folder, path);
    QS_TRY(const TemporaryFolder scratch, TemporaryFolder::create("report"));
    request.folder = scratch.path();
    QS_CHECK(engine.exportTo(request, job));
    return writeHtmlReport(scratch.path(), path);
}

} // namespace

bool canReport(const Workspace& workspace)
{
    const Document& document = workspace.document();
    return document.comparison() && !document.isStale(Stage::Compare);
}

void saveReport(Workspace& workspace, MessageBar& messages)
{
    const QFileInfo model(toQString(workspace.document().model()->info().path));
    const QString path = QFileDialog::getSaveFileName(
        messages.window(), QObject::tr("Save report"),
        model.dir().filePath(model.completeBaseName() + QStringLiteral("-report.html")),
        QObject::tr("Pages (*.html)"));
    if (path.isEmpty() || !canReport(workspace))
        return;
    auto& pipeline = workspace.pipeline();
    ExportRequest request = pipeline.exportRequest();
    request.forms.clear();
    request.folder = exportedFolder(workspace.document());
    messages.dismissTopic(kReportTopic);
    pipeline.jobs().run(
        Lane::Engine, QStringLiteral("report"),
        [engine = &pipeline.engine(), request, path](JobContext& job) {
            return writeReport(*engine, request, path.toStdString(), job);
        },
        &messages,
        [&messages, path](const Result<void>& written) {
            if (!written && written.error().code == ErrorCode::Cancelled)
                return;
            if (!written) {
                messages.showError(QObject::tr("Saving the report"), written.error());
                return;
            }
            messages.showChoices(
                MessageBar::Kind::Note, kReportTopic, QObject::tr("Report saved"), path, {},
                {{QObject::tr("Open"), QObject::tr("Show the page in the browser"),
                  [path] { QDesktopServices::openUrl(QUrl::fromLocalFile(path)); }}});
        });
}

} // namespace qs
