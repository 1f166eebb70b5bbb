// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/decisions/trained_ranges.h"

#include "engine/plan/rules/given_ranges.h"
#include "ui/session/document.h"
#include "ui/session/facts.h"

namespace qs {

bool hasTrainedRange(const Facts& facts, const PlannedObserver* observer)
{
    return observer && facts.model() && givenFor(*facts.model(), *observer);
}

QString trainedRangesText(const Document& document)
{
    if (!document.model() || !document.plan() || givenObservations(*document.model()).empty())
        return {};
    const GivenCount count = countGiven(*document.model(), *document.plan());
    return QObject::tr("%1 of %2").arg(count.used).arg(count.found);
}

} // namespace qs
