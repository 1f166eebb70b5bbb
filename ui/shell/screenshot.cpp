// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/screenshot.h"

#include "ui/graph/view/graph_pane.h"
#include "ui/session/workspace.h"
#include "ui/shell/main_window.h"

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPixmap>
#include <QSaveFile>

namespace qs {

Result<void> writeScreenshot(MainWindow& window, const QString& path, double seconds)
{
    const QPixmap picture = window.grab();
    QSaveFile image(path);
    if (!image.open(QIODevice::WriteOnly) || !picture.save(&image, "PNG") || !image.commit())
        return fail(makeError(ErrorCode::Io,
                              "cannot write the screenshot: " + image.errorString().toStdString())
                        .inFile(path.toStdString()));
    const auto& model = window.workspace().document().model();
    const auto& drawing = window.graphPane().view().graphScene().drawing();
    QJsonObject facts;
    facts[QStringLiteral("nodes_total")] = model ? qint64(model->nodes().size()) : 0;
    facts[QStringLiteral("nodes_drawn")] = drawing ? qint64(drawing->nodes.size()) : 0;
    facts[QStringLiteral("layout")]
        = window.graphPane().isLayoutDone() ? QStringLiteral("done") : QStringLiteral("none");
    facts[QStringLiteral("seconds")] = seconds;
    QSaveFile json(path + QStringLiteral(".json"));
    const QByteArray text = QJsonDocument(facts).toJson();
    if (!json.open(QIODevice::WriteOnly) || json.write(text) != text.size() || !json.commit())
        return fail(makeError(ErrorCode::Io,
                              "cannot write the facts of the screenshot: "
                                  + json.errorString().toStdString())
                        .inFile(json.fileName().toStdString()));
    return {};
}

} // namespace qs
