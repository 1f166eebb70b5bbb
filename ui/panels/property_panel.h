// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/base/strong_id.h"
#endif

#include <QWidget>

#include <functional>

class QLabel;
class QScrollArea;

namespace qs {

class AlternativesCard;
class Card;
class EdgeCard;
class EdgeListCard;
class ElidedLabel;
class CauseCard;
class InteriorCard;
class ModuleCard;
class QConfigEditor;
class ValuesCard;
class WhyCard;
class Workspace;
struct Node;
struct NodeError;
enum class ErrorTerm;

/// The right-hand panel: the selection, its quantization and the reason, its errors, arguments and
/// interior values. GUI thread only.
class PropertyPanel : public QWidget
{
    Q_OBJECT

public:
    explicit PropertyPanel(Workspace& workspace, QWidget* parent = nullptr);
    QConfigEditor& editor() { return *m_editor; }

Q_SIGNALS:
    /// The user asks to apply the plan's suggestion for the node.
    void suggestionTaken(qs::NodeId node);

private:
    void refresh();
    /// Runs `fill`, which fills cards, and then lays out all cards once.
    void arrange(const std::function<void()>& fill);
    void fill();
    void showHeader();
    void showLoss();
    /// For the whole model: the error of each output.
    void showOutputs();
    const NodeError* onlyError() const;
    QString lossText(double sqnr, ErrorTerm term) const;
    void noteSamples();
    void noteOrigin();
    void showArguments();

    Workspace& m_workspace;
    ElidedLabel* m_title;
    QLabel* m_id;
    ElidedLabel* m_subtitle;
    QScrollArea* m_scroll;
    QWidget* m_cards; ///< in `m_scroll`
    QLabel* m_empty;
    Card* m_quantization;
    QConfigEditor* m_editor;
    WhyCard* m_why;
    Card* m_loss;
    EdgeCard* m_edge; ///< in place of all others, for an inspected edge
    EdgeListCard* m_edges;
    AlternativesCard* m_alternatives;
    InteriorCard* m_interior;
    CauseCard* m_cause;
    ModuleCard* m_contents;
    Card* m_arguments;
    ValuesCard* m_values;
};

} // namespace qs
