// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/export/graph_export.h"

#include "engine/base/files/atomic_file.h"
#include "ui/graph/export/png_stream.h"
#include "ui/graph/view/graph_canvas.h"
#include "ui/style/theme.h"

#include <QFile>
#include <QImage>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr int kTile = 1024; ///< pixels; the raster engine's limit is 32767
/// Maximum length of a PDF page, in points.
constexpr double kLongestPage = 14400;

bool writePng(GraphCanvas& canvas, QIODevice& device, double scale)
{
    const QSize size = pictureSize(canvas, scale);
    const QRectF all = canvas.boundingRect();
    PngStream png(device, size);
    std::vector<unsigned char> rows;
    for (int top = 0; top < size.height(); top += kTile) {
        const int height = std::min(kTile, size.height() - top);
        rows.assign(std::size_t(size.width()) * std::size_t(height) * 3, 0);
        for (int left = 0; left < size.width(); left += kTile) {
            const int width = std::min(kTile, size.width() - left);
            QImage tile(width, height, QImage::Format_RGB888);
            tile.fill(theme().canvas);
            {
                QPainter p(&tile);
                p.translate(-left, -top);
                p.scale(scale, scale);
                p.translate(-all.topLeft());
                canvas.render(p,
                              QRectF(left / scale, top / scale, width / scale, height / scale)
                                  .translated(all.topLeft()),
                              scale);
            }
            for (int y = 0; y < height; ++y)
                std::copy_n(tile.constScanLine(y), width * 3,
                            rows.begin() + (qint64(y) * size.width() + left) * 3);
        }
        if (!png.writeRows(rows))
            return false;
    }
    return png.finish();
}

/// Paints the whole graph; names stay text.
bool paintWhole(GraphCanvas& canvas, QPaintDevice& device, double scale)
{
    const QRectF all = canvas.boundingRect();
    QPainter p;
    if (!p.begin(&device))
        return false;
    p.scale(scale, scale);
    p.translate(-all.topLeft());
    p.fillRect(all, theme().canvas);
    canvas.render(p, all, 1, GraphCanvas::Edges::Fine);
    return p.end();
}

bool writeSvg(GraphCanvas& canvas, QIODevice& device)
{
    const QRectF all = canvas.boundingRect();
    QSvgGenerator svg;
    svg.setOutputDevice(&device);
    svg.setTitle(QStringLiteral("Quantscope"));
    svg.setResolution(96);
    svg.setSize(pictureSize(canvas, 1));
    svg.setViewBox(QRectF(QPointF(), all.size()));
    return paintWhole(canvas, svg, 1);
}

bool writePdf(GraphCanvas& canvas, QIODevice& device)
{
    const QRectF all = canvas.boundingRect();
    const double longest = std::max({all.width(), all.height(), 1.0});
    const double scale = std::min(0.75, kLongestPage / longest); // a unit is a pixel of 96 dpi
    QPdfWriter pdf(&device);
    pdf.setCreator(QStringLiteral("Quantscope"));
    pdf.setResolution(72);
    pdf.setPageMargins({});
    if (!pdf.setPageSize(
            QPageSize(all.size() * scale, QPageSize::Point, QString(), QPageSize::ExactMatch)))
        return false;
    return paintWhole(canvas, pdf, scale);
}

} // namespace

QSize pictureSize(const GraphCanvas& canvas, double scale)
{
    const QSizeF size = canvas.boundingRect().size() * scale;
    return {std::max(1, int(std::ceil(size.width()))), std::max(1, int(std::ceil(size.height())))};
}

Result<void> exportGraph(GraphCanvas& canvas, const QString& path, double scale)
{
    const auto failed = [&](const QString& what) {
        return fail(makeError(ErrorCode::Io, what.toStdString()).inFile(path.toStdString()));
    };
    const QString suffix = path.section(QLatin1Char('.'), -1).toLower();
    if (suffix != QLatin1String("svg") && suffix != QLatin1String("pdf")
        && suffix != QLatin1String("png"))
        return failed(QObject::tr("a graph is written as .svg, .pdf or .png"));
    if (!canvas.drawing())
        return failed(QObject::tr("there is no graph to write"));
    QS_TRY(AtomicFile target, AtomicFile::create(path.toStdString()));
    QFile file(QString::fromStdString(target.temporaryPath()));
    if (!file.open(QIODevice::WriteOnly | QIODevice::Truncate))
        return failed(QObject::tr("cannot write the graph: %1").arg(file.errorString()));
    const bool written = suffix == QLatin1String("svg") ? writeSvg(canvas, file)
        : suffix == QLatin1String("pdf")                ? writePdf(canvas, file)
                                                        : writePng(canvas, file, scale);
    if (!written || !file.flush())
        return failed(QObject::tr("cannot write the graph: %1").arg(file.errorString()));
    file.close();
    return target.commit();
}

} // namespace qs
