// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/edit/cures/channel_chain.h"
#include "engine/edit/cures/cure_functions.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/operators/fake_quantizers.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <set>

namespace qs {

namespace {

constexpr int kMostRounds = 200;
constexpr double kStill = 1e-4; ///< largest change of a factor's logarithm that ends the rounds

/// Scales the weights of chains. Tensors are those of the draft until `write`.
class ChannelScaling
{
public:
    explicit ChannelScaling(EditDraft& draft)
        : m_draft(draft)
    {
    }

    /// Divides the maker's channels by these positive numbers, multiplies its readers' by them.
    Result<void> scale(const ChannelChain& chain, const at::Tensor& factors)
    {
        for (const ChannelChain::Divided& divided : chain.divided) {
            QS_TRY(const at::Tensor was, get(divided.use));
            m_now[divided.use]
                = was / along(factors, was.dim(), divided.axis).to(was.scalar_type());
        }
        for (const ChannelChain::Reader& reader : chain.readers) {
            QS_TRY(const at::Tensor was, get(reader.weight));
            const at::Tensor grouped = inGroups(was, reader);
            const at::Tensor by = reader.axis == 0
                ? along(factors, was.dim(), 0)
                : along(factors.reshape({reader.groups, 1, -1}), grouped.dim());
            m_now[reader.weight] = (grouped * by.to(was.scalar_type())).reshape(was.sizes());
        }
        if (chain.maker)
            m_touched.insert(chain.maker);
        for (const ChannelChain::Reader& reader : chain.readers)
            m_touched.insert(reader.weight.op);
        return {};
    }

    /// The factors that give the weights of both sides the same range, by channel (Nagel et al.,
    /// "Data-Free Quantization Through Weight Equalization and Bias Correction", 2019).
    Result<at::Tensor> equalizing(const ChannelChain& chain)
    {
        if (!chain.weight)
            return refuse("a norm has no weights to equalize", "use the cure 'smooth'");
        QS_TRY(const at::Tensor weight, get(*chain.weight));
        at::Tensor first = largest(weight.movedim(chain.weightAxis, 0));
        if (chain.batchNorm) {
            QS_TRY(const at::Tensor scale, scaleOf(chain));
            first = first * scale;
        }
        at::Tensor second = at::zeros_like(first);
        for (const ChannelChain::Reader& reader : chain.readers) {
            QS_TRY(const at::Tensor read, get(reader.weight));
            const at::Tensor own = reader.axis == 0
                ? largest(read)
                : largest(inGroups(read, reader).movedim(2, 1).flatten(0, 1));
            second = at::maximum(second, own);
        }
        const at::Tensor factors = (first / second).sqrt();
        return at::where(first.gt(0).logical_and(second.gt(0)), factors, at::ones_like(factors));
    }

    /// Divides `ChannelChain::multiplied` by these numbers for the readers: one multiplication
    /// before the first of them, which gets an address.
    Result<void> multiply(const ChannelChain& chain, const at::Tensor& factors)
    {
        GraphEdit& graph = m_draft.graph();
        std::set<NodeId> readers;
        for (const ChannelChain::Reader& reader : chain.readers)
            readers.insert(reader.weight.op);
        const std::vector<NodeId> order = graph.order();
        const NodeId first = *std::find_if(order.begin(), order.end(),
                                           [&](NodeId id) { return readers.contains(id); });
        QS_TRY(const at::Tensor weight, get(chain.readers.front().weight));
        const Node& source = graph.get(chain.multiplied.node);
        const std::string name = source.outputs.at(chain.multiplied.index).name;
        const at::Tensor inverse = along(factors.reciprocal().to(weight.scalar_type()),
                                         std::int64_t(chain.place) + 1, 0);
        Node node;
        node.name = name + "_scaled";
        node.target = kMultiplyTarget;
        node.scope = m_draft.scopeAround(source.isOperator() ? source.id : first);
        const NodeId by = addConstant(m_draft, name + "_scales", inverse.contiguous(), first);
        node.args = {{"self", Argument(chain.multiplied)}, {"other", Argument(ValueRef {by, 0})}};
        QS_TRY(const NodeId product, m_draft.add(std::move(node), first));
        for (const ChannelChain::Reader& reader : chain.readers)
            m_draft.put({reader.weight.op, reader.input, -1}, {product, 0});
        m_touched.insert(product);
        QS_CHECK(m_draft.addresses().add(graph.get(product).name, product));
        return m_draft.spread({product});
    }

    /// Puts the scaled tensors into the draft.
    Result<EditedNodes> write()
    {
        for (const auto& [use, tensor] : m_now) {
            if (m_draft.placesOf({use.stored, 0}).size() == 1) {
                QS_CHECK(putTensor(m_draft, use.stored, tensor.contiguous()));
                continue;
            }
            const NodeId copy
                = addConstant(m_draft, m_draft.graph().get(use.stored).name + "_scaled",
                              tensor.contiguous(), use.op);
            m_draft.put({use.op, use.argument, use.item}, {copy, 0});
        }
        m_draft.graph().eraseDead();
        return EditedNodes(m_touched.begin(), m_touched.end());
    }

private:
    /// Numbers along one dimension of a tensor of this rank.
    static at::Tensor along(const at::Tensor& numbers, std::int64_t rank, std::int64_t axis)
    {
        std::vector<std::int64_t> shape(std::size_t(rank), 1);
        shape[std::size_t(axis)] = -1;
        return numbers.reshape(shape);
    }
    /// Numbers by the first dimensions, for a tensor of this rank.
    static at::Tensor along(const at::Tensor& numbers, std::int64_t rank)
    {
        std::vector<std::int64_t> shape = numbers.sizes().vec();
        shape.resize(std::size_t(rank), 1);
        return numbers.reshape(shape);
    }

    /// A weight as [groups, outputs of a group, inputs of a group, ...].
    static at::Tensor inGroups(const at::Tensor& weight, const ChannelChain::Reader& reader)
    {
        std::vector<std::int64_t> shape {reader.groups, weight.size(0) / reader.groups};
        shape.insert(shape.end(), weight.sizes().begin() + 1, weight.sizes().end());
        return reader.axis == 0 ? weight : weight.reshape(shape);
    }

    /// The largest magnitude by row.
    static at::Tensor largest(const at::Tensor& rows)
    {
        return rows.flatten(1).abs().amax(1).to(at::kDouble);
    }

    /// What a batch norm multiplies each channel with.
    Result<at::Tensor> scaleOf(const ChannelChain& chain)
    {
        const Node& norm = m_draft.graph().get(chain.batchNorm);
        QS_TRY(const at::Tensor gamma, get(chain.divided.front().use));
        at::Tensor variance;
        double eps = 0;
        for (const NamedArgument& argument : namedArguments(norm)) {
            if (argument.name == "running_var" && argument.value.asRef()) {
                QS_TRY(variance, stored(argument.value.asRef()->node));
            }
            if (argument.name == "eps" && argument.value.asDouble())
                eps = *argument.value.asDouble();
        }
        if (!variance.defined())
            return refuse(inQuotes(norm.name) + " has no running variance");
        return (gamma.to(at::kDouble) / (variance.to(at::kDouble) + eps).sqrt()).abs();
    }

    Result<at::Tensor> stored(NodeId node) const
    {
        const Node& holder = m_draft.graph().get(node);
        const auto tensors = tensorsOf(m_draft.graph());
        if (!holder.isStored() || !tensors)
            return refuse(inQuotes(holder.name) + " holds no tensor");
        QS_TRY(const at::Tensor tensor, tensors->getTensor(holder.tensor));
        if (!tensor.is_floating_point())
            return refuse(inQuotes(holder.name) + " holds no floats");
        return tensor;
    }

    Result<at::Tensor> get(const StoredUse& use) const
    {
        const auto found = m_now.find(use);
        return found == m_now.end() ? stored(use.stored) : Result<at::Tensor>(found->second);
    }

    EditDraft& m_draft;
    std::map<StoredUse, at::Tensor> m_now; ///< scaled ones
    std::set<NodeId> m_touched;
};

/// Equalizes each chain in turn; returns the largest magnitude of a factor's logarithm.
Result<double> equalizeOnce(ChannelScaling& scaling, const std::vector<ChannelChain>& chains)
{
    double most = 0;
    for (const ChannelChain& chain : chains) {
        QS_TRY(const at::Tensor factors, scaling.equalizing(chain));
        QS_CHECK(scaling.scale(chain, factors));
        most = std::max(most, factors.log().abs().max().item<double>());
    }
    return most;
}

} // namespace

Result<EditedNodes> equalizeLayers(EditDraft& draft, const Cure& cure)
{
    std::vector<ValueAddress> addresses {cure.at};
    addresses.insert(addresses.end(), cure.nodes.begin(), cure.nodes.end());
    std::vector<ChannelChain> chains;
    for (const ValueAddress& address : addresses) {
        QS_TRY(const NodeId id, draft.operatorAt(address));
        QS_TRY(ChannelChain chain, channelChain(draft.graph(), id));
        chains.push_back(std::move(chain));
    }
    const InferenceScope scope;
    return guardTorchValue<EditedNodes>([&]() -> Result<EditedNodes> {
        ChannelScaling scaling(draft);
        double most = 1;
        for (int round = 0; round < kMostRounds && most > kStill; ++round) {
            QS_TRY(most, equalizeOnce(scaling, chains));
        }
        return scaling.write();
    });
}

Result<EditedNodes> smoothLayer(EditDraft& draft, const Cure& cure)
{
    QS_TRY(const ValueRef value, draft.value(cure.at));
    QS_TRY(const ChannelChain chain, dividedChain(draft.graph(), value));
    if (std::int64_t(cure.scales.size()) != chain.channels)
        return refuse(inQuotes(draft.graph().get(value.node).name) + " has "
                      + counted(chain.channels, "channel") + "; the cure has "
                      + counted(std::int64_t(cure.scales.size()), "scale"));
    const InferenceScope scope;
    return guardTorchValue<EditedNodes>([&]() -> Result<EditedNodes> {
        ChannelScaling scaling(draft);
        const at::Tensor factors = at::tensor(cure.scales, at::kDouble);
        QS_CHECK(scaling.scale(chain, factors));
        if (chain.multiplied)
            QS_CHECK(scaling.multiply(chain, factors));
        return scaling.write();
    });
}

} // namespace qs
