// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTreeWidget>

namespace qs {

class ShownCauses;

/// The causes in words with their shares; below each the places that have it, with the evidence.
/// The current row is the chosen cause. GUI thread only.
class CauseList : public QTreeWidget
{
    Q_OBJECT

public:
    CauseList(ShownCauses& causes, QWidget* parent);

private:
    void refresh();
    void showChosen();

    ShownCauses& m_causes;
};

} // namespace qs
