// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "ui/session/search/style_rules.h"
#endif

#include "ui/models/table_model.h"

namespace qs {

/// The style rules as editable rows. Every edit takes effect at once. GUI thread only.
class StyleRuleModel : public TableModel
{
    Q_OBJECT

public:
    enum Column
    {
        Query,
        Colour,
        Label,
        Detail,
        Matches
    };

    explicit StyleRuleModel(StyleRules& rules, QObject* parent = nullptr);

    /// Adds a rule at the end; returns its row.
    int add(const QString& query, const QString& colour);
    void remove(int row);
    /// Swaps a rule with the previous (-1) or the next (+1) one. Returns its new row.
    int move(int row, int by);

    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

protected:
    std::size_t rows() const override { return m_rules.rules().size(); }
    /// The cell as editable text.
    QVariant cell(int row, int column) const override;

private:
    void refresh();
    /// Sets rules after rows were added, removed or moved; the caller emits the model's signals.
    void restructure(std::vector<StyleRule> rules);

    StyleRules& m_rules;
    bool m_restructuring = false;
};

/// A colour to choose for a rule.
struct NamedColour
{
    const char* name; ///< displayed name, to be translated
    const char* code; ///< "#0072b2"
};
/// Returns eight colours that colour-blind people can distinguish (Okabe and Ito).
const std::vector<NamedColour>& ruleColours();

} // namespace qs
