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
    enum class Wanted
    {
        Inspection, ///< of the value over all data
        InspectionAndSample
    };
    /// `owner`: names the jobs; different for each object.
    ValueInspections(Workspace& workspace, const QString& owner, Wanted wanted,
                     QObject* parent = nullptr);

    /// Requests are sent to the engine only while watched.
    void setWatched(bool watched);
    /// Sets the inspected node or model output; nothing: none.
    void setTarget(const std::optional<InspectionTarget>& target);
    void setSample(std::int64_t sample);
    /// Sets the result, and a plane that the read part must contain.
    void setPart(std::size_t result, std::int64_t plane);

    const std::optional<InspectionTarget>& target() const { return m_target; }
    std::int64_t sample() const { return m_sample; }
    /// Null until it is computed; of older decisions if `isStale`.
    const ValueInspectionPtr& inspection() const { return m_inspection; }
    /// The values of the requested sample; those of the previous one while it is computed.
    const SampleValuesPtr& values() const { return m_values; }
    bool isStale() const;
    /// True if the float side of requests is the model before its edits.
    bool isAgainstOriginal() const;
    bool isRunning() const;
    /// Text on missing, running or failed requests; empty if everything is computed.
    QString note() const;

Q_SIGNALS:
    void changed();

private:
    /// The key of a request with the current decisions; empty if the conversion is stale.
    Key keyNow() const;
    Key valuesKey(const Key& decisions) const;
    void update();
    void askInspection(const Key& key);
    void askValues(const Key& decisions, const Key& key);
    void drop();
    void cancel();

    Workspace& m_workspace;
    QString m_inspectionTag, m_sampleTag; ///< of the jobs
    bool m_wantsValues;
    bool m_isOver = false; ///< the workspace was destroyed before this
    bool m_watched = false;
    std::optional<InspectionTarget> m_target;
    std::int64_t m_sample = 0;
    ValuePart m_part;
    ValueInspectionPtr m_inspection;
    SampleValuesPtr m_values;
    Key m_inspectionKey,
        m_valuesKey; ///< of the decisions; of all inputs of the values
    Key m_valuesDecisions;
    Key m_askedInspection, m_askedValues; ///< running or failed requests
    QString m_failure;
    double m_fraction = 0;
};

} // namespace qs
