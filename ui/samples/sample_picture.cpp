// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/samples/sample_picture.h"

#include "engine/base/error_scale.h"
#include "engine/values/sample_inputs.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// Most points of a line; more are joined.
constexpr std::size_t kMostPoints = 256;

struct Range
{
    float low = 0, high = 0;
    /// The position of a value between the ends, in [0, 1]; 0 for NaN.
    float of(float value) const
    {
        const float at = high > low ? (value - low) / (high - low) : 0.5F;
        return at >= 0 ? std::min(at, 1.F) : 0;
    }
};

/// Of the finite values.
Range rangeOf(const std::vector<float>& values)
{
    Range range;
    bool isFirst = true;
    for (const float value : values) {
        if (!std::isfinite(value))
            continue;
        range.low = isFirst ? value : std::min(range.low, value);
        range.high = isFirst ? value : std::max(range.high, value);
        isFirst = false;
    }
    return range;
}

/// How an image lies in memory.
struct Planes
{
    std::int64_t channels = 1, rows = 1, columns = 1;
    std::int64_t channelStep = 0, rowStep = 0, columnStep = 1;
};

/// Returns the layout of an input of at least two dimensions; without an image, its last two
/// dimensions, those before them as more rows.
Planes planesOf(const SampleInput& input)
{
    const auto& shape = input.shape;
    const std::int64_t columns = shape.back();
    if (!isImageInput(input))
        return {1,       std::int64_t(input.values.size()) / std::max<std::int64_t>(1, columns),
                columns, 0,
                columns, 1};
    if (shape[0] == 1 || shape[0] == 3)
        return {shape[0], shape[1], columns, shape[1] * columns, columns, 1};
    return {columns, shape[0], shape[1], 1, shape[1] * columns, columns};
}

QImage imageOf(const SampleInput& input, const PictureColours& colours)
{
    const Planes planes = planesOf(input);
    const Range range = rangeOf(input.values);
    const bool isImage = isImageInput(input);
    QImage image(int(planes.columns), int(planes.rows), QImage::Format_RGB32);
    for (std::int64_t row = 0; row < planes.rows; ++row) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(int(row)));
        for (std::int64_t column = 0; column < planes.columns; ++column) {
            const auto at = [&](std::int64_t channel) {
                return range.of(
                    input.values[std::size_t(channel * planes.channelStep + row * planes.rowStep
                                             + column * planes.columnStep)]);
            };
            const auto level
                = [&](std::int64_t channel) { return int(std::lround(255 * at(channel))); };
            if (!isImage) {
                const Rgb colour = cividis(at(0), colours.isDark);
                line[column] = qRgb(colour.red, colour.green, colour.blue);
            } else {
                const int red = level(0);
                line[column]
                    = planes.channels == 3 ? qRgb(red, level(1), level(2)) : qRgb(red, red, red);
            }
        }
    }
    return image;
}

void drawLine(QPainter& painter, const SampleInput& input, int side, const QColor& ink)
{
    const Range range = rangeOf(input.values);
    const std::size_t count = input.values.size(), points = std::min(count, kMostPoints);
    const double margin = side / 12.0, room = side - 2 * margin;
    QPainterPath path;
    for (std::size_t i = 0; i < points; ++i) {
        const float value = input.values[i * count / points];
        const QPointF at(margin + room * (points > 1 ? double(i) / double(points - 1) : 0.5),
                         margin + room * (1 - double(range.of(value))));
        if (i == 0)
            path.moveTo(at);
        else
            path.lineTo(at);
    }
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(ink, std::max(1.0, side / 36.0)));
    if (points == 1)
        painter.drawPoint(path.currentPosition());
    else
        painter.drawPath(path);
}

} // namespace

bool isImageInput(const SampleInput& input)
{
    const auto& shape = input.shape;
    const auto isColour = [](std::int64_t size) { return size == 1 || size == 3; };
    if (shape.size() != 3 || std::int64_t(input.values.size()) != shape[0] * shape[1] * shape[2])
        return false;
    return (isColour(shape[0]) && shape[1] > 3 && shape[2] > 3)
        || (isColour(shape[2]) && shape[0] > 3 && shape[1] > 3);
}

QImage pictureOf(const SampleInput& input, int side, const PictureColours& colours)
{
    QImage picture(side, side, QImage::Format_RGB32);
    picture.fill(colours.ground);
    if (input.values.empty())
        return picture;
    QPainter painter(&picture);
    const bool isFlat = input.shape.size() < 2
        || input.values.size() < 2 * std::size_t(std::max<std::int64_t>(1, input.shape.back()));
    if (isFlat) {
        drawLine(painter, input, side, colours.ink);
        return picture;
    }
    const QImage whole = imageOf(input, colours);
    // A photograph is smoothed; the cells of a small image stay sharp.
    const bool isLarge = whole.width() > side || whole.height() > side;
    const QImage scaled = whole.scaled(
        side, side, isImageInput(input) ? Qt::KeepAspectRatio : Qt::IgnoreAspectRatio,
        isLarge ? Qt::SmoothTransformation : Qt::FastTransformation);
    painter.drawImage((side - scaled.width()) / 2, (side - scaled.height()) / 2, scaled);
    return picture;
}

} // namespace qs
