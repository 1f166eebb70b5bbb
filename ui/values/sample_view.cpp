// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/values/sample_view.h"

#include "ui/style/theme.h"
#include "ui/style/widgets.h"
#include "ui/values/heat_map.h"

#include <QGraphicsOpacityEffect>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr std::int64_t kLongestLine = 64; ///< a vector longer than that is wrapped

/// Returns the least and greatest finite value of both.
std::pair<double, double> rangeOf(const std::vector<float>& a, const std::vector<float>& b)
{
    double low = 0, high = 0;
    bool any = false;
    for (const auto* values : {&a, &b})
        for (const float value : *values) {
            if (!std::isfinite(value))
                continue;
            low = any ? std::min(low, double(value)) : double(value);
            high = any ? std::max(high, double(value)) : double(value);
            any = true;
        }
    return {low, high};
}

/// Returns blue below, the panel's grey at zero, orange above: distinguishable for colour-blind
/// people.
QColor differenceColour(double place)
{
    static const QColor kBelow(33, 102, 172), kAbove(217, 95, 2);
    const QColor middle = theme().dark ? QColor(58, 60, 66) : QColor(245, 245, 245);
    const double away = std::abs(place - 0.5) * 2;
    const QColor& end = place < 0.5 ? kBelow : kAbove;
    const auto mixed
        = [&](int from, int to) { return int(std::lround(from + (to - from) * away)); };
    return {mixed(middle.red(), end.red()), mixed(middle.green(), end.green()),
            mixed(middle.blue(), end.blue())};
}

std::vector<float> differences(const std::vector<float>& floating,
                               const std::vector<float>& converted)
{
    std::vector<float> out(floating.size());
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = converted[i] - floating[i];
    return out;
}

double largest(const std::vector<float>& values)
{
    double most = 0;
    for (const float value : values)
        if (std::isfinite(value))
            most = std::max(most, std::abs(double(value)));
    return most;
}

/// Converts [channels, rows, columns] to a grey or RGB image.
QImage imageOf(const SampleValues& values, const std::vector<float>& numbers, double low,
               double high)
{
    const int rows = int(values.rows), columns = int(values.columns);
    const std::size_t plane = std::size_t(rows) * std::size_t(columns);
    QImage image(columns, rows, QImage::Format_RGB32);
    const double width = high > low ? high - low : 1;
    const auto level = [&](std::size_t channel, std::size_t at) {
        const std::size_t from = values.planes == 3 ? channel * plane : 0;
        const double share = std::clamp((double(numbers[from + at]) - low) / width, 0.0, 1.0);
        return int(std::lround(share * 255));
    };
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column) {
            const std::size_t at = std::size_t(row) * std::size_t(columns) + std::size_t(column);
            image.setPixel(column, row, qRgb(level(0, at), level(1, at), level(2, at)));
        }
    return image;
}

} // namespace

SampleView::SampleView(QWidget* parent)
    : QWidget(parent)
    , m_maps {new HeatMap(QStringLiteral("float"), this), new HeatMap(tr("converted"), this),
              new HeatMap(tr("difference"), this)}
{
    setObjectName(QStringLiteral("sampleView"));
    auto* row = makeHBox(this, {}, px(8));
    const char* const names[] = {"mapFloat", "mapConverted", "mapDifference"};
    for (std::size_t i = 0; i < m_maps.size(); ++i) {
        HeatMap* map = m_maps[i];
        map->setObjectName(QString::fromLatin1(names[i]));
        row->addWidget(map, 1);
        connect(map, &HeatMap::cellPointed, this, &SampleView::point);
        connect(map, &HeatMap::seenChanged, this, [this, map](const QRectF& cells) {
            for (HeatMap* other : m_maps)
                if (other != map)
                    other->setSeen(cells);
        });
    }
}

bool SampleView::isImage(const SampleValues& values)
{
    return values.shape.size() == 3 && values.channelAxis == 0
        && (values.shape[0] == 1 || values.shape[0] == 3) && values.isWhole()
        && values.rows * values.columns > 1;
}

void SampleView::show(const SampleValuesPtr& values, std::int64_t plane, bool asImage, bool isFaded)
{
    m_values = values;
    m_plane = plane;
    m_asImage = asImage && values && isImage(*values);
    const bool isHere = values && plane >= values->firstPlane
        && plane < values->firstPlane + values->planes && values->rows * values->columns > 0;
    if (!isHere)
        for (HeatMap* map : m_maps)
            map->setContent({});
    else if (m_asImage)
        showImage();
    else
        showPlane(std::size_t(plane - values->firstPlane));
    setGraphicsEffect(nullptr);
    if (isFaded) {
        auto* faded = new QGraphicsOpacityEffect(this);
        faded->setOpacity(0.45);
        setGraphicsEffect(faded);
    }
}

void SampleView::showPlane(std::size_t at)
{
    const std::size_t size = std::size_t(m_values->rows * m_values->columns);
    const auto plane = [&](const std::vector<float>& all) {
        const auto begin = all.begin() + std::ptrdiff_t(at * size);
        return std::vector<float>(begin, begin + std::ptrdiff_t(size));
    };
    std::vector<float> floating = plane(m_values->floating), converted = plane(m_values->converted);
    int rows = int(m_values->rows);
    m_columns = int(m_values->columns);
    if (rows == 1 && m_columns > kLongestLine) {
        m_columns = int(std::max(std::ceil(std::sqrt(double(size) * 1.5)), 1.0));
        rows = int((size + std::size_t(m_columns) - 1) / std::size_t(m_columns));
    }
    std::vector<float> difference = differences(floating, converted);
    const auto [low, high] = rangeOf(floating, converted);
    const double most = largest(difference);
    const auto show = [&](HeatMap& map, std::vector<float> values, double from, double to,
                          QColor (*colour)(double)) {
        HeatMap::Content content;
        content.rows = rows;
        content.columns = m_columns;
        content.values = std::move(values);
        content.low = from;
        content.high = to;
        content.colour = colour;
        map.setContent(std::move(content));
    };
    show(*m_maps[0], std::move(floating), low, high, cividis);
    show(*m_maps[1], std::move(converted), low, high, cividis);
    show(*m_maps[2], std::move(difference), -most, most, differenceColour);
}

void SampleView::showImage()
{
    const auto [low, high] = rangeOf(m_values->floating, m_values->converted);
    const std::vector<float> difference = differences(m_values->floating, m_values->converted);
    const double most = largest(difference);
    m_columns = int(m_values->columns);
    const auto show = [&](HeatMap& map, const std::vector<float>& values, double from, double to) {
        HeatMap::Content content;
        content.rows = int(m_values->rows);
        content.columns = m_columns;
        content.low = from;
        content.high = to;
        content.image = imageOf(*m_values, values, from, to);
        map.setContent(std::move(content));
    };
    show(*m_maps[0], m_values->floating, low, high);
    show(*m_maps[1], m_values->converted, low, high);
    show(*m_maps[2], difference, -most, most);
}

QString SampleView::placeText(const QPoint& cell) const
{
    if (m_values->shape.size() < 2)
        return QStringLiteral("[%1]").arg(cell.y() * m_columns + cell.x() + m_values->firstColumn);
    return QStringLiteral("[%1, %2]")
        .arg(cell.y() + m_values->firstRow)
        .arg(cell.x() + m_values->firstColumn);
}

void SampleView::point(const QPoint& cell)
{
    for (HeatMap* map : m_maps)
        map->setMarked(cell);
    const std::size_t plane = m_values ? std::size_t(m_values->rows * m_values->columns) : 0;
    const std::size_t at = std::size_t(cell.y()) * std::size_t(m_columns) + std::size_t(cell.x());
    if (cell.x() < 0 || at >= plane) {
        Q_EMIT pointed({});
        return;
    }
    QStringList parts;
    const std::int64_t first = m_asImage ? 0 : m_plane - m_values->firstPlane;
    for (std::int64_t p = first; p < (m_asImage ? m_values->planes : first + 1); ++p) {
        const std::size_t place = std::size_t(p) * plane + at;
        const double y = double(m_values->floating[place]);
        const double made = double(m_values->converted[place]);
        parts << tr("float %1 · converted %2 · difference %3")
                     .arg(y, 0, 'g', 6)
                     .arg(made, 0, 'g', 6)
                     .arg(made - y, 0, 'g', 3);
    }
    const QString text = placeText(cell) + QStringLiteral("  ") + parts.join(QStringLiteral(" | "));
    Q_EMIT pointed(text);
    if (underMouse())
        QToolTip::showText(QCursor::pos(), text, this);
}

} // namespace qs
