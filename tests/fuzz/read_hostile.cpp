// SPDX-License-Identifier: Apache-2.0
// Gives files to one reader of the engine, each in a separate process with limits, and prints
// what became of it: `read_hostile READER MODEL < paths`, a line "OUTCOME\tmessage" for each path.
#include "engine/base/json/json_reader.h"
#include "engine/base/log.h"
#include "engine/base/process/try_apart.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/calibrate/data/images/image.h"
#include "engine/calibrate/data/shards/sample_index.h"
#include "engine/calibrate/observations.h"
#include "engine/configure/backend_config.h"
#include "engine/configure/recipe.h"
#include "engine/edit/edited_model.h"
#include "engine/execute/tensor_store.h"
#include "engine/export/documents/node_data_reader.h"
#include "engine/extensions/pack_file.h"
#include "engine/import/importer.h"
#include "engine/pipeline/stage_chain.h"
#include "engine/pipeline/tune/tune_json.h"
#include "engine/project/project.h"
#include "engine/result/stored_run.h"
#include "engine/runs/run_store.h"
#include "engine/verify/certificate.h"

#include <ATen/Parallel.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <poll.h>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace qs;

namespace {

constexpr int kSeconds = 20;
constexpr rlim_t kBytes = rlim_t(4) << 30;
constexpr int kRefused = 10, kNoMemory = 11, kThrown = 12;

using Reader = std::function<Result<void>(const std::string&)>;

template<class T>
Result<void> without(Result<T> result)
{
    QS_CHECK(result);
    return {};
}

/// A model is planned too, as everyone does who opens one.
Result<void> readModel(const std::string& path)
{
    QS_TRY(const GraphPtr graph, importModel(path));
    (void)StageChain().plan(graph, defaultRecipe());
    return {};
}

Result<void> readData(const Graph& model, const std::string& path, const DatasetOptions& options)
{
    QS_TRY(const auto data, openDataset(path, model, options));
    return without(data->batch(0));
}

/// Images of a tar archive are decoded one by one, arrays are read as the model's inputs.
Result<void> readShard(const Graph& model, const std::string& path)
{
    QS_TRY(const SampleIndex index, SampleIndex::read({path}, {"x"}, 0));
    if (!index.parts().isImage)
        return readData(model, path, datasetOptions({}));
    for (std::int64_t i = 0; i < index.count(); ++i) {
        QS_TRY(std::string bytes, index.content(i, 0));
        std::istringstream in(std::move(bytes));
        QS_CHECK(readImage(in, index.file(i)));
    }
    return {};
}

Result<void> readSamples(const std::string& path)
{
    QS_TRY(const GraphPtr graph, importModel(path));
    return readData(*graph, "sample", datasetOptions({}));
}

Result<void> readStored(const std::string& path)
{
    QS_CHECK(readStoredRun(path));
    return {};
}

/// A file that stands for its folder: "extension.json", "run.json".
std::string folderOf(const std::string& path)
{
    return std::filesystem::path(path).parent_path().string();
}

/// The recipe's edits are done too.
Result<void> readEdits(const GraphPtr& model, const std::string& path)
{
    QS_TRY(const Recipe recipe, readRecipe(path));
    QS_TRY(const EditedModelPtr edited, editModel(model, recipe.edits));
    const auto unfit = unfitEdits(*edited, recipe.edits);
    if (!unfit.empty())
        return fail(ErrorCode::BadInput, unfit.front());
    return without(StageChain().plan(edited->graph, recipe));
}

/// Numbers of an edit that stand in a `.npy`.
Result<void> readConstant(const GraphPtr& model, const std::string& path)
{
    QS_TRY(const Recipe recipe,
           parseRecipe(R"({"format": "quantscope.recipe", "version": 1, "edits": [{"do": "constant",
                           "at": {"stored": "fc.weight"}, "file": ")"
                           + path + "\"}]}",
                       path));
    QS_TRY(const EditedModelPtr edited, editModel(model, recipe.edits));
    const auto unfit = unfitEdits(*edited, recipe.edits);
    return unfit.empty() ? Result<void>() : fail(ErrorCode::BadInput, unfit.front());
}

Result<void> readRunEntry(const std::string& path)
{
    const auto runs = listRuns(folderOf(folderOf(path)));
    if (!runs.empty() && !runs.front().problem.empty())
        return fail(ErrorCode::BadInput, runs.front().problem);
    return without(readRun(folderOf(path)));
}

Result<void> readCertificate(const std::string& path)
{
    QS_TRY(const std::string text, readTextFile(path));
    return certifiedFiles(text).empty() ? fail(ErrorCode::BadInput, "no certificate")
                                        : Result<void>();
}

/// The state of a search by the model's own sample.
Result<void> readSearch(const GraphPtr& model, const std::string& path)
{
    TuneRequest request;
    request.file = model;
    request.recipe = defaultRecipe();
    request.settings = {"sample", {}, "cpu"};
    QS_TRY(request.data, dataContent(request, {}));
    QS_TRY(const std::string text, readTextFile(path));
    return without(readSearch(text, request));
}

std::map<std::string, Reader> readersFor(const GraphPtr& model, const PlanPtr& plan)
{
    return {
        {"pt2", readModel},
        {"torchscript", readModel},
        {"samples", readSamples},
        {"npz", [=](const auto& path) { return readData(*model, path, datasetOptions({})); }},
        {"saved", [=](const auto& path) { return readData(*model, path, datasetOptions({})); }},
        {"recipe",
         [=](const auto& path) -> Result<void> {
             QS_TRY(const Recipe recipe, readRecipe(path));
             return without(StageChain().plan(model, recipe));
         }},
        {"edits", [=](const auto& path) { return readEdits(model, path); }},
        {"constant", [=](const auto& path) { return readConstant(model, path); }},
        {"extension", [](const auto& path) { return without(readPack(folderOf(path))); }},
        {"run", readRunEntry},
        {"certificate", readCertificate},
        {"search", [=](const auto& path) { return readSearch(model, path); }},
        {"backend", [](const auto& path) { return without(readBackend(path)); }},
        {"project", [](const auto& path) { return without(readProject(path)); }},
        {"result", readStored},
        {"statistics",
         [=](const auto& path) { return without(readObservations(path, plan->observers)); }},
        {"nodes", [=](const auto& path) { return without(readNodeData(path, *model)); }},
        {"tar", [=](const auto& path) { return readShard(*model, path); }},
        {"image", [](const auto& path) { return without(readImage(path)); }},
    };
}

std::int64_t virtualBytes()
{
    std::ifstream in("/proc/self/statm");
    std::int64_t pages = 0;
    in >> pages;
    return pages * sysconf(_SC_PAGESIZE);
}

/// Whether memory ran out, rather than that a size was refused which no machine has ("out of
/// memory: 3072.0 GB could not be allocated").
bool isOutOfMemory(const std::string& text)
{
    constexpr std::string_view kWords = "out of memory";
    const auto at = text.find(kWords);
    if (at == std::string::npos)
        return false;
    const std::string after = text.substr(at + kWords.size());
    constexpr double kNobodys = 256; // gigabytes
    char* unit = nullptr;
    const double asked = after.starts_with(": ") ? std::strtod(after.c_str() + 2, &unit) : 0;
    return !unit || !std::string_view(unit).starts_with(" GB") || asked < kNobodys;
}

[[noreturn]] void runChild(const Reader& reader, const std::string& path, int told)
{
    startTrials(); // not before the fork: an ended child would leave its answer to the next
    const rlimit none {0, 0}, time {kSeconds, kSeconds};
    const rlim_t most = rlim_t(virtualBytes()) + kBytes;
    const rlimit memory {most, most};
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &time);
#ifndef __SANITIZE_ADDRESS__ // which reserves terabytes
    setrlimit(RLIMIT_AS, &memory);
#else
    (void)memory;
#endif
    alarm(3 * kSeconds); // it waits for something
    int code = 0;
    std::string text;
    try {
        if (const auto done = reader(path); !done) {
            text = done.error().line();
            code = isOutOfMemory(text) ? kNoMemory : kRefused;
        }
    } catch (const std::bad_alloc&) {
        code = kNoMemory;
    } catch (const std::exception& problem) {
        text = problem.what();
        code = kThrown;
    }
    text.resize(std::min<std::size_t>(text.size(), 8000));
    (void)!write(told, text.data(), text.size());
    _exit(code);
}

const char* outcome(int status)
{
    if (WIFSIGNALED(status)) {
        const int number = WTERMSIG(status);
        return number == SIGALRM || number == SIGXCPU || number == SIGKILL ? "hang" : "crash";
    }
    switch (WEXITSTATUS(status)) {
    case 0:
        return "read";
    case kRefused:
        return "refused";
    case kNoMemory:
        return "memory";
    case kThrown:
        return "thrown";
    default:
        return "crash";
    }
}

void readApart(const Reader& reader, const std::string& path)
{
    int ends[2];
    if (pipe(ends) != 0)
        return;
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        runChild(reader, path, ends[1]);
    }
    close(ends[1]);
    std::string text;
    std::array<char, 4096> part;
    for (ssize_t got; (got = read(ends[0], part.data(), part.size())) > 0;)
        text.append(part.data(), std::size_t(got));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        text = "signal " + std::to_string(WTERMSIG(status));
    std::printf("%s\t%s\n", outcome(status), text.c_str());
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 3)
        return 2;
    setLogSink({});
    at::set_num_threads(1); // a pool's threads are not copied
    const auto model = importModel(argv[2]);
    if (!model) {
        std::fprintf(stderr, "%s\n", model.error().line().c_str());
        return 1;
    }
    const auto plan = StageChain().plan(*model, defaultRecipe());
    if (!plan)
        return 1;
    const auto readers = readersFor(*model, *plan);
    const auto reader = readers.find(argv[1]);
    if (reader == readers.end())
        return 2;
    for (std::string path; std::getline(std::cin, path);)
        readApart(reader->second, path);
    return 0;
}
