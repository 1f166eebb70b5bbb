// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/picture/screenshot.h"

#include "engine/base/files/atomic_file.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/session/document.h"
#include "ui/session/text.h"

#include <QBuffer>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPixmap>

namespace qs {

Result<void> writePicture(const QPixmap& picture, const QString& path)
{
    // zlib's first level: 6 % more bytes in two thirds of the time. The format is lossless.
    constexpr int kFastLevel = 80;
    QBuffer png;
    if (!png.open(QIODevice::WriteOnly) || !picture.save(&png, "PNG", kFastLevel))
        return fail(
            makeError(ErrorCode::Io, QObject::tr("the picture cannot be made").toStdString())
                .inFile(path.toStdString()));
    return writeFileAtomically(path.toStdString(), png.data().toStdString());
}

Result<void> writeScreenshot(QWidget& window, const Document& document, GraphPane& graph,
                             const QString& path, double seconds, double resultSeconds)
{
    const QPixmap picture = window.grab();
    QS_CHECK(writePicture(picture, path));
    const auto& model = document.model();
    const auto& drawing = graph.view().graphScene().drawing();
    QJsonObject facts;
    facts[QStringLiteral("nodes_total")] = model ? qint64(model->nodes().size()) : 0;
    facts[QStringLiteral("nodes_drawn")] = drawing ? qint64(drawing->nodes.size()) : 0;
    facts[QStringLiteral("layout")]
        = graph.isLayoutDone() ? QStringLiteral("done") : QStringLiteral("none");
    facts[QStringLiteral("seconds")] = seconds;
    if (const auto& compared = document.comparison(); compared && document.plan()) {
        facts[QStringLiteral("compared_on")] = toQString(document.comparedOn());
        facts[QStringLiteral("result_seconds")] = resultSeconds;
        facts[QStringLiteral("compared_samples")] = qint64(compared->samples);
        if (const auto db = compared->outputDb())
            facts[QStringLiteral("output_db")] = *db;
    }
    return writeFileAtomically((path + QStringLiteral(".json")).toStdString(),
                               QJsonDocument(facts).toJson().toStdString());
}

} // namespace qs
