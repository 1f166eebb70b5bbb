// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/python_run.h"

#include "engine/base/files/atomic_file.h"
#include "engine/base/files/temporary_folder.h"
#include "engine/base/json/json_reader.h"
#include "engine/base/process/system.h"
#include "engine/base/text.h"
#include "engine/calibrate/data/call_inputs.h"
#include "engine/compare/output_run.h"
#include "engine/configure/backend/settings.h"
#include "engine/configure/extension_packs.h"
#include "engine/configure/resource_folder.h"
#include "engine/convert/lowering/quantized_engine.h"
#include "engine/io/npy_tensor.h"
#include "engine/verify/child_process.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace qs {

namespace {

namespace fs = std::filesystem;

constexpr auto kSystemPython = "python3";

std::string textOf(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// Adds a tensor as an array of this name; returns its entry. A quantized tensor (input of an
/// extracted part) is passed as its integers.
Json tensorJson(const at::Tensor& tensor, const std::string& name, std::vector<NpyArray>& arrays)
{
    Json json;
    json["array"] = name;
    const bool isQuantized
        = tensor.defined() && tensor.is_quantized() && tensor.qscheme() == at::kPerTensorAffine;
    if (isQuantized) {
        json["scale"] = tensor.q_scale();
        json["zero_point"] = tensor.q_zero_point();
    }
    arrays.push_back(npyFromTensor(name, isQuantized ? tensor.int_repr() : tensor));
    return json;
}

/// All arguments of each call: tensors as arrays, numbers, texts and None as JSON.
Result<Json> callsJson(const Graph& model, const std::vector<Batch>& batches,
                       std::vector<NpyArray>& arrays)
{
    QS_TRY(const CallInputs structure, CallInputs::create(model));
    Json calls = Json::array();
    for (std::size_t b = 0; b < batches.size(); ++b) {
        Json call = Json::array();
        QS_TRY(const std::vector<at::IValue> given, structure.spread(batches[b].inputs));
        for (std::size_t i = 0; i < given.size(); ++i) {
            const at::IValue& value = given[i];
            if (value.isTensor()) {
                call.push_back(tensorJson(value.toTensor(),
                                          std::to_string(b) + "." + std::to_string(i), arrays));
            } else if (value.isInt()) {
                call.push_back({{"value", value.toInt()}});
            } else if (value.isBool()) {
                call.push_back({{"value", value.toBool()}});
            } else if (value.isDouble()) {
                call.push_back({{"value", value.toDouble()}});
            } else if (value.isString()) {
                call.push_back({{"value", value.toStringRef()}});
            } else if (value.isNone()) {
                call.push_back({{"value", nullptr}});
            } else {
                return fail(ErrorCode::Unsupported,
                            "input " + std::to_string(i)
                                + " is neither a tensor nor a number, a text or None: it cannot be "
                                  "handed to another program");
            }
        }
        calls.push_back(std::move(call));
    }
    return calls;
}

/// Indices of the model's outputs that exist in a file which holds only tensors and numbers.
Json outputPlaces(const Graph& model)
{
    Json places = Json::array();
    const auto outputs = outputArguments(model);
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (!outputs[i]->isNone() && !outputs[i]->asString())
            places.push_back(i);
    return places;
}

std::map<std::string, std::string> textsIn(const Json& json)
{
    std::map<std::string, std::string> texts;
    if (json.is_object())
        for (const auto& [key, value] : json.items())
            texts[key] = value.is_string() ? value.get<std::string>() : value.dump();
    return texts;
}

/// Reads arrays named "CALL.OUTPUT" as outputs of the run.
Result<void> readOutputs(const std::string& path, std::size_t calls, std::size_t outputs,
                         RuntimeRun& run)
{
    run.outputs.assign(calls, std::vector<at::Tensor>(outputs));
    if (std::error_code code; !fs::exists(path, code)) // no output is a tensor
        return {};
    QS_TRY(const NpzContent content, readNpz(path));
    for (const NpyArray& array : content.arrays) {
        char* end = nullptr;
        const auto call = std::size_t(std::strtoull(array.name.c_str(), &end, 10));
        const auto output
            = *end == '.' ? std::size_t(std::strtoull(end + 1, nullptr, 10)) : outputs;
        if (call < calls && output < outputs)
            run.outputs[call][output] = tensorFromNpy(array);
    }
    return {};
}

/// The script's result document; without one, an error with the last lines of its output.
Json doneJson(const TemporaryFolder& folder, int exitCode)
{
    Json done = Json::parse(textOf(folder.file("done.json")), nullptr, false);
    if (done.is_object())
        return done;
    std::string words = textOf(folder.file("words.txt"));
    while (!words.empty() && words.back() == '\n')
        words.pop_back();
    words = words.substr(words.rfind('\n') + 1);
    return {{"error",
             "it ended with code " + std::to_string(exitCode)
                 + (words.empty() ? "" : ": " + shortened(words, 300))}};
}

Result<void> readNodes(const std::string& path, std::map<std::string, at::Tensor>& values)
{
    if (std::error_code code; !fs::exists(path, code))
        return {};
    QS_TRY(const NpzContent nodes, readNpz(path));
    for (const NpyArray& array : nodes.arrays)
        values[array.name] = tensorFromNpy(array);
    return {};
}

/// Converts the script's timings; `speed` is null if the script ended before it wrote them.
SpeedReport speedFrom(const Json& speed, int exitCode)
{
    SpeedReport report;
    if (!speed.is_object()) {
        report.error = "it ended with code " + std::to_string(exitCode);
        return report;
    }
    report.error = speed.value("error", "");
    if (!report.error.empty())
        return report;
    report.floatMs = speed.value("float_ms", 0.0);
    report.int8Ms = speed.value("int8_ms", 0.0);
    report.speedup = speed.value("speedup", 0.0);
    report.rounds = speed.value("rounds", std::int64_t(0));
    for (const Json& kind : speed.value("operators", Json::array()))
        report.operators.push_back({kind.value("kind", ""), kind.value("float_ms", 0.0),
                                    kind.value("int8_ms", 0.0), kind.value("fell_back_ms", 0.0),
                                    kind.value("fell_back", std::int64_t(0))});
    return report;
}

Result<RuntimeRun> readRun(const TemporaryFolder& folder, int exitCode, std::size_t calls,
                           bool isTimed)
{
    RuntimeRun run;
    const Json done = doneJson(folder, exitCode);
    run.missing = done.value("missing", std::vector<std::string>());
    run.missingTools = done.value("missing_tools", std::vector<std::string>());
    run.isOwnPython = done.value("own_python", false);
    run.makesEnvironments = done.value("makes_environments", true);
    run.error = done.value("error", "");
    run.versions = textsIn(done.value("versions", Json::object()));
    run.notes = textsIn(done.value("notes", Json::object()));
    if (run.lacks() || !run.error.empty())
        return run;
    QS_CHECK(
        readOutputs(folder.file("outputs.npz"), calls, done.value("outputs", std::size_t(0)), run));
    QS_CHECK(readNodes(folder.file("nodes.npz"), run.nodes));
    QS_CHECK(readNodes(folder.file("alone.npz"), run.alone));
    if (isTimed)
        run.speed = speedFrom(done.value("speed", Json()), exitCode);
    return run;
}

/// Reports the script's current step and its duration: "model.int8.pt2 in torch.compile: compiling,
/// 40 s".
class StepFollower
{
public:
    StepFollower(std::string file, std::string place, const JobContext& job)
        : m_file(std::move(file))
        , m_place(std::move(place))
        , m_job(job)
    {
    }

    void poll()
    {
        const auto seconds
            = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - m_begin).count();
        if (seconds == m_seconds)
            return;
        m_seconds = seconds;
        const std::string step = textOf(m_file);
        const std::string what = m_place + (step.empty() ? "" : ": " + step);
        m_job.report("verify", what + ", " + std::to_string(seconds) + " s", 0);
        if (seconds >= m_nextLine) { // a line now and then during a long step
            m_job.report("verify", what + ", " + std::to_string(seconds) + " s", kUnknown);
            m_nextLine *= 2;
        }
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr double kUnknown = 1e-9;

    std::string m_file, m_place;
    const JobContext& m_job;
    Clock::time_point m_begin = Clock::now();
    std::int64_t m_seconds = 0, m_nextLine = 15;
};

/// Runs the script that comes with the program in the folder. Returns its exit code.
Result<int> runScript(const PythonJob& wanted, const std::vector<Batch>& batches,
                      const TemporaryFolder& folder, const JobContext& job)
{
    std::vector<NpyArray> arrays;
    QS_TRY(Json calls, callsJson(wanted.model, batches, arrays));
    std::error_code code;
    Json text {{"runtime", wanted.runtime.name},
               {"file", fs::absolute(wanted.file, code).string()},
               {"input_tree", wanted.model.info().inputTree},
               {"threads", at::get_num_threads()},
               {"engine", currentEngine()},
               {"calls", std::move(calls)}};
    text["packages"] = wanted.runtime.packages;
    text["tools"] = wanted.runtime.tools;
    text["outputs"] = outputPlaces(wanted.model);
    text["libraries"] = text["scripts"] = Json::array();
    for (const ExtensionPackPtr& pack : loadedPacks()) {
        for (const std::string& library : pack->libraries)
            text["libraries"].push_back(library);
        for (const PackScript& one : pack->scripts)
            text["scripts"].push_back({{"file", one.path}, {"methods", one.methods}});
    }
    text["fresh_state"] = wanted.state == CallState::Saved;
    text["keeps_state"] = wanted.state != CallState::None;
    if (!wanted.floatFile.empty())
        text["float_file"] = fs::absolute(wanted.floatFile, code).string();
    QS_CHECK(writeFileAtomically(folder.file("job.json"), text.dump()));
    QS_CHECK(writeNpz(arrays, folder.file("inputs.npz"), job));
    const fs::path script = resourceFolder() / "verify" / "run_export.py";
    if (!fs::exists(script, code))
        return fail(
            makeError(ErrorCode::Io, "this part of the program is missing: install it again")
                .inFile(script.string()));
    const std::string place
        = fs::path(wanted.file).filename().string() + " in " + std::string(wanted.runtime.name);
    StepFollower follower(folder.file("step.txt"), place, job);
    auto exitCode
        = runChild({wanted.python, script.string(), folder.path()}, folder.file("words.txt"), job,
                   ChildErrors::InTheFile, [&follower] { follower.poll(); });
    if (!exitCode && exitCode.error().code == ErrorCode::Io)
        return fail(std::move(exitCode.error())
                        .withHint(wanted.python == kSystemPython
                                      ? setupAdvice(true)
                                      : "give 'verify' --python the path of a Python"));
    return exitCode;
}

/// "Python's package 'onnx' is not installed", with the names for a command that installs it.
std::string notInstalled(const std::string& whose, const std::vector<std::string>& missing,
                         std::string& words)
{
    std::string names;
    for (const std::string& name : missing) {
        names += (names.empty() ? "" : ", ") + inQuotes(name);
        words += (words.empty() ? "" : " ") + name;
    }
    const bool isOne = missing.size() == 1;
    return whose + (isOne ? " package " : " packages ") + names
        + (isOne ? " is not installed" : " are not installed");
}

} // namespace

std::string usualPython()
{
    Dl_info info {};
    const auto* symbol = reinterpret_cast<const void*>(&at::get_num_threads);
    if (dladdr(symbol, &info) != 0 && info.dli_fname) {
        const std::string library = info.dli_fname;
        const std::size_t at = library.find("/lib/python");
        std::string python = library.substr(0, at) + "/bin/python";
        std::error_code code;
        if (at != std::string::npos && fs::exists(python, code))
            return python;
    }
    return kSystemPython;
}

Result<std::string> pythonFor(const std::string& asked)
{
    if (asked.starts_with("~/")) // as in `setupAdvice`, but entered without a shell
        return environmentVariable("HOME") + asked.substr(1);
    if (!asked.empty())
        return asked;
    QS_TRY(const Settings settings, readSettings());
    std::error_code code;
    return !settings.python.empty() && fs::exists(settings.python, code) ? settings.python
                                                                         : usualPython();
}

std::string missingText(const RuntimeRun& run, const std::string& python)
{
    std::string words, tools, text;
    if (!run.missingTools.empty()) {
        text = notInstalled("Debian's", run.missingTools, tools)
            + ", with which it compiles: 'sudo apt-get install -y " + tools + "'";
        if (run.missing.empty())
            return text;
        text += "; ";
    }
    text += notInstalled("Python's", run.missing, words) + " for " + python;
    if (run.isOwnPython)
        text += ": '" + python + " -m pip install " + pipWords(words) + "' installs "
            + (run.missing.size() == 1 ? "it" : "them");
    return text;
}

Result<RuntimeRun> runInPython(const PythonJob& wanted, const std::vector<Batch>& batches,
                               const JobContext& job)
{
    QS_TRY(const TemporaryFolder folder, TemporaryFolder::create("verify"));
    if (wanted.integers) {
        std::vector<NpyArray> given;
        for (const OwnIntegers& own : *wanted.integers) {
            QS_CHECK(job.check());
            given.push_back(npyFromTensor(own.node, own.integers));
        }
        QS_CHECK(writeNpz(given, folder.file("given.npz"), job));
    }
    QS_TRY(const int exitCode, runScript(wanted, batches, folder, job));
    QS_TRY(RuntimeRun run, readRun(folder, exitCode, batches.size(), !wanted.floatFile.empty()));
    if (run.speed)
        run.speed->samples = batches.front().samples;
    return run;
}

} // namespace qs
