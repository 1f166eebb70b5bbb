// SPDX-License-Identifier: Apache-2.0
#include "engine/import/trained/given_reader.h"

#include "engine/graph/operators/operators.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <set>

namespace qs {

namespace {

constexpr std::string_view kScale = "scale";
constexpr std::string_view kFused = "fused_moving_avg";

class GivenReader
{
public:
    GivenReader(const GraphEdit& edit, const TensorStore& store, const FakeQuantizerPlace& place)
        : m_edit(edit)
        , m_store(store)
        , m_place(place)
    {
        for (const NodeId id : edit.order())
            if (const Node& node = edit.get(id); node.isStored())
                m_stored.emplace(node.target, node.tensor);
    }

    Result<std::optional<GivenObservation>> read(const Node& node, ValueRef value) const
    {
        GivenObservation one;
        one.value = value;
        one.isWeight = isFromStored(value);
        one.quantMin = whole(node, "quant_min", 0);
        one.quantMax = whole(node, "quant_max", 255);
        one.isSymmetric = isSet(node, "symmetric_quant");
        one.isPerChannel = isSet(node, "per_row_fake_quant")
            || node.target.find("per_channel") != std::string::npos;
        one.axis = int(std::max<std::int64_t>(0, whole(node, "ch_axis", whole(node, "axis", 0))));
        const std::string& path = m_place.path;
        QS_TRY(const at::Tensor eps, stored(path + ".activation_post_process.eps"));
        if (eps.defined() && eps.numel() == 1)
            one.eps = eps.item<double>();
        QS_TRY(const bool observes, isObserving(node, path));
        one.seesWeight = one.isWeight && observes && path.ends_with("weight_fake_quant");
        one.averaging = averagingOf(node);
        QS_TRY(const bool ranged, readRange(node, path, one));
        return ranged ? std::optional(std::move(one)) : std::nullopt;
    }

private:
    Result<at::Tensor> stored(const std::string& target) const
    {
        const auto it = m_stored.find(target);
        if (it == m_stored.end() || !it->second)
            return at::Tensor();
        QS_TRY(const at::Tensor tensor, m_store.getTensor(it->second));
        return tensor.defined() ? tensor.detach().to(at::kCPU, at::kDouble).flatten() : tensor;
    }

    Result<at::Tensor> number(const Node& node, std::string_view name) const
    {
        const Argument* given = node.tryArg(name);
        if (given && given->asDouble())
            return at::full({1}, *given->asDouble(), at::kDouble);
        if (given && given->asInt())
            return at::full({1}, double(*given->asInt()), at::kDouble);
        const bool isOuter = m_edit.tryGet(node.id) == &node; // false: in a branch's body
        const ValueRef* ref = given && isOuter ? given->asRef() : nullptr;
        const Node* source = ref ? m_edit.tryGet(ref->node) : nullptr;
        return source && source->isStored() ? stored(source->target) : at::Tensor();
    }

    /// Returns an argument, or the tensor that its module stores under that name.
    Result<at::Tensor> numberOrStored(const Node& node, const std::string& path,
                                      std::string_view name) const
    {
        QS_TRY(const at::Tensor given, number(node, name));
        return given.defined() ? given : stored(path + "." + std::string(name));
    }

    static std::int64_t whole(const Node& node, std::string_view name, std::int64_t otherwise)
    {
        const Argument* given = node.tryArg(name);
        return given && given->asInt() ? *given->asInt() : otherwise;
    }
    static bool isSet(const Node& node, std::string_view name)
    {
        const Argument* given = node.tryArg(name);
        return given && given->asBool() && *given->asBool();
    }

    /// True if it observes its input.
    Result<bool> isObserving(const Node& node, const std::string& path) const
    {
        QS_TRY(at::Tensor enabled, number(node, "observer_on"));
        if (!enabled.defined()) {
            QS_TRY(enabled, stored(path + ".observer_enabled"));
        }
        return enabled.defined() ? enabled.ne(0).any().item<bool>() : !m_place.nodes.empty();
    }

    /// Returns the averaging constant: the operator's argument, or the factor in its module.
    double averagingOf(const Node& node) const
    {
        const Argument* own = node.tryArg("averaging_const");
        if (own && own->asDouble())
            return *own->asDouble();
        double found = 0;
        for (const NodeId id : m_place.nodes)
            findFactor(m_edit.get(id), found);
        return found;
    }

    static void findFactor(const Node& node, double& found)
    {
        const Argument* factor = atenWord(node.target) == "mul" ? node.tryArg("other") : nullptr;
        if (found == 0 && factor && factor->asDouble())
            found = *factor->asDouble();
        for (const auto& body : node.subgraphs)
            for (const NodePtr& inner : body->nodes())
                findFactor(*inner, found);
    }

    Result<bool> readRange(const Node& node, const std::string& path, GivenObservation& one) const
    {
        const std::string observer = path + ".activation_post_process.";
        QS_TRY(at::Tensor min, number(node, "running_min"));
        QS_TRY(at::Tensor max, number(node, "running_max"));
        if (!min.defined()) {
            QS_TRY(min, stored(observer + "min_val"));
            QS_TRY(max, stored(observer + "max_val"));
        }
        QS_TRY(const at::Tensor scale, numberOrStored(node, path, kScale));
        QS_TRY(const at::Tensor zeroPoint, numberOrStored(node, path, "zero_point"));
        const bool observed = min.defined() && max.defined() && min.numel() > 0
            && min.numel() == max.numel() && min.isfinite().all().item<bool>()
            && max.isfinite().all().item<bool>();
        if (observed && (one.seesWeight || node.target.find(kFused) != std::string::npos)) {
            if (node.target.find(kFused) == std::string::npos)
                one.isSymmetric = isAroundZero(one, scale, zeroPoint);
            setRange(one, min, max);
            return true;
        }
        if (!scale.defined() || scale.numel() == 0)
            return false;
        const at::Tensor point
            = zeroPoint.defined() ? zeroPoint.expand_as(scale) : at::zeros_like(scale);
        if (min.defined() && !observed && scale.eq(1).all().item<bool>())
            return false; // initial state
        one.isSymmetric = isAroundZero(one, scale, zeroPoint);
        one.eps = 1e-38;
        const double reach = double(one.quantMax - one.quantMin) / 2;
        if (one.isSymmetric)
            setRange(one, -(scale * reach), scale * reach);
        else
            setRange(one, (double(one.quantMin) - point) * scale,
                     (double(one.quantMax) - point) * scale);
        return scale.isfinite().all().item<bool>() && scale.gt(0).all().item<bool>();
    }

    static bool isAroundZero(const GivenObservation& one, const at::Tensor& scale,
                             const at::Tensor& zeroPoint)
    {
        return one.quantMin < 0 && scale.defined()
            && (!zeroPoint.defined() || zeroPoint.eq(0).all().item<bool>());
    }

    static void setRange(GivenObservation& one, const at::Tensor& min, const at::Tensor& max)
    {
        for (std::int64_t i = 0; i < min.numel(); ++i) {
            one.min.push_back(float(min[i].item<double>()));
            one.max.push_back(float(max[i].item<double>()));
        }
        one.isPerChannel = one.isPerChannel || min.numel() > 1;
    }

    /// True if the value depends only on stored tensors.
    bool isFromStored(ValueRef value) const
    {
        std::vector<NodeId> open {value.node};
        std::set<NodeId> seen;
        while (!open.empty()) {
            const Node& node = m_edit.get(open.back());
            open.pop_back();
            if (node.kind == NodeKind::Input)
                return false;
            if (!seen.insert(node.id).second)
                continue;
            for (const NamedArgument& argument : node.args)
                forEachRef(argument.value, [&](ValueRef ref) { open.push_back(ref.node); });
        }
        return true;
    }

    const GraphEdit& m_edit;
    const TensorStore& m_store;
    const FakeQuantizerPlace& m_place;
    std::map<std::string, TensorId> m_stored; ///< tensor ids by target
};

} // namespace

Result<std::optional<GivenObservation>> readGiven(const GraphEdit& edit, const TensorStore& store,
                                                  const Node& node, ValueRef value,
                                                  const FakeQuantizerPlace& place)
{
    return GivenReader(edit, store, place).read(node, value);
}

} // namespace qs
