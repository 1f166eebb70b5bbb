// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/pipeline/uncured_weight.h"
#endif

#include <QObject>
#include <QString>

#include <map>
#include <optional>
#include <string>

namespace qs {

class Workspace;

/// Ranges of weights without the recipe's cures that change the model, read on a pool thread on
/// request and kept until the decisions change. GUI thread only.
class UncuredWeights : public QObject
{
    Q_OBJECT

public:
    explicit UncuredWeights(Workspace& workspace, QObject* parent);
    /// Null without such cures, without such a weight, and until it is read: then `arrived`
    /// follows.
    const WeightRanges* ask(const std::string& node);

Q_SIGNALS:
    void arrived();

private:
    void forget();

    Workspace& m_workspace;
    std::map<std::string, std::optional<WeightRanges>> m_known;
    std::string m_asked; ///< the node that is being read
};

} // namespace qs
