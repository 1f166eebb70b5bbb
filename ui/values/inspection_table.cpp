// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/values/inspection_table.h"

#include "ui/session/text.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

QString outlierWord(const ChannelError& channel)
{
    if (channel.isWide && channel.isNoisy)
        return QObject::tr("wide, noisy");
    return channel.isWide ? QObject::tr("wide")
        : channel.isNoisy ? QObject::tr("noisy")
                          : QString();
}

QVariant dbVariant(const std::optional<double>& db)
{
    return db ? QVariant(*db) : QVariant();
}

QVariant channelValue(const ChannelError& channel, InspectionTable::Field field)
{
    switch (field) {
    case InspectionTable::Field::Result:
        return double(channel.result);
    case InspectionTable::Field::Channel:
        return double(channel.channel);
    case InspectionTable::Field::Db:
        return dbVariant(channel.sqnrDb);
    case InspectionTable::Field::Mse:
        return channel.mse;
    case InspectionTable::Field::MaxAbs:
        return channel.maxAbs;
    case InspectionTable::Field::Low:
        return channel.low;
    case InspectionTable::Field::High:
        return channel.high;
    case InspectionTable::Field::Scale:
        return channel.scale > 0 ? QVariant(channel.scale) : QVariant();
    case InspectionTable::Field::Outlier:
        return outlierWord(channel);
    default:
        return {};
    }
}

QVariant sampleValue(const SampleError& sample, std::int64_t index, InspectionTable::Field field)
{
    switch (field) {
    case InspectionTable::Field::Sample:
        return double(index);
    case InspectionTable::Field::Db:
        return dbVariant(sample.sqnrDb);
    case InspectionTable::Field::MaxAbs:
        return sample.maxAbs;
    default:
        return {};
    }
}

} // namespace

struct InspectionTable::Column
{
    Field field;
    const char* title;
    const char* hint;
};

InspectionTable::InspectionTable(QObject* parent)
    : QAbstractTableModel(parent)
{
}

const std::vector<InspectionTable::Column>& InspectionTable::columnsOf(List list)
{
    static const Column kDb {Field::Db, QT_TR_NOOP("dB"),
                             QT_TR_NOOP("Signal to quantization noise")};
    static const Column kShare {Field::Share, QT_TR_NOOP("of the noise"),
                                QT_TR_NOOP("Its share of all the noise")};
    static const Column kMax {Field::MaxAbs, QT_TR_NOOP("max error"),
                              QT_TR_NOOP("The largest difference")};
    static const Column kOutlier {
        Field::Outlier, QT_TR_NOOP("outlier"),
        QT_TR_NOOP("wide: its largest value is four times the median channel's or more; noisy: it "
                   "holds four times its fair share of the noise")};
    static const Column kChannel {Field::Channel, QT_TR_NOOP("channel"),
                                  QT_TR_NOOP("Index along the channels' axis")};
    static const Column kMse {Field::Mse, QT_TR_NOOP("MSE"),
                              QT_TR_NOOP("Mean square of the difference")};
    static const Column kLow {Field::Low, QT_TR_NOOP("min"), QT_TR_NOOP("Least float value")};
    static const Column kHigh {Field::High, QT_TR_NOOP("max"), QT_TR_NOOP("Greatest float value")};
    static const Column kResult {Field::Result, QT_TR_NOOP("result"),
                                 QT_TR_NOOP("Which of the node's results")};
    static const Column kScale {Field::Scale, QT_TR_NOOP("scale"),
                                QT_TR_NOOP("The step between two integers")};
    static const Column kSample {Field::Sample, QT_TR_NOOP("sample"),
                                 QT_TR_NOOP("Its place in the data, from 0")};
    static const std::vector<Column> kChannels {kChannel, kDb,  kShare, kOutlier, kMse,
                                                kMax,     kLow, kHigh,  kResult};
    static const std::vector<Column> kWeight {kChannel, kDb,  kShare, kOutlier, kMse,
                                              kMax,     kLow, kHigh,  kScale};
    static const std::vector<Column> kSamples {kSample, kDb, kShare, kMax};
    switch (list) {
    case List::Channels:
        return kChannels;
    case List::Weight:
        return kWeight;
    default:
        return kSamples;
    }
}

const std::vector<ChannelError>& InspectionTable::channels() const
{
    static const std::vector<ChannelError> kNone;
    if (!m_inspection)
        return kNone;
    if (m_list == List::Channels)
        return m_inspection->channels;
    return m_weight < m_inspection->weights.size() ? m_inspection->weights[m_weight].channels
                                                   : kNone;
}

void InspectionTable::show(ValueInspectionPtr inspection, List list, std::size_t weight)
{
    if (inspection == m_inspection && list == m_list && weight == m_weight)
        return;
    beginResetModel();
    m_inspection = std::move(inspection);
    m_list = list;
    m_weight = weight;
    m_noise = m_mostNoise = 0;
    for (int row = 0; row < rowCount(); ++row) {
        m_noise += noise(row);
        m_mostNoise = std::max(m_mostNoise, noise(row));
    }
    endResetModel();
}

const ChannelError* InspectionTable::channelOf(int row) const
{
    return m_list == List::Samples ? nullptr : &channels()[std::size_t(row)];
}

int InspectionTable::rowCount(const QModelIndex& parent) const
{
    if (parent.isValid() || !m_inspection)
        return 0;
    return int(m_list == List::Samples ? m_inspection->samples.size() : channels().size());
}

int InspectionTable::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(columnsOf(m_list).size());
}

double InspectionTable::noise(int row) const
{
    return m_list == List::Samples ? m_inspection->samples[std::size_t(row)].noise
                                   : channels()[std::size_t(row)].noise;
}

double InspectionTable::share(int row) const
{
    return m_noise > 0 && std::isfinite(m_noise) ? noise(row) / m_noise : 0;
}

QVariant InspectionTable::value(int row, const Column& column) const
{
    if (column.field == InspectionTable::Field::Share)
        return share(row);
    return m_list == List::Samples
        ? sampleValue(m_inspection->samples[std::size_t(row)], row, column.field)
        : channelValue(channels()[std::size_t(row)], column.field);
}

QVariant InspectionTable::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const Column& column = columnsOf(m_list)[std::size_t(index.column())];
    if (role == kBarRole)
        return column.field == InspectionTable::Field::Share && m_mostNoise > 0
                && std::isfinite(m_mostNoise)
            ? QVariant(noise(index.row()) / m_mostNoise)
            : QVariant();
    if (role == Qt::TextAlignmentRole)
        return int(
            (column.field == InspectionTable::Field::Outlier ? Qt::AlignLeft : Qt::AlignRight)
            | Qt::AlignVCenter);
    const QVariant found = value(index.row(), column);
    if (role == Qt::UserRole || !found.isValid() || found.typeId() != QMetaType::Double)
        return role == Qt::UserRole || role == Qt::DisplayRole || role == Qt::ToolTipRole
            ? found
            : QVariant();
    const double number = found.toDouble();
    if (role == Qt::ToolTipRole)
        return QString::number(number, 'g', 17);
    if (role != Qt::DisplayRole)
        return {};
    switch (column.field) {
    case InspectionTable::Field::Result:
    case InspectionTable::Field::Channel:
    case InspectionTable::Field::Sample:
        return QString::number(number, 'f', 0);
    case InspectionTable::Field::Db:
        return shownSqnr(number, "");
    case InspectionTable::Field::Share:
        return QStringLiteral("%1 %").arg(number * 100, 0, 'f', 1);
    default:
        return QString::number(number, 'g', 3);
    }
}

QVariant InspectionTable::headerData(int section, Qt::Orientation orientation, int role) const
{
    const auto& columns = columnsOf(m_list);
    if (orientation != Qt::Horizontal || section < 0 || section >= int(columns.size()))
        return {};
    const Column& column = columns[std::size_t(section)];
    if (role == Qt::DisplayRole)
        return tr(column.title);
    return role == Qt::ToolTipRole ? QVariant(tr(column.hint)) : QVariant();
}

} // namespace qs
