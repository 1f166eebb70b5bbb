// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/values/value_inspection.h"
#endif

#include "ui/models/table_model.h"

#include <optional>

namespace qs {

/// One list of an inspection: the channels of the value, those of one of its weights, or the
/// samples. `kBarRole`: the noise relative to the noisiest row's, 0 to 1. GUI thread only.
class InspectionTable : public TableModel
{
    Q_OBJECT

public:
    enum class List
    {
        Channels,
        Weight,
        Samples
    };
    enum class Field
    {
        Result,
        Channel,
        Sample,
        Db,
        Share,
        Mse,
        MaxAbs,
        Low,
        High,
        Scale,
        Outlier
    };
    static constexpr int kBarRole = Qt::UserRole + 1;

    explicit InspectionTable(QObject* parent = nullptr);

    /// Shows a list. `weight`: index of the weight for `List::Weight`. A null inspection empties
    /// the table.
    void show(ValueInspectionPtr inspection, List list, std::size_t weight = 0);
    List list() const { return m_list; }
    /// The sample of a row; below: the channel of a row.
    std::int64_t sampleOf(int row) const { return row; }
    const ChannelError* channelOf(int row) const;

    QVariant data(const QModelIndex& index, int role) const override;

protected:
    std::size_t rows() const override;
    QVariant cell(int row, int column) const override;

private:
    const std::vector<ChannelError>& channels() const;
    double noise(int row) const;
    double share(int row) const;

    ValueInspectionPtr m_inspection;
    List m_list = List::Channels;
    std::size_t m_weight = 0;
    std::vector<Field> m_fields; ///< by column
    double m_noise = 0, m_mostNoise = 0; ///< total, and of the noisiest row
};

} // namespace qs
