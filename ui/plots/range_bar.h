// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/convert/ranges/value_alternatives.h"
#endif

#include <QStringList>
#include <QWidget>

#include <vector>

class QComboBox;
class QGridLayout;
class QPushButton;

namespace qs {

class ElidedLabel;
class RangeTrial;

/// The loss of the range on trial, with buttons to apply or reset it. GUI thread only.
class RangeBar : public QWidget
{
    Q_OBJECT

public:
    explicit RangeBar(QWidget* parent);
    void show(const RangeTrial& trial);
    /// Shows the loss of the model's worst output; "" if unknown.
    void showEffect(const QString& text);
    void setSnaps(const std::vector<Alternative>& snaps);
    void setApplicable(bool applicable) { m_applicable = applicable; }

Q_SIGNALS:
    void applyWanted();
    void backWanted();
    /// `index`: into the argument of `setSnaps`.
    void snapWanted(int index);

private:
    QGridLayout* m_grid;
    ElidedLabel* m_text;
    ElidedLabel* m_effect; ///< below it
    QComboBox* m_snap;
    QPushButton* m_apply;
    QPushButton* m_back;
    QStringList m_names; ///< of the methods in `m_snap`
    bool m_applicable = true;
    bool m_isAlone = false; ///< the text has a separate line
};

} // namespace qs
