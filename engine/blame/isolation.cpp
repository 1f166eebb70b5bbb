// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/isolation.h"

#include "engine/compare/output_run.h"

#include <algorithm>

namespace qs {

Result<at::Tensor> noisyValue(const NoisePlace& place, const at::Tensor& value,
                              const Interpreter& floatRun, const Interpreter& referenceRun,
                              const Frame& values)
{
    Frame frame;
    for (const auto& [reference, twin] : place.given) {
        at::IValue given = value;
        if (twin != place.at) {
            QS_TRY(given, valueOf(floatRun, values, twin));
        }
        if (given.isTensor())
            given = given.toTensor().detach();
        frame.set(reference, std::move(given));
    }
    const ValueRef wanted[] = {place.noisy};
    QS_CHECK(referenceRun.evaluate(frame, wanted));
    const at::IValue* made = frame.tryGet(place.noisy);
    return made && made->isTensor() ? made->toTensor() : at::Tensor();
}

Isolation::Isolation(const FloatTwin& twin, const Interpreter& floatRun,
                     const Interpreter& referenceRun)
    : m_twin(twin)
    , m_float(floatRun)
    , m_reference(referenceRun)
{
    for (const NoisePlace& place : twin.places)
        m_placesAt[place.at.node].push_back(&place);
}

Result<void> Isolation::addNoise(Frame& frame, const NoisePlace& place) const
{
    const at::IValue& value = frame.get(place.at);
    if (!value.isTensor())
        return {};
    QS_TRY(at::Tensor noisy, noisyValue(place, value.toTensor(), m_float, m_reference, frame));
    if (noisy.defined())
        frame.set(place.at, std::move(noisy));
    return {};
}

Result<void> Isolation::advance(Frame& frame, std::size_t from, std::size_t end,
                                std::optional<std::size_t> site, const JobContext& job) const
{
    const auto nodes = m_twin.graph->nodes();
    for (std::size_t position = from; position < end; ++position) {
        QS_CHECK(job.check());
        const Node& node = *nodes[position];
        if (node.isOperator() && !m_float.isConstant({node.id, 0})) {
            QS_CHECK(m_float.runNode(node, frame));
            if (const auto places = m_placesAt.find(node.id); site && places != m_placesAt.end())
                for (const NoisePlace* place : places->second)
                    if (place->site == *site)
                        QS_CHECK(addNoise(frame, *place));
        }
        for (const ValueRef& ref : m_float.deadAfter(position))
            frame.release(ref);
    }
    return {};
}

Result<void> Isolation::run(const std::vector<at::IValue>& inputs,
                            const std::vector<std::size_t>& sites, const See& see,
                            const JobContext& job) const
{
    const std::size_t end = m_twin.graph->nodes().size();
    std::unordered_map<std::size_t, std::size_t> firstPlace; // by site
    for (const NoisePlace& place : m_twin.places) {
        std::size_t& first = firstPlace.try_emplace(place.site, end).first->second;
        first = std::min(first, m_twin.graph->position(place.at.node));
    }
    std::vector<std::pair<std::size_t, std::size_t>> starts; // position, site
    for (const std::size_t site : sites)
        starts.emplace_back(firstPlace.at(site), site);
    std::sort(starts.begin(), starts.end());
    QS_TRY(Frame whole, startFrame(m_float, inputs, {}));
    QS_CHECK(advance(whole, 0, end, std::nullopt, job));
    QS_TRY(const auto clean, outputTensors(m_float, whole));
    see(std::nullopt, clean);
    QS_TRY(Frame frame, startFrame(m_float, inputs, {}));
    std::size_t position = 0;
    for (const auto& [start, site] : starts) {
        QS_CHECK(advance(frame, position, start, std::nullopt, job));
        position = start;
        Frame own = frame; // shares the tensors; no operator overwrites them here
        QS_CHECK(advance(own, start, end, site, job));
        QS_TRY(const auto outputs, outputTensors(m_float, own));
        see(site, outputs);
    }
    return {};
}

} // namespace qs
