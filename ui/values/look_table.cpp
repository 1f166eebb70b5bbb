// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/values/look_table.h"

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

QVariant channelValue(const ChannelError& channel, LookTable::Field field)
{
    switch (field) {
    case LookTable::Field::Result:
        return double(channel.result);
    case LookTable::Field::Channel:
        return double(channel.channel);
    case LookTable::Field::Db:
        return dbVariant(channel.sqnrDb);
    case LookTable::Field::Mse:
        return channel.mse;
    case LookTable::Field::MaxAbs:
        return channel.maxAbs;
    case LookTable::Field::Low:
        return channel.low;
    case LookTable::Field::High:
        return channel.high;
    case LookTable::Field::Scale:
        return channel.scale > 0 ? QVariant(channel.scale) : QVariant();
    case LookTable::Field::Outlier:
        return outlierWord(channel);
    default:
        return {};
    }
}

QVariant sampleValue(const SampleError& sample, std::int64_t index, LookTable::Field field)
{
    switch (field) {
    case LookTable::Field::Sample:
        return double(index);
    case LookTable::Field::Db:
        return dbVariant(sample.sqnrDb);
    case LookTable::Field::MaxAbs:
        return sample.maxAbs;
    default:
        return {};
    }
}

} // namespace

struct LookTable::Column
{
    Field field;
    const char* title;
    const char* hint;
};

LookTable::LookTable(QObject* parent)
    : QAbstractTableModel(parent)
{
}

const std::vector<LookTable::Column>& LookTable::columnsOf(List list)
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

const std::vector<ChannelError>& LookTable::channels() const
{
    static const std::vector<ChannelError> kNone;
    if (!m_look)
        return kNone;
    if (m_list == List::Channels)
        return m_look->channels;
    return m_weight < m_look->weights.size() ? m_look->weights[m_weight].channels : kNone;
}

void LookTable::show(ValueLookPtr look, List list, std::size_t weight)
{
    if (look == m_look && list == m_list && weight == m_weight)
        return;
    beginResetModel();
    m_look = std::move(look);
    m_list = list;
    m_weight = weight;
    m_noise = m_mostNoise = 0;
    for (int row = 0; row < rowCount(); ++row) {
        m_noise += noise(row);
        m_mostNoise = std::max(m_mostNoise, noise(row));
    }
    endResetModel();
}

const ChannelError* LookTable::channelOf(int row) const
{
    return m_list == List::Samples ? nullptr : &channels()[std::size_t(row)];
}

int LookTable::rowCount(const QModelIndex& parent) const
{
    if (parent.isValid() || !m_look)
        return 0;
    return int(m_list == List::Samples ? m_look->samples.size() : channels().size());
}

int LookTable::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(columnsOf(m_list).size());
}

double LookTable::noise(int row) const
{
    return m_list == List::Samples ? m_look->samples[std::size_t(row)].noise
                                   : channels()[std::size_t(row)].noise;
}

double LookTable::share(int row) const
{
    return m_noise > 0 && std::isfinite(m_noise) ? noise(row) / m_noise : 0;
}

QVariant LookTable::value(int row, const Column& column) const
{
    if (column.field == LookTable::Field::Share)
        return share(row);
    return m_list == List::Samples
        ? sampleValue(m_look->samples[std::size_t(row)], row, column.field)
        : channelValue(channels()[std::size_t(row)], column.field);
}

QVariant LookTable::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const Column& column = columnsOf(m_list)[std::size_t(index.column())];
    if (role == kBarRole)
        return column.field == LookTable::Field::Share && m_mostNoise > 0
                && std::isfinite(m_mostNoise)
            ? QVariant(noise(index.row()) / m_mostNoise)
            : QVariant();
    if (role == Qt::TextAlignmentRole)
        return int((column.field == LookTable::Field::Outlier ? Qt::AlignLeft : Qt::AlignRight)
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
    case LookTable::Field::Result:
    case LookTable::Field::Channel:
    case LookTable::Field::Sample:
        return QString::number(number, 'f', 0);
    case LookTable::Field::Db:
        return shownSqnr(number, "");
    case LookTable::Field::Share:
        return QStringLiteral("%1 %").arg(number * 100, 0, 'f', 1);
    default:
        return QString::number(number, 'g', 3);
    }
}

QVariant LookTable::headerData(int section, Qt::Orientation orientation, int role) const
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
