// SPDX-License-Identifier: Apache-2.0
// For tests with PyTorch as the oracle. Lines on stdin, words between tabs; each answer ends with
// "done" or "failed: ...".
// `dump MODEL OUT BYTES WHOLE PROBES` differentiates all outputs of a model that are floats, at the
// sample inputs of its file, with respect to every value of floats, inputs and weights included,
// and writes {"names", "gradients" (by probe; None: nothing flows), "segments", "kept"} as a torch
// file. What flows into output i of probe k is sin((k + 1) * j + i) at its j-th element. BYTES and
// WHOLE as in `GradientRequest`. Sites without a derivative are listed on stdout.
// `cost MODEL WHOLE TIMES` prints JSON: the seconds of a forward and of a forward with gradients of
// one probe at all values of operators (the least of TIMES), and the bytes that each takes at most.
#include "engine/base/torch_guard.h"
#include "engine/execute/gradients/gradients.h"
#include "engine/import/archive/sample_inputs.h"
#include "engine/import/importer.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <malloc.h>
#include <sstream>

using namespace qs;

namespace {

using Words = std::vector<std::string>;

Result<std::vector<at::Tensor>> waves(int probe, std::span<const at::Tensor> outputs)
{
    std::vector<at::Tensor> cotangents;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const at::Tensor phase
            = at::arange(outputs[i].numel(), at::kDouble) * (probe + 1) + double(i);
        cotangents.push_back(at::sin(phase).to(outputs[i].scalar_type()).reshape_as(outputs[i]));
    }
    return cotangents;
}

/// Of a type that is known to be one of floats.
bool isFloat(const Value& value)
{
    return value.type.kind == ValueKind::Tensor && isFloating(value.type.dtype);
}

GradientRequest requestFor(const Graph& graph, bool withStored)
{
    GradientRequest request;
    for (const NodePtr& node : graph.nodes())
        for (std::uint32_t i = 0; i < node->outputs.size(); ++i)
            if (isFloat(node->outputs[i]) && (withStored || node->isOperator()))
                request.sites.push_back({node->id, i});
    for (const NamedArgument& arg : graph.output().args)
        forEachRef(arg.value, [&](ValueRef ref) {
            if (isFloat(graph.value(ref)))
                request.outputs.push_back(ref);
        });
    return request;
}

Result<void> dump(const Words& words)
{
    QS_TRY(const GraphPtr graph, importModel(words.at(1)));
    QS_TRY(const std::vector<at::IValue> inputs, readSampleInputs(*graph));
    QS_TRY(const Interpreter interpreter, Interpreter::create(graph));
    GradientRequest request = requestFor(*graph, true);
    request.bytes = std::stoull(words.at(3));
    request.wholeBytes = std::stoull(words.at(4));
    const int probes = std::stoi(words.at(5));
    QS_TRY(Gradients gradients, Gradients::create(interpreter, request));
    std::vector<c10::impl::GenericList> found;
    for (int probe = 0; probe < probes; ++probe) {
        found.emplace_back(c10::AnyType::get());
        found.back().resize(request.sites.size());
    }
    const auto see = [&](std::size_t site, int probe, const at::Tensor&, const at::Tensor& gradient,
                         const Frame&) -> Result<void> {
        if (gradient.defined())
            found.at(probe).set(site, gradient.contiguous());
        return {};
    };
    QS_CHECK(gradients.run(inputs, probes, waves, see));
    for (const BlockedSite& site : gradients.blocked())
        std::printf("%s%s: %s\n", graph->value(request.sites[site.site]).name.c_str(),
                    site.isPartial ? " in part" : "", site.reason.c_str());
    c10::List<std::string> names;
    for (const ValueRef site : request.sites)
        names.push_back(graph->value(site).name);
    c10::impl::GenericList byProbe(c10::AnyType::get());
    for (auto& list : found)
        byProbe.push_back(std::move(list));
    c10::impl::GenericDict out(c10::StringType::get(), c10::AnyType::get());
    out.insert("names", names);
    out.insert("gradients", byProbe);
    out.insert("segments", std::int64_t(gradients.segments()));
    out.insert("kept", std::int64_t(gradients.keptBytes()));
    const std::vector<char> bytes = torch::jit::pickle_save(out);
    std::ofstream(words.at(2), std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
    return {};
}

/// A field of /proc/self/status, in bytes.
std::int64_t statusBytes(const std::string& field)
{
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(field + ":"))
            return std::stoll(line.substr(field.size() + 1)) * 1024;
    return 0;
}

struct Cost
{
    double seconds = 1e9;
    std::int64_t bytes = 0; ///< above what the process held before
};

Result<void> measure(Cost& cost, const std::function<Result<void>()>& work)
{
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5"; // the peak starts anew
    const std::int64_t before = statusBytes("VmRSS");
    const auto start = std::chrono::steady_clock::now();
    QS_CHECK(work());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    cost.seconds = std::min(cost.seconds, took.count());
    cost.bytes = std::max(cost.bytes, statusBytes("VmHWM") - before);
    return {};
}

Result<void> tellCost(const Words& words)
{
    QS_TRY(const GraphPtr graph, importModel(words.at(1)));
    QS_TRY(const std::vector<at::IValue> inputs, readSampleInputs(*graph));
    QS_TRY(const Interpreter interpreter, Interpreter::create(graph));
    GradientRequest request = requestFor(*graph, false);
    request.wholeBytes = std::stoull(words.at(2));
    QS_TRY(Gradients gradients, Gradients::create(interpreter, std::move(request)));
    const auto see = [](std::size_t, int, const at::Tensor&, const at::Tensor&, const Frame&) {
        return Result<void>();
    };
    QS_CHECK(interpreter.run(inputs)); // warms up: weights are read
    Cost forward, both;
    for (int i = 0; i < std::stoi(words.at(3)); ++i) {
        QS_CHECK(measure(forward, [&]() -> Result<void> {
            QS_CHECK(interpreter.run(inputs));
            return {};
        }));
        QS_CHECK(measure(both, [&] { return gradients.run(inputs, 1, waves, see); }));
    }
    std::printf("{\"forward\": %g, \"both\": %g, \"forward_bytes\": %lld, \"both_bytes\": %lld, "
                "\"segments\": %zu, \"kept\": %zu}\n",
                forward.seconds, both.seconds, static_cast<long long>(forward.bytes),
                static_cast<long long>(both.bytes), gradients.segments(), gradients.keptBytes());
    return {};
}

Result<void> answer(const Words& words)
{
    return guardTorch([&]() -> Result<void> {
        if (words.size() == 6 && words[0] == "dump")
            return dump(words);
        if (words.size() == 4 && words[0] == "cost")
            return tellCost(words);
        return fail(ErrorCode::Usage,
                    "usage: dump MODEL OUT BYTES WHOLE PROBES | cost MODEL WHOLE TIMES");
    });
}

} // namespace

int main()
{
    const InferenceScope scope;
    for (std::string line; std::getline(std::cin, line);) {
        Words words;
        std::istringstream parts(line);
        for (std::string word; std::getline(parts, word, '\t');)
            words.push_back(word);
        const auto done = answer(words);
        std::printf("%s\n", done ? "done" : ("failed: " + done.error().line()).c_str());
        std::fflush(stdout);
    }
    return 0;
}
