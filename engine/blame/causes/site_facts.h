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

/// What the rows of the table of causes ask of a site. Borrows the parts.
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
    /// Whether a stored tensor of floats holds a number of this magnitude.
    bool holdsHuge(const Node& stored, double magnitude) const;
    const NodePlan* decided(NodeId node) const { return plan().tryGet(model(), node); }
    /// Whether the node is quantized: its readers read integers.
    bool isQuantized(NodeId node) const;
    /// Where its value shares an observer at a cost; null where it does not.
    const SharedRange* shared(const BlameSite& site) const;
    /// The share of all sites that add noise to what this operator reads.
    double shareInto(NodeId node) const;

    /// The words for a node in a cure; of none where it has no address.
    ValueAddress address(NodeId node) const;
    /// A cure of that kind at the node; nothing where it has no address.
    std::optional<Cure> cureAt(CureKind kind, NodeId node) const;
    /// The value is not quantized for those that read it: a layer gives its result as float,
    /// another operator stays float. Where the value is multiplied: all bits first (`allBits`),
    /// then float readers.
    std::vector<Proposal> withoutQuantizer(const BlameSite& site) const;
    /// All eight bits where seven are used and this machine's kernels take eight.
    std::vector<Proposal> allBits(const BlameSite& site) const;
    /// The site's value observed otherwise.
    std::vector<Proposal> otherRange(const BlameSite& site, const ObserverSpec& spec) const;

private:
    std::vector<Proposal> floatReaders(const BlameSite& site) const;

    const DiagnosisParts& m_parts;
    Addresses m_addresses;
    std::vector<SharedRange> m_sharedRanges;
};

/// The observer with all steps of its byte, where it uses at most half of them ("reduce_range");
/// nothing for any other.
std::optional<ObserverSpec> withAllBits(const ObserverSpec& spec);

} // namespace qs
