// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/base/job_context.h"
#include "engine/base/key.h"
#include "engine/values/value_inspection.h"
#endif

#include <QObject>

#include <optional>

namespace qs {

class Workspace;

/// Inspects a value over all data, and one sample's values, on the engine's lane while watched. A
/// newer request cancels the older one; so does a stage of the pipeline, which has priority. Both
/// results are stored with the key of their decisions. GUI thread only.
class ValueInspections : public QObject
{
    Q_OBJECT

public:
    explicit ValueInspections(Workspace& workspace, QObject* parent = nullptr);

    /// Asks the engine for nothing while not watched.
    void setWatched(bool watched);
    /// A node, or an output of the model; none: nothing.
    void setTarget(const std::optional<InspectionTarget>& target);
    void setSample(std::int64_t sample);
    /// The result, and a plane that the part must hold.
    void setPart(std::size_t result, std::int64_t plane);

    const std::optional<InspectionTarget>& target() const { return m_target; }
    std::int64_t sample() const { return m_sample; }
    /// Null until it is there; of older decisions where `isStale`.
    const ValueInspectionPtr& inspection() const { return m_inspection; }
    /// Of the sample that is wanted, or of the one before while that is under way.
    const SampleValuesPtr& values() const { return m_values; }
    bool isStale() const;
    /// What is asked now has the model before its edits as its float side.
    bool isAgainstOriginal() const;
    bool isRunning() const;
    /// What is missing, under way or wrong; empty where all is there.
    QString note() const;

Q_SIGNALS:
    void changed();

private:
    /// What would be asked now; empty where the conversion is not of the decisions as they stand.
    Key keyNow() const;
    Key valuesKey(const Key& decisions) const;
    void update();
    void askInspection(const Key& key);
    void askValues(const Key& decisions, const Key& key);
    void drop();
    void cancel();

    Workspace& m_workspace;
    bool m_isOver = false; ///< the workspace went before the page that shows this
    bool m_watched = false;
    std::optional<InspectionTarget> m_target;
    std::int64_t m_sample = 0;
    ValuePart m_part;
    ValueInspectionPtr m_inspection;
    SampleValuesPtr m_values;
    Key m_inspectionKey,
        m_valuesKey; ///< decisions of the inspection; all that the values depend on
    Key m_valuesDecisions;
    Key m_askedInspection, m_askedValues; ///< under way, or failed
    QString m_failure;
    double m_fraction = 0;
};

} // namespace qs
