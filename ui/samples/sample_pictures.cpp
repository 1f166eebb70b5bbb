// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/samples/sample_pictures.h"

#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"

#include <QStringList>
#include <QTimer>

#include <algorithm>

namespace qs {

namespace {

const QString kPictureTag = QStringLiteral("samplePictures");

QString inputText(const SampleInput& input)
{
    QStringList sizes;
    for (const std::int64_t size : input.shape)
        sizes << QString::number(size);
    return QStringLiteral("%1 [%2]").arg(toQString(input.name), sizes.join(QStringLiteral(", ")));
}

} // namespace

SamplePictures::SamplePictures(Workspace& workspace, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_start(new QTimer(this))
{
    m_start->setSingleShot(true);
    connect(m_start, &QTimer::timeout, this, &SamplePictures::readWanted);
}

void SamplePictures::setSource(SampleInputsRequest source, int side)
{
    const bool isSame = source.model == m_source.model && source.settings == m_source.settings
        && source.recipe.calibration == m_source.recipe.calibration && side == m_side;
    m_source = std::move(source);
    m_side = side;
    if (isSame)
        return;
    ++m_number;
    m_workspace.pipeline().jobs().cancel(kPictureTag);
    m_isReading = false;
    m_known.clear();
    m_wanted.clear();
}

const QImage* SamplePictures::ask(std::int64_t sample)
{
    if (const auto known = m_known.find(sample); known != m_known.end())
        return known->second.image.isNull() ? nullptr : &known->second.image;
    if (!m_source.model || m_source.settings.compared().empty())
        return nullptr;
    if (std::find(m_wanted.begin(), m_wanted.end(), sample) == m_wanted.end())
        m_wanted.push_back(sample);
    if (!m_isReading)
        m_start->start(0);
    return nullptr;
}

QString SamplePictures::textOf(std::int64_t sample) const
{
    const auto known = m_known.find(sample);
    return known == m_known.end() ? QString() : known->second.text;
}

SamplePictures::Pictures SamplePictures::read(EngineService& engine,
                                              const SampleInputsRequest& request, int side,
                                              const PictureColours& colours, const JobContext& job)
{
    Pictures pictures;
    const auto inputs = engine.sampleInputs(request, job);
    if (inputs)
        for (const SampleInput& input : *inputs)
            pictures[input.sample] = {pictureOf(input, side, colours), inputText(input)};
    else if (inputs.error().code != ErrorCode::Cancelled)
        for (const std::int64_t sample : request.samples)
            pictures[sample] = {QImage(), toQString(inputs.error().line())};
    return pictures;
}

void SamplePictures::readWanted()
{
    if (m_wanted.empty() || m_isReading)
        return;
    m_isReading = true;
    SampleInputsRequest request = m_source;
    request.samples = std::exchange(m_wanted, {});
    auto& engine = m_workspace.pipeline().engine();
    m_workspace.pipeline().jobs().run(
        Lane::Pool, kPictureTag,
        [&engine, request = std::move(request), side = m_side,
         colours = PictureColours {theme().canvas, theme().accent, theme().dark}](JobContext& job) {
            return read(engine, request, side, colours, job);
        },
        this,
        [this, number = m_number](Pictures drawn) {
            if (number != m_number)
                return;
            m_isReading = false;
            m_known.merge(drawn);
            Q_EMIT arrived();
            readWanted();
        });
}

} // namespace qs
