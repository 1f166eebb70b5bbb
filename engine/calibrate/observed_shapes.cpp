// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/observed_shapes.h"

#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/distribute/packed.h"
#include "engine/execute/interpreter.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace qs {

namespace {

using Sizes = std::vector<std::int64_t>;
using SeenSizes = std::unordered_map<ValueRef, Sizes>;

bool hasSizes(const at::IValue& value)
{
    return value.isTensor() && value.toTensor().defined() && !value.toTensor().is_nested();
}

bool isRecorded(const ValueType& type)
{
    return type.kind == ValueKind::Tensor && type.shapeKnown;
}

Result<SeenSizes> sizesOf(const GraphPtr& model, const std::vector<at::IValue>& inputs,
                          const JobContext& job)
{
    return guardTorchValue<SeenSizes>([&]() -> Result<SeenSizes> {
        const InferenceScope inference;
        QS_TRY(const Interpreter interpreter, Interpreter::create(model, {}, job));
        SeenSizes seen;
        const Tap see = [&](ValueRef ref, const Node&, const at::IValue& value) -> Result<void> {
            if (hasSizes(value))
                seen.insert_or_assign(ref, value.toTensor().sizes().vec());
            return {};
        };
        QS_CHECK(interpreter.run(inputs, see, job));
        return seen;
    });
}

/// Two runs of a model whose inputs have the sizes that its file records.
class RecordCheck
{
public:
    RecordCheck(GraphPtr model, const Dataset& data)
        : m_model(std::move(model))
        , m_data(data)
    {
    }

    Result<std::vector<CorrectedShape>> run(const JobContext& job)
    {
        QS_TRY(const Batch first, m_data.batch(0));
        QS_TRY(Batch last, m_data.batch(std::max<std::int64_t>(m_data.batchCount() - 1, 0)));
        if (!fits(first) || !findOpen() || !fits(last))
            return {};
        if (m_open && !makeSmaller(last, first))
            return {};
        auto one = sizesOf(m_model, first.inputs, job);
        auto other
            = one && (m_open || m_data.batchCount() > 1) ? sizesOf(m_model, last.inputs, job) : one;
        QS_CHECK(job.check());
        if (!one || !other)
            return {};
        std::vector<CorrectedShape> corrected;
        for (const NodePtr& node : m_model->nodes())
            for (std::uint32_t i = 0; i < node->outputs.size(); ++i)
                if (auto shape = corrects(node->outputs[i].type, *one, *other, {node->id, i}))
                    corrected.push_back({{node->id, i}, std::move(*shape)});
        return corrected;
    }

private:
    /// True if the inputs have the fixed sizes of the record.
    bool fits(const Batch& batch) const
    {
        const auto inputs = m_model->inputs();
        if (batch.inputs.size() != inputs.size())
            return false;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const ValueType& type = inputs[i]->outputs.at(0).type;
            if (!batch.inputs[i].isTensor())
                continue;
            const at::IntArrayRef sizes = batch.inputs[i].toTensor().sizes();
            if (!isRecorded(type) || type.shape.size() != sizes.size())
                return false;
            for (std::size_t d = 0; d < sizes.size(); ++d)
                if (!type.shape[d].isSymbolic() && type.shape[d].size != sizes[d])
                    return false;
        }
        return true;
    }

    /// Finds the symbolic first dimension of the inputs, if any. Returns false if other dimensions
    /// are symbolic: these are not tested.
    bool findOpen()
    {
        for (const Node* input : m_model->inputs()) {
            const std::vector<Dim>& shape = input->outputs.at(0).type.shape;
            for (std::size_t d = 0; d < shape.size(); ++d) {
                if (!shape[d].isSymbolic())
                    continue;
                if (d > 0 || (m_open && m_open->symbol != shape[d].symbol))
                    return false;
                m_open = shape[d];
            }
        }
        return true;
    }

    std::optional<std::int64_t> samplesOf(const Batch& batch) const
    {
        const auto inputs = m_model->inputs();
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const std::vector<Dim>& shape = inputs[i]->outputs.at(0).type.shape;
            if (batch.inputs[i].isTensor() && !shape.empty() && shape[0].isSymbolic())
                return batch.inputs[i].toTensor().size(0);
        }
        return std::nullopt;
    }

    /// Reduces the batch to one sample less than the other's, unless their numbers differ.
    bool makeSmaller(Batch& batch, const Batch& than)
    {
        const auto most = samplesOf(than), given = samplesOf(batch);
        if (!most || !given || (*most == *given && *most < 2))
            return false;
        m_samples = *most;
        m_fewer = *most == *given ? *most - 1 : *given;
        const auto inputs = m_model->inputs();
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const std::vector<Dim>& shape = inputs[i]->outputs.at(0).type.shape;
            if (batch.inputs[i].isTensor() && !shape.empty() && shape[0].isSymbolic())
                batch.inputs[i] = batch.inputs[i].toTensor().narrow(0, 0, m_fewer);
        }
        return true;
    }

    /// Derives a dimension from its sizes in the two runs; nullopt if they depend on something
    /// else.
    std::optional<Dim> dimension(std::int64_t one, std::int64_t other) const
    {
        if (m_open && one == m_samples && other == m_fewer)
            return m_open;
        return one == other ? std::optional(Dim::fixed(one)) : std::nullopt;
    }

    /// Returns the observed shape of a value if the record differs.
    std::optional<std::vector<Dim>> corrects(const ValueType& type, const SeenSizes& one,
                                             const SeenSizes& other, ValueRef ref) const
    {
        const auto a = one.find(ref), b = other.find(ref);
        if (!isRecorded(type) || m_model->users(ref).empty() || a == one.end() || b == other.end()
            || a->second.size() != b->second.size())
            return std::nullopt;
        const bool sameRank = a->second.size() == type.shape.size();
        const auto isOther = [&](const Dim& dim) {
            return dim.isSymbolic() ? !m_open || dim.symbol != m_open->symbol : dim.size < 0;
        };
        if (!sameRank && std::any_of(type.shape.begin(), type.shape.end(), isOther))
            return std::nullopt;
        std::vector<Dim> shape;
        bool isWrong = !sameRank;
        for (std::size_t d = 0; d < a->second.size(); ++d) {
            const Dim* recorded = sameRank ? &type.shape[d] : nullptr;
            if (recorded && isOther(*recorded)) { // the runs do not show what it depends on
                shape.push_back(*recorded);
                continue;
            }
            const auto seen = dimension(a->second[d], b->second[d]);
            if (!seen)
                return std::nullopt;
            isWrong |= recorded && !recorded->isSymbolic() && *recorded != *seen;
            shape.push_back(*seen);
        }
        return isWrong ? std::optional(std::move(shape)) : std::nullopt;
    }

    GraphPtr m_model;
    const Dataset& m_data;
    std::optional<Dim> m_open; ///< the first dimension of the inputs, if symbolic
    std::int64_t m_samples = 0, m_fewer = 0; ///< its sizes in the two runs
};

} // namespace

void RecordedShapes::begin(std::int64_t samples)
{
    if (m_samples < 0)
        m_samples = samples;
    m_isAlike = samples == m_samples;
}

void RecordedShapes::see(const Node& node, std::uint32_t output, const at::IValue& value)
{
    if (!m_isAlike || !hasSizes(value) || output >= node.outputs.size()
        || !isRecorded(node.outputs[output].type))
        return;
    const std::vector<Dim>& shape = node.outputs[output].type.shape;
    const at::IntArrayRef sizes = value.toTensor().sizes();
    const ValueRef ref {node.id, output};
    if (const auto before = m_seen.find(ref); before != m_seen.end() && before->second != sizes)
        m_varying.insert(ref);
    bool fits = sizes.size() == shape.size();
    for (std::size_t d = 0; d < shape.size() && fits; ++d)
        fits = shape[d].isSymbolic() || shape[d].size < 0 || shape[d].size == sizes[d];
    if (!fits)
        m_seen.try_emplace(ref, sizes.vec());
}

std::string RecordedShapes::packed() const
{
    Packer out;
    out.add(m_samples).add(std::uint64_t(m_seen.size()));
    for (const auto& [ref, sizes] : m_seen)
        out.add(ref).add(sizes);
    out.add(std::vector<ValueRef>(m_varying.begin(), m_varying.end()));
    return out.take();
}

Result<RecordedShapes> RecordedShapes::united(const std::vector<std::string>& ranks)
{
    RecordedShapes all;
    for (const std::string& bytes : ranks) {
        Unpacker in(bytes);
        std::int64_t samples = -1;
        in.get(samples);
        if (all.m_samples < 0)
            all.m_samples = samples;
        if (samples == all.m_samples)
            QS_CHECK(all.add(in));
    }
    return all;
}

Result<void> RecordedShapes::add(Unpacker& in)
{
    std::uint64_t count = 0;
    in.get(count);
    for (std::uint64_t i = 0; i < count && in.check(); ++i) {
        ValueRef ref;
        Sizes sizes;
        in.get(ref).get(sizes);
        const auto [known, isNew] = m_seen.try_emplace(ref, sizes);
        if (!isNew && known->second != sizes)
            m_varying.insert(ref);
    }
    std::vector<ValueRef> varying;
    in.get(varying);
    m_varying.insert(varying.begin(), varying.end());
    return in.check();
}

Result<std::vector<CorrectedShape>> contradictedShapes(const GraphPtr& model, const Dataset& data,
                                                       const RecordedShapes& shapes,
                                                       const JobContext& job)
{
    if (model->info().exportRecord.empty())
        return {};
    QS_TRY(auto corrected, RecordCheck(model, data).run(job));
    std::erase_if(corrected, [&](const CorrectedShape& one) { return shapes.varies(one.value); });
    return corrected;
}

std::string correctedShapesNote(const Graph& model, const std::vector<CorrectedShape>& corrected)
{
    const CorrectedShape& first = corrected.front();
    const ValueType& recorded = model.value(first.value).type;
    ValueType observed = recorded;
    observed.shape = first.shape;
    return "the file records a wrong shape: of '" + model.get(first.value.node).name + "' "
        + recorded.text() + " instead of " + observed.text() + ", which the data show; corrected"
        + (corrected.size() > 1
               ? ", with " + counted(std::int64_t(corrected.size()) - 1, "more value")
               : "");
}

} // namespace qs
