// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/pipeline/uncured_weights.h"
#endif

#include <QObject>
#include <QString>

#include <map>
#include <optional>
#include <string>

namespace qs {

class Workspace;

/// Ranges of weights without the recipe's cures that change the model, read on a pool thread once
/// for each set of decisions, on request. GUI thread only.
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
    std::optional<std::map<std::string, WeightRanges>> m_known;
    bool m_isReading = false;
};

} // namespace qs
