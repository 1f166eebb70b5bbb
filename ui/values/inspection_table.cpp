// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/values/inspection_table.h"

#include "ui/session/text.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

using Field = InspectionTable::Field;

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

QVariant channelValue(const ChannelError& channel, Field field)
{
    switch (field) {
    case Field::Result:
        return double(channel.result);
    case Field::Channel:
        return double(channel.channel);
    case Field::Db:
        return dbVariant(channel.sqnrDb);
    case Field::Mse:
        return channel.mse;
    case Field::MaxAbs:
        return channel.maxAbs;
    case Field::Low:
        return channel.low;
    case Field::High:
        return channel.high;
    case Field::Scale:
        return channel.scale > 0 ? QVariant(channel.scale) : QVariant();
    case Field::Outlier:
        return outlierWord(channel);
    default:
        return {};
    }
}

QVariant sampleValue(const SampleError& sample, std::int64_t index, Field field)
{
    switch (field) {
    case Field::Sample:
        return double(index);
    case Field::Db:
        return dbVariant(sample.sqnrDb);
    case Field::MaxAbs:
        return sample.maxAbs;
    default:
        return {};
    }
}

/// Returns the fields of a list in the order of its columns.
std::vector<Field> fieldsOf(InspectionTable::List list)
{
    if (list == InspectionTable::List::Samples)
        return {Field::Sample, Field::Db, Field::Share, Field::MaxAbs};
    return {Field::Channel,
            Field::Db,
            Field::Share,
            Field::Outlier,
            Field::Mse,
            Field::MaxAbs,
            Field::Low,
            Field::High,
            list == InspectionTable::List::Weight ? Field::Scale : Field::Result};
}

TableColumns columnsOf(InspectionTable::List list)
{
    using Table = InspectionTable;
    using Cells = TableColumn::Cells;
    const TableColumns all {
        // in the order of `Field`
        {Table::tr("result"), Table::tr("Which of the node's results"), Cells::Whole},
        {Table::tr("channel"), Table::tr("Index along the channels' axis"), Cells::Whole},
        {Table::tr("sample"), Table::tr("Its place in the data, from 0"), Cells::Whole},
        {Table::tr("dB"), Table::tr("Signal to quantization noise"), Cells::Decibels},
        {Table::tr("of the noise"), Table::tr("Its share of all the noise"), Cells::Percent},
        {Table::tr("MSE"), Table::tr("Mean square of the difference"), Cells::Number},
        {Table::tr("max error"), Table::tr("The largest difference"), Cells::Number},
        {Table::tr("min"), Table::tr("Least float value"), Cells::Number},
        {Table::tr("max"), Table::tr("Greatest float value"), Cells::Number},
        {Table::tr("scale"), Table::tr("The step between two integers"), Cells::Number},
        {Table::tr("outlier"),
         Table::tr("wide: its largest value is four times the median channel's or more; noisy: it "
                   "holds four times its fair share of the noise")}};
    TableColumns out;
    for (const Field field : fieldsOf(list))
        out.push_back(all[std::size_t(field)]);
    return out;
}

} // namespace

InspectionTable::InspectionTable(QObject* parent)
    : TableModel(columnsOf(List::Channels), parent)
    , m_fields(fieldsOf(List::Channels))
{
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
    m_fields = fieldsOf(list);
    setColumns(columnsOf(list));
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

std::size_t InspectionTable::rows() const
{
    if (!m_inspection)
        return 0;
    return m_list == List::Samples ? m_inspection->samples.size() : channels().size();
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

QVariant InspectionTable::cell(int row, int column) const
{
    const Field field = m_fields[std::size_t(column)];
    if (field == Field::Share)
        return share(row);
    return m_list == List::Samples
        ? sampleValue(m_inspection->samples[std::size_t(row)], row, field)
        : channelValue(channels()[std::size_t(row)], field);
}

QVariant InspectionTable::data(const QModelIndex& index, int role) const
{
    if (role != kBarRole || !index.isValid())
        return TableModel::data(index, role);
    const bool isShare = m_fields[std::size_t(index.column())] == Field::Share;
    return isShare && m_mostNoise > 0 && std::isfinite(m_mostNoise)
        ? QVariant(noise(index.row()) / m_mostNoise)
        : QVariant();
}

} // namespace qs
