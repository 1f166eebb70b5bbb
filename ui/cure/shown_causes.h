// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/blame/blame.h"
#include "engine/blame/causes/cause.h"
#endif

#include <QObject>
#include <QString>

#include <vector>

namespace qs {

class Workspace;

/// The causes with one code: a part of the outputs' noise.
struct CauseGroup
{
    CauseCode code = CauseCode::Unexplained;
    double share = 0; ///< sum over its causes
    std::vector<std::size_t> causes; ///< indices, greatest share first
};

/// The causes that the Cure page shows: of the document's diagnosis, else of the search for cures;
/// and the chosen ones, which its views share. A choice selects the nodes in the graph.
/// GUI thread only.
class ShownCauses : public QObject
{
    Q_OBJECT

public:
    enum class State
    {
        NoModel,
        Uncalibrated,
        NotSearched,
        Searching,
        Healthy, ///< no quantizer makes enough noise to diagnose
        Found
    };

    ShownCauses(Workspace& workspace, QObject* parent);

    State state() const { return m_state; }
    /// One sentence on the state; empty if causes were found.
    QString stateText() const;
    const std::vector<Cause>& causes() const { return m_causes; }
    /// Greatest share first.
    const std::vector<CauseGroup>& groups() const { return m_groups; }
    /// The share of quantizers that have no cause.
    double rest() const;
    /// Noise over signal of the outputs that the shares are parts of.
    double noise() const { return m_blame ? m_blame->measured : 0; }
    /// Why the causes belong to other decisions; empty if they are current.
    QString staleReason() const;
    NodeId nodeOf(std::size_t cause) const;
    QString titleOf(std::size_t cause) const;
    /// Sentences with figures, with the displayed names of nodes.
    QStringList evidenceOf(std::size_t cause) const;

    /// Indices of the chosen causes.
    const std::vector<std::size_t>& chosen() const { return m_chosen; }
    /// Chooses the causes and selects their nodes.
    void choose(std::vector<std::size_t> causes);

Q_SIGNALS:
    /// Causes or state changed.
    void changed();
    /// The causes are others: they were searched again.
    void renewed();
    void chosenChanged();
    /// Nodes were selected: bring them into view.
    void revealWanted();

private:
    void refresh();
    State currentState() const;
    void group();

    Workspace& m_workspace;
    State m_state = State::NoModel;
    BlamePtr m_blame; ///< of `m_causes`
    int m_modelNumber = 0; ///< of the model that the causes belong to
    bool m_isDiagnosis = false; ///< the causes are a diagnosis's
    bool m_isOfOtherGraph = false; ///< the causes were found in an earlier graph of the model
    QString m_shown; ///< text of the last change that was announced
    std::vector<Cause> m_causes;
    std::vector<CauseGroup> m_groups;
    std::vector<std::size_t> m_chosen;
};

/// "outlier channel": the cause in two words.
QString causeShort(CauseCode code);

} // namespace qs
