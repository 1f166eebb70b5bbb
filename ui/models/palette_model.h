// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractListModel>
#include <QString>

#include <functional>
#include <vector>

namespace qs {

/// An item of the command palette.
struct PaletteItem
{
    QString text; ///< "Run: Calibrate…"
    QString detail; ///< its effect in one sentence
    QString keys; ///< "Ctrl+B"; may be empty
    bool enabled = true;
    std::function<void()> run;
};

/// Commands ordered by their fit to the typed pattern; disabled ones come last. GUI thread only.
class PaletteModel : public QAbstractListModel
{
    Q_OBJECT

public:
    enum Role
    {
        KeysRole = Qt::UserRole,
        DetailRole
    };

    using QAbstractListModel::QAbstractListModel;
    void setItems(std::vector<PaletteItem> items);
    void setPattern(const QString& pattern);
    /// The row must exist.
    const PaletteItem& item(int row) const { return m_items[m_rows[std::size_t(row)]]; }

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

private:
    std::vector<PaletteItem> m_items;
    std::vector<std::size_t> m_rows; ///< into `m_items`, best first
};

} // namespace qs
