// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/causes/diagnose.h"
#include "engine/convert/ranges/shared_ranges.h"
#include "engine/convert/ranges/value_alternatives.h"
#include "engine/edit/addresses.h"

#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

namespace qs {

/// Facts of sites for the rows of the table of causes. Borrows the parts.
class SiteFacts
{
public:
    explicit SiteFacts(const DiagnosisParts& parts);

    const DiagnosisParts& parts() const { return m_parts; }
    const Graph& model() const { return *m_parts.prepared->model; }
    const Plan& plan() const { return *m_parts.prepared->plan; }
    const PlannedObserver* observer(const BlameSite& site) const;
    /// Statistics of the site's observer; null if it has none.
    const ObserverStats* stats(const BlameSite& site) const;
    /// Statistics of a value of the model; null if it was not observed.
    const ObserverStats* statsOf(ValueRef value) const;
    const QParams* qparams(const BlameSite& site) const;
    /// True if a stored float tensor contains a number of this magnitude.
    bool holdsHuge(const Node& stored, double magnitude) const;
    const NodePlan* decided(NodeId node) const { return plan().tryGet(model(), node); }
    /// True if the node's value is quantized: its consumers read integers.
    bool isQuantized(NodeId node) const;
    /// True if the backend quantizes the operator with ranges that it measures at run time.
    bool takesDynamic(NodeId node) const;
    /// Returns the shared range of the site's value if sharing its observer has a cost, else null.
    const SharedRange* shared(const BlameSite& site) const;
    /// Returns the summed share of all sites that add noise to this operator's operands.
    double shareInto(NodeId node) const;

    /// Returns the node's address for a cure; kind None if it has none.
    ValueAddress address(NodeId node) const;
    /// Returns a cure of that kind at the node; nullopt if the node has no address.
    std::optional<Cure> cureAt(CureKind kind, NodeId node) const;
    /// Returns a cure of that kind at the value; nullopt if the value has no address.
    std::optional<Cure> cureAt(CureKind kind, ValueRef value) const;
    /// Proposes not to quantize the value for its consumers: a layer returns a float result,
    /// another operator stays float. If the value is multiplied: first all bits (`allBits`), then
    /// float consumers.
    std::vector<Proposal> withoutQuantizer(const BlameSite& site) const;
    /// Proposes eight bits if seven are used and this machine's kernels support eight.
    std::vector<Proposal> allBits(const BlameSite& site) const;
    /// Proposes another observer for the site's value.
    std::vector<Proposal> otherRange(const BlameSite& site, const ObserverSpec& spec) const;

private:
    std::vector<Proposal> floatReaders(const BlameSite& site) const;

    const DiagnosisParts& m_parts;
    std::vector<SharedRange> m_sharedRanges;
};

/// Returns the observer with the full integer range if it uses at most half of it ("reduce_range");
/// else nullopt.
std::optional<ObserverSpec> withAllBits(const ObserverSpec& spec);

} // namespace qs
