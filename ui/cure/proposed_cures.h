// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/blame/causes/cause.h"
#include "ui/session/workspace.h"
#endif

#include <QObject>
#include <QString>

#include <map>
#include <optional>
#include <string>
#include <vector>

class QTimer;

namespace qs {

class ShownCauses;

/// Gain of the outputs' SQNR in dB if this share of their noise were removed, 40 at most: a
/// prediction cannot say more.
double predictedGain(double share);

/// A proposed cure as a list shows it. A value.
struct ProposedCure
{
    Proposal proposal;
    QString text; ///< "keep head · linear float"
    /// Gain of the outputs' SQNR if this cure alone is added.
    double predictedDb = 0;
    bool isMost = false; ///< the prediction assumes that the cure removes all noise of its place
    std::optional<double> measuredDb; ///< gain in a preview; empty if there was none
    QString cost; ///< at run time
    bool isOn = false; ///< the recipe has it
};

/// The cures of the chosen causes, their effect and their state in the recipe. Owns no decision: on
/// is a cure of the document's recipe. GUI thread only.
class ProposedCures : public QObject
{
    Q_OBJECT

public:
    ProposedCures(Workspace& workspace, ShownCauses& causes, QObject* parent);

    const std::vector<ProposedCure>& rows() const { return m_rows; }
    /// Adds the cure to the recipe or removes it, as one undoable step.
    void setOn(std::size_t row, bool on);
    /// Measures the effect of switching the cure, without a decision, if previews are available.
    void tryOut(std::size_t row);
    void stopTrying();

Q_SIGNALS:
    void changed();

private:
    void describe();
    void setCosts();
    void refresh();
    void ask();
    void takeTrial();
    void takePreview();
    void note(const Cure& cure, double gainDb);

    Workspace& m_workspace;
    ShownCauses& m_causes;
    std::vector<ProposedCure> m_rows;
    std::map<std::string, double> m_measured; ///< gain in dB, by the cure's text
    std::optional<std::size_t> m_wanted; ///< row to measure next
    std::optional<Cure> m_tried; ///< the cure that a preview measures now
    bool m_triedOff = false; ///< the preview is without `m_tried`
    QTimer* m_asking; ///< waits until the pointer rests
};

} // namespace qs
