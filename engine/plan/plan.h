// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/backend_config.h"
#include "engine/configure/qconfig_mapping.h"
#include "engine/graph/graph.h"
#include "engine/plan/reason/reason.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace qs {

enum class Verdict : std::uint8_t
{
    NotApplicable, ///< inputs, parameters, constants, the output
    Quantized,
    FloatByRule, ///< a rule says keep float, or no rule gives a qconfig
    FloatByBackend, ///< no pattern of the backend, or no dtype config fits
    FloatByConstraint, ///< a range, eps or exact-match constraint is violated
    FloatByKernelCheck, ///< lowering would be wrong; stays in reference form
    Opaque,
    ShapeOnly, ///< not observed: reads sizes or makes no float tensor
    Shared ///< quantized with the observer of its input
};
std::string_view verdictName(Verdict verdict); ///< "quantized", "float by rule", ...

/// A way to quantize a node that was tried and failed.
struct Candidate
{
    int entry = -1; ///< index into Backend::patterns
    std::vector<std::string> pattern; ///< the entry's names in forward order
    std::string text; ///< the first failed requirement, with required and given value
    friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// Advice on a verdict. `applyRemedy` can do one of four: give the node's group a qconfig that
/// satisfies the backend's dtype config that the planner tried, keep the group float, fold values
/// that a module computes only from stored tensors, or replace every operator of a kind by a new
/// one without the record of how the model called it.
struct Remedy
{
    std::string text; ///< one sentence; empty = nothing to suggest
    SharedQConfig qconfig {};
    bool keepFloat = false;
    std::optional<std::string> fold {}; ///< the module's path
    std::optional<std::string> replaceEvery {}; ///< the operator's target
    explicit operator bool() const
    {
        return qconfig.has_value() || keepFloat || fold || replaceEvery;
    }
    friend bool operator==(const Remedy&, const Remedy&) = default;
};

/// The planner's decision on one node, with reasons.
struct NodePlan
{
    NodeId node;
    Verdict verdict = Verdict::NotApplicable;
    bool quantized = false; ///< counts as quantized in the coverage
    bool eligible = false; ///< matches some backend pattern
    Reason reason; ///< never empty for an op that is not quantized
    std::string note; ///< a further remark for the user, quantized or not; usually empty
    std::vector<std::string>
        pattern; ///< names of the matched pattern in forward order; empty = no match
    int patternEntry = -1; ///< index into Backend::patterns
    int group = -1; ///< index into Plan::groups, for members of a match
    std::string qconfigName; ///< effective qconfig; "" = float
    SharedQConfig qconfig;
    Rule rule; ///< the winning rule (kind None when none)
    std::vector<Rule> overrides; ///< rules it overrode, strongest first
    /// Edge rules that decide how one of its inputs (`Rule::index`, among its activations) is
    /// quantized, in order of inputs; `rule` decides the rest.
    std::vector<Rule> inputRules;
    /// The activations that an operator reads, and where: edge rules count these.
    std::vector<std::pair<Use, ValueRef>> activations;
    std::vector<Candidate> candidates; ///< rejected dtype configs, most promising first
    Remedy remedy; ///< change that would quantize a float node
};

/// A matched pattern: its nodes become one operator.
struct MatchGroup
{
    std::vector<NodeId> members; ///< forward order; one or more
    NodeId root; ///< the conv, linear or first op: carries the weight
    int patternEntry = -1; ///< entry with the dtype configs
    bool quantized = false; ///< the qconfig is supported: will be converted
    bool customModule = false; ///< a custom module, quantized inside
    bool fused
        = false; ///< members fuse structurally (conv-bn folding included) even when kept float
    std::string fusedModule; ///< "torch.ao.nn.intrinsic.ConvReLU2d" or ""
    /// Its module in training: "torch.ao.nn.intrinsic.qat.ConvBnReLU2d" or "".
    std::string qatModule;
    std::string referenceModule;
    std::optional<DTypeConfig> dtypeConfig; ///< the matching one; empty if kept float
    bool floatResult = false; ///< inputs are quantized, the result stays float
};

/// A place of an observer.
struct ObservedEdge
{
    ValueRef value; ///< the float graph's value that is observed
    /// Empty: on the value itself, for all its readers. Else only for these readers (a consumer
    /// with its own needs).
    std::vector<Use> readers;
    friend bool operator==(const ObservedEdge&, const ObservedEdge&) = default;
};

/// One observer instance and everything that shares it.
struct PlannedObserver
{
    ObserverId id;
    ObserverSpec spec;
    Rule rule; ///< the rule that gave the spec; may be an edge rule
    bool isWeight = false;
    NodeId weightOwner; ///< for weights and interiors: the root op they belong to
    /// For a custom module: the observed value inside it, "layers.0.layer_fw.cell.gates". Only that
    /// value is observed; `edges` list other places with the same parameters.
    std::string interior;
    std::vector<ObservedEdge> edges; ///< in graph order; several = shared
};

/// A rule that has no effect because its node is fused into another: the root's qconfig wins.
struct FusionConflict
{
    NodeId root;
    NodeId member;
    NamedQConfig rootQConfig, memberQConfig; ///< without a config: float
    friend bool operator==(const FusionConflict&, const FusionConflict&) = default;
};

/// A construction that is valid but costs precision.
struct PlanFinding
{
    NodeId node; ///< the operator to change
    std::string kind; ///< "cut_range"
    std::string text; ///< one line that names the node first, and the cure
};

struct LayerNumbers;

/// Every decision on one graph. A value: share it as PlanPtr.
struct Plan
{
    std::vector<NodePlan> nodes; ///< same order as Graph::nodes()
    std::vector<MatchGroup> groups; ///< in graph order of the root
    std::vector<PlannedObserver> observers; ///< in torch.ao's insertion order; ids are index + 1
    std::vector<std::string>
        warnings; ///< rules that matched nothing, dropped qconfigs ...; one line each
    std::vector<FusionConflict> conflicts; ///< in graph order; each is among the warnings too
    std::vector<PlanFinding> findings; ///< in the order of the observers
    /// Numbers that cures give to quantized layers, at most one entry each.
    std::vector<std::shared_ptr<const LayerNumbers>> numbers;
    std::string backend;
    int quantizedOps = 0, eligibleOps = 0, totalOps = 0;
    const NodePlan* tryGet(const Graph& graph, NodeId id) const;
};
using PlanPtr = std::shared_ptr<const Plan>;

/// The most frequent reason why eligible operators stay float (all operators, if none is eligible).
struct MainReason
{
    const NodePlan* node; ///< the first of them; the plan owns it
    std::size_t count;
};
/// The main reason of a plan; empty if all operators are quantized.
std::optional<MainReason> mainReason(const Plan& plan);

/// The observers inside a custom module by `PlannedObserver::interior`.
std::map<std::string, ObserverId> interiorObservers(const Plan& plan, NodeId owner);

} // namespace qs
