// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/gradients/gradient_run.h"

#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/control/goes_on.h"

#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

namespace qs {

namespace {

at::IValue detached(const at::IValue& value)
{
    return value.isTensor() && value.toTensor().defined() ? at::IValue(value.toTensor().detach())
                                                          : value;
}

} // namespace

GradientRun::GradientRun(const Interpreter& interpreter, const GradientSteps& steps,
                         const GradientRequest& request, GradientFindings& findings,
                         const JobContext& job)
    : m_interpreter(interpreter)
    , m_runNode(runnerOf(interpreter, job))
    , m_steps(steps)
    , m_request(request)
    , m_findings(findings)
    , m_job(job)
    , m_lowest(steps.size())
{
    for (std::size_t i = 0; i < request.sites.size(); ++i) {
        const ValueRef site = request.sites[i];
        m_siteIndex[site].push_back(i);
        const std::size_t made = steps.madeAt(site);
        m_lowest = std::min(m_lowest, made == GradientSteps::kNever ? steps.firstRead(site) : made);
    }
}

Result<void> GradientRun::start(const std::vector<at::IValue>& inputs)
{
    const auto nodes = m_interpreter.graph().inputs();
    if (inputs.size() != nodes.size())
        return fail(ErrorCode::BadInput,
                    "the model takes " + counted(nodes.size(), "input") + ", "
                        + std::to_string(inputs.size()) + " were given");
    for (std::size_t i = 0; i < nodes.size(); ++i)
        m_start.set({nodes[i]->id, 0}, inLayout(detached(inputs[i]), m_interpreter.layout()));
    std::vector<ValueRef> wanted(m_request.sites);
    wanted.insert(wanted.end(), m_request.outputs.begin(), m_request.outputs.end());
    for (const ValueRef ref : wanted) {
        if (m_steps.madeAt(ref) != GradientSteps::kNever || m_start.has(ref))
            continue;
        QS_TRY(const at::IValue value, m_interpreter.constant(ref));
        m_start.set(ref, detached(value));
    }
    for (const ValueRef ref : m_request.outputs)
        if (const at::IValue* value = m_start.tryGet(ref))
            takeOutput(ref, *value);
    return {};
}

void GradientRun::takeOutput(ValueRef ref, const at::IValue& value)
{
    if (value.isTensor())
        m_outputs[ref] = value.toTensor().detach();
}

Result<Frame> GradientRun::frameAt(const Kept& kept) const
{
    Frame frame = m_start;
    for (const auto& [ref, value] : kept.values)
        frame.set(ref, value);
    return frame;
}

GradientRun::KeptPtr GradientRun::keptFrom(const Frame& frame, std::size_t boundary) const
{
    auto values = keptValues(m_interpreter.graph(), m_steps, frame, boundary);
    return values ? std::make_shared<const Kept>(Kept {boundary, std::move(*values)}) : nullptr;
}

/// Whether the kept values fit into the memory limit; if so, counts their bytes.
bool GradientRun::fits(const Kept& kept)
{
    std::unordered_map<const void*, std::size_t> more;
    for (const auto& [ref, value] : kept.values)
        if (value.isTensor() && value.toTensor().has_storage())
            if (const at::Storage& storage = value.toTensor().storage();
                !m_storages.contains(storage.unsafeGetStorageImpl()))
                more[storage.unsafeGetStorageImpl()] = storage.nbytes();
    std::size_t bytes = m_findings.keptBytes;
    for (const auto& [storage, size] : more)
        bytes += size;
    if (m_request.bytes > 0 && bytes > m_request.bytes)
        return false;
    for (const auto& [storage, size] : more)
        m_storages.insert(storage);
    m_findings.keptBytes = bytes;
    return true;
}

Result<void> GradientRun::forward(const std::vector<at::IValue>& inputs,
                                  const std::vector<std::size_t>& cuts)
{
    m_findings.keptBytes = 0;
    QS_CHECK(start(inputs));
    m_kept.push_back(std::make_shared<const Kept>());
    Frame frame = m_start;
    std::size_t at = 0;
    for (const std::size_t cut : cuts) {
        QS_CHECK(runPlainly(
            m_runNode, m_steps, {at, cut}, frame,
            [&](ValueRef ref, const at::IValue& value) { takeOutput(ref, value); }, m_job));
        at = cut;
        if (KeptPtr kept = keptFrom(frame, cut); kept && fits(*kept))
            m_kept.push_back(std::move(kept));
    }
    frame = {};
    QS_TRY(m_last, record(*m_kept.back(), m_steps.size()));
    for (const auto& [ref, tensor] : m_last->made)
        if (m_steps.isOutput(ref))
            takeOutput(ref, tensor);
    m_findings.segments = m_kept.size();
    return {};
}

Result<SegmentRecord> GradientRun::record(const Kept& kept, std::size_t to)
{
    QS_TRY(Frame frame, frameAt(kept));
    return recordSegment(m_runNode, m_steps, {kept.boundary, to}, std::move(frame),
                         m_findings.stops, m_job);
}

Result<void> GradientRun::askCotangents(int probes, const Cotangents& cotangents)
{
    std::vector<at::Tensor> outputs;
    for (const ValueRef ref : m_request.outputs) {
        const auto it = m_outputs.find(ref);
        if (it == m_outputs.end())
            return fail(ErrorCode::BadInput,
                        "the output '" + m_interpreter.graph().value(ref).name
                            + "' is not a tensor: it has no derivative");
        outputs.push_back(it->second);
    }
    for (int probe = 0; probe < probes; ++probe) {
        QS_TRY(const std::vector<at::Tensor> given, cotangents(probe, outputs));
        if (given.size() != outputs.size())
            return fail(ErrorCode::Internal, "a cotangent is needed for each output");
        Gradient& gradient = m_gradients.emplace_back();
        for (std::size_t i = 0; i < given.size(); ++i) {
            if (!given[i].defined())
                continue;
            if (given[i].sizes() != outputs[i].sizes()
                || given[i].scalar_type() != outputs[i].scalar_type())
                return fail(ErrorCode::Internal, "a cotangent has another type than its output");
            at::Tensor& sum = gradient[m_request.outputs[i]];
            sum = sum.defined() ? sum + given[i] : given[i];
        }
    }
    return {};
}

Result<void> GradientRun::backward(int probes, const Cotangents& cotangents, const SeeGradient& see)
{
    m_see = &see;
    QS_CHECK(askCotangents(probes, cotangents));
    m_outputs.clear();
    std::size_t to = m_steps.size();
    for (; !m_kept.empty() && to > m_lowest; m_kept.pop_back()) {
        const KeptPtr kept = m_kept.back();
        if (!m_last) {
            QS_TRY(m_last, record(*kept, to));
        }
        SegmentRecord last = std::move(*m_last);
        m_last.reset();
        QS_CHECK(goBack(kept, to, std::move(last), 0));
        to = kept->boundary;
    }
    for (int probe = 0; probe < probes; ++probe)
        for (const auto& [site, indices] : m_siteIndex)
            if (m_steps.madeAt(site) == GradientSteps::kNever
                && m_steps.firstRead(site) == GradientSteps::kNever)
                QS_CHECK(
                    tell(site, probe, m_start.tryGet(site), m_gradients[probe][site], m_start));
    m_findings.hasRun = true;
    return {};
}

Result<void> GradientRun::goBack(const KeptPtr& kept, std::size_t to, SegmentRecord record,
                                 int firstProbe)
{
    const int probes = int(m_gradients.size());
    for (int probe = firstProbe; probe < probes; ++probe) {
        QS_CHECK(m_job.check());
        auto gradients = derive(record, probe, probe + 1 == probes);
        if (!gradients) {
            QS_CHECK(m_job.check());
            record = {};
            if (gradients.error().code == ErrorCode::Device)
                return fail(std::move(gradients).error());
            return split(kept, to, probe, std::move(gradients).error());
        }
        QS_CHECK(take(record, {kept->boundary, to}, probe, *std::move(gradients)));
    }
    return {};
}

Result<std::vector<at::Tensor>> GradientRun::derive(const SegmentRecord& record, int probe,
                                                    bool isLast)
{
    std::vector<at::Tensor> inputs;
    for (const auto& [ref, tensor] : record.entries)
        inputs.push_back(tensor);
    for (const auto& [ref, tensor] : record.made)
        if (m_steps.isSite(ref) && tensor.requires_grad())
            inputs.push_back(tensor);
    return gradientsAt(record, probe, inputs, isLast);
}

Result<std::vector<at::Tensor>> GradientRun::gradientsAt(const SegmentRecord& record, int probe,
                                                         const std::vector<at::Tensor>& inputs,
                                                         bool isLast)
{
    std::vector<at::Tensor> outputs, cotangents;
    for (const auto& [ref, tensor] : record.made) {
        const auto it = m_gradients[probe].find(ref);
        if (it == m_gradients[probe].end() || !it->second.defined() || !tensor.requires_grad())
            continue;
        outputs.push_back(tensor);
        cotangents.push_back(it->second);
    }
    if (outputs.empty() || inputs.empty())
        return std::vector<at::Tensor>(inputs.size());
    return guardTorchValue<std::vector<at::Tensor>>([&]() -> Result<std::vector<at::Tensor>> {
        return torch::autograd::grad(outputs, inputs, cotangents, !isLast, false, true);
    });
}

Result<void> GradientRun::take(const SegmentRecord& record, StepRange range, int probe,
                               std::vector<at::Tensor> gradients)
{
    Gradient& sums = m_gradients[probe];
    for (std::size_t step = range.from; step < range.to; ++step)
        for (std::uint32_t i = 0; i < m_steps.node(step).outputs.size(); ++i)
            sums.erase({m_steps.node(step).id, i});
    auto next = gradients.begin();
    for (const auto& [ref, leaf] : record.entries) {
        const at::Tensor& more = *next++;
        if (at::Tensor& sum = sums[ref]; more.defined())
            sum = sum.defined() ? sum + more : more;
    }
    for (const auto& [ref, tensor] : record.made)
        if (m_steps.isSite(ref)) {
            const at::IValue value = tensor;
            QS_CHECK(tell(ref, probe, &value, tensor.requires_grad() ? *next++ : at::Tensor(),
                          record.frame));
        }
    for (const auto& [ref, indices] : m_siteIndex) {
        const std::size_t first = m_steps.firstRead(ref);
        if (m_steps.madeAt(ref) != GradientSteps::kNever || first < range.from || first >= range.to)
            continue;
        const at::Tensor gradient = sums[ref];
        sums.erase(ref);
        QS_CHECK(tell(ref, probe, m_start.tryGet(ref), gradient, record.frame));
    }
    return {};
}

Result<void> GradientRun::tell(ValueRef site, int probe, const at::IValue* value,
                               const at::Tensor& gradient, const Frame& segment)
{
    for (const std::size_t index : m_siteIndex.at(site)) {
        m_findings.isFloat[index] = value && isDifferentiable(*value);
        if (!m_findings.isFloat[index])
            continue;
        if (gradient.defined())
            m_findings.reached[index] = true;
        QS_CHECK((*m_see)(index, probe, value->toTensor().detach(), gradient, segment));
    }
    return {};
}

/// Values at the first boundary at or after the middle where the steps can be cut, else at the last
/// one before it; null if they cannot be cut.
Result<GradientRun::KeptPtr> GradientRun::keptInside(const Kept& kept, std::size_t to)
{
    QS_TRY(Frame frame, frameAt(kept));
    const std::size_t middle = kept.boundary + (to - kept.boundary) / 2;
    KeptPtr found;
    for (std::size_t at = kept.boundary + 1; at < to; ++at) {
        QS_CHECK(runPlainly(
            m_runNode, m_steps, {at - 1, at}, frame, [](ValueRef, const at::IValue&) {}, m_job));
        if (KeptPtr here = keptFrom(frame, at))
            found = std::move(here);
        if (found && at >= middle)
            break;
    }
    return found;
}

Result<void> GradientRun::goPast(const KeptPtr& kept, int firstProbe, Error error)
{
    const Node& node = m_steps.node(kept->boundary);
    QS_TRY(SegmentRecord record, this->record(*kept, kept->boundary + 1));
    std::set<ValueRef> all, failing;
    for (const auto& [ref, leaf] : record.entries) {
        all.insert(ref);
        if (!gradientsAt(record, firstProbe, {leaf}, false))
            failing.insert(ref);
    }
    QS_CHECK(m_job.check());
    std::set<ValueRef>& unfollowed = m_findings.stops.unfollowed[node.id];
    const std::size_t before = unfollowed.size();
    unfollowed.insert(failing.begin(), failing.end());
    if (unfollowed.size() == before) // not one of them alone
        unfollowed.insert(all.begin(), all.end());
    if (unfollowed.size() == before)
        return fail(std::move(error).atNode(node.name));
    QS_TRY(SegmentRecord again, this->record(*kept, kept->boundary + 1));
    return goBack(kept, kept->boundary + 1, std::move(again), firstProbe);
}

Result<void> GradientRun::split(const KeptPtr& kept, std::size_t to, int firstProbe, Error error)
{
    if (to - kept->boundary == 1)
        return goPast(kept, firstProbe, std::move(error));
    QS_TRY(const KeptPtr inside, keptInside(*kept, to));
    if (!inside)
        return fail(std::move(error).atNode(m_steps.node(kept->boundary).name));
    QS_TRY(SegmentRecord second, record(*inside, to));
    QS_CHECK(goBack(inside, to, std::move(second), firstProbe));
    if (inside->boundary <= m_lowest)
        return {};
    QS_TRY(SegmentRecord first, record(*kept, inside->boundary));
    return goBack(kept, inside->boundary, std::move(first), firstProbe);
}

} // namespace qs
