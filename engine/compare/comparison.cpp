// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/comparison.h"

#include "engine/convert/form_errors.h"

#include <algorithm>

namespace qs {

double FormDeparture::gainDb() const
{
    return referenceDb && loweredDb ? *loweredDb - *referenceDb : 0;
}

bool FormDeparture::isGap() const
{
    return referenceDb && loweredDb
        && (losesMore({*referenceDb, *loweredDb, steps.count})
            || losesMore({*loweredDb, *referenceDb, steps.count}));
}

const NodeError* Comparison::tryGet(NodeId id) const
{
    const auto it = std::find_if(nodes.begin(), nodes.end(),
                                 [&](const NodeError& error) { return error.node == id; });
    return it == nodes.end() ? nullptr : &*it;
}

StepCounts Comparison::departed() const
{
    StepCounts all;
    for (const FormDeparture& departure : departures)
        all.add(departure.steps);
    return all;
}

namespace {

template<class Holds>
const FormDeparture* firstOf(const std::vector<FormDeparture>& departures, Holds holds)
{
    const auto it = std::find_if(departures.begin(), departures.end(), holds);
    return it == departures.end() ? nullptr : &*it;
}

} // namespace

const FormDeparture* Comparison::parting() const
{
    return firstOf(departures, [](const FormDeparture& d) { return d.steps.largest > 1; });
}

const FormDeparture* Comparison::gap() const
{
    return firstOf(departures, [](const FormDeparture& d) { return d.isGap(); });
}

} // namespace qs
