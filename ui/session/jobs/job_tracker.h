// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QHash>
#include <QString>

namespace qs {

/// Numbers jobs and reports whether a job is still the newest of its tag: results of older jobs are
/// dropped. GUI thread only.
class JobTracker
{
public:
    quint64 begin(const QString& tag) { return m_newest[tag] = ++m_last; }
    bool isCurrent(const QString& tag, quint64 job) const { return m_newest.value(tag) == job; }
    void forget(const QString& tag) { m_newest.remove(tag); }

private:
    QHash<QString, quint64> m_newest;
    quint64 m_last = 0;
};

} // namespace qs
