// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/style/property_cards.h"

#ifndef Q_MOC_RUN
#include "engine/plan/rules/edge_rules.h"
#endif

class QComboBox;

namespace qs {

class Facts;
class QConfigBox;
class Workspace;

/// The inspected edge: the value, its quantization, the rules that reach it and the one that won,
/// the values that share its observer, and a choice of other qconfigs. GUI thread only.
class EdgeCard : public Card
{
    Q_OBJECT

public:
    EdgeCard(Workspace& workspace, QWidget* parent);
    void refresh();

private:
    void showValue(const Edge& edge, const EdgeFacts& facts);
    void showRules(const Edge& edge, const EdgeFacts& facts);
    void showPartners(const Edge& edge);
    void showChoices(const Edge& edge, const EdgeFacts& facts);
    QComboBox* addBox(const QString& label, const char* name, const QString& tip);
    void choose(int index);
    void chooseObserver(const ObserverSpec& spec, const QString& word);

    Workspace& m_workspace;
    QConfigBox* m_qconfig = nullptr; ///< deleted with the rows
    bool m_allReaders = false; ///< a choice applies to all readers
    std::optional<Edge> m_shown;
};

/// Returns "quint8 · 0…127 · histogram"; "from training" in place of the observer if the file's
/// range is kept.
QString specWords(const Facts& facts, const PlannedObserver& observer);

} // namespace qs
