// SPDX-License-Identifier: Apache-2.0
#include "engine/import/importer.h"

#include "engine/base/files/file_hash.h"
#include "engine/base/process/try_apart.h"
#include "engine/graph/graph_verifier.h"
#include "engine/graph/pass.h"
#include "engine/import/file_kind.h"
#include "engine/import/functionalize/functionalize.h"
#include "engine/import/functionalize/mutated_state.h"
#include "engine/import/functionalize/view_updates.h"
#include "engine/import/fused_layers.h"
#include "engine/import/pt2/pt2_importer.h"
#include "engine/import/recurrent_shapes.h"
#include "engine/import/torchscript/torchscript_importer.h"
#include "engine/import/trained/fake_quantizers.h"
#include "engine/import/trained/kept_ranges.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <future>

namespace qs {

namespace {

/// Maximum bytes examined of an unsupported pickle.
constexpr std::uint64_t kMostOfPickle = 64 << 20;

Error wrongKind(const std::string& path, const std::string& what, const std::string& way = {})
{
    return makeError(ErrorCode::BadInput, what)
        .inFile(path)
        .withHint(way.empty() ? exportRecipe() : way);
}

/// Returns the error for a pickle, which names its content.
Error pickled(const std::string& path, std::string_view bytes)
{
    const FileSniff sniff = sniffPickle(bytes, path);
    return wrongKind(path, sniff.what, sniff.way);
}

bool anyRecord(const Pt2Archive& archive, std::string_view prefix)
{
    return std::any_of(archive.names().begin(), archive.names().end(),
                       [&](const auto& name) { return name.starts_with(prefix); });
}

/// Returns the error for an archive without an exported program.
Error explainArchive(const Pt2Archive& archive)
{
    if (archive.has("data.pkl")) {
        const auto bytes = archive.size("data.pkl") <= kMostOfPickle
            ? archive.read("data.pkl")
            : Result<std::string>(std::string());
        return bytes ? pickled(archive.path(), *bytes) : bytes.error();
    }
    if (anyRecord(archive, "data/aotinductor/"))
        return wrongKind(archive.path(),
                         "is a package of AOTInductor: compiled for one machine, without a graph",
                         "save the program itself: torch.export.save(exported_program, "
                         "\"model.pt2\")");
    if (archive.has("config.json") && archive.has("model.weights.h5"))
        return wrongKind(
            archive.path(), "is a Keras model",
            "it cannot be converted back: export the PyTorch model that it was made from");
    if (anyRecord(archive, "Data/com.apple.CoreML/"))
        return wrongKind(archive.path(), "is a zipped Core ML package",
                         "export the PyTorch model that it was made from");
    if (std::all_of(archive.names().begin(), archive.names().end(),
                    [](const std::string& name) { return name.ends_with(".npy"); }))
        return wrongKind(archive.path(), "holds NumPy arrays (.npz): data, no model",
                         "give it with --data, and the model as a .pt2 or TorchScript");
    if (anyRecord(archive, "serialized_exported_program.json"))
        return makeError(ErrorCode::BadInput, "is a .pt2 of an old form (before torch 2.8)")
            .inFile(archive.path())
            .withHint("export it again with torch " QUANTSCOPE_TORCH_VERSION);
    return wrongKind(archive.path(), "is a zip archive without an exported PyTorch program");
}

Result<std::shared_ptr<Pt2Archive>> openArchive(const std::string& path)
{
    QS_TRY(const FileSniff sniff, sniffFile(path));
    if (sniff.kind == FileKind::Pickle) {
        std::string bytes(std::size_t(std::min<std::uint64_t>(sniff.size, kMostOfPickle)), '\0');
        std::ifstream(path, std::ios::binary).read(bytes.data(), std::streamsize(bytes.size()));
        return fail(pickled(path, bytes));
    }
    if (sniff.kind == FileKind::Foreign)
        return fail(wrongKind(path, "is not a model file but " + sniff.what, sniff.way));
    QS_TRY(auto archive, Pt2Archive::open(path));
    if (pt2ModelRecord(*archive).empty() && !isTorchScript(*archive))
        return fail(explainArchive(*archive));
    return archive;
}

/// Reads the archive's program into a graph, without the file's hash. `code`: of TorchScript.
Result<GraphPtr> readGraph(const std::shared_ptr<Pt2Archive>& archive,
                           const std::optional<ScriptCode>& code, const JobContext& job)
{
    QS_TRY(const Graph asFiled,
           code ? readTorchScript(archive, *code, job) : readPt2(archive, job));
    QS_CHECK(takeKeptRanges(asFiled, *archive));
    const std::array passes {
        Pass("remove-fake-quantizers", withoutFakeQuantizers, PassTraits {.isVerified = false}),
        Pass("part-fused-activations", withFusedActivations, PassTraits {.isVerified = false}),
        Pass("functionalize",
             [](const Graph& g, const JobContext& j) {
                 return functionalize(withMutatedState(g), j);
             }),
        Pass("drop-idle-updates", withoutIdleUpdates, PassTraits {.isNeeded = false}),
        Pass("drop-read-backs", withoutReadBacks, PassTraits {.isNeeded = false}),
        Pass("correct-recurrent-shapes", withRecurrentShapes, PassTraits {.isNeeded = false}),
    };
    auto made = runPasses(std::make_shared<const Graph>(asFiled), passes, job);
    if (!made)
        return fail(std::move(made).error().inFile(archive->path()));
    return made;
}

Result<void> readScript(const std::vector<std::string>& words)
{
    at::set_num_threads(1);
    QS_TRY(const auto archive, Pt2Archive::open(words.front()));
    QS_TRY(const std::optional<ScriptCode> code, ScriptCode::read(*archive, {}));
    QS_CHECK(readGraph(archive, code, {}));
    return {};
}

/// Tries to compile a script in a forked process, since a file may make LibTorch crash or loop:
/// LibTorch evaluates constants and traverses the code recursively when it compiles.
Result<void> tryScript(const Pt2Archive& archive, const JobContext& job)
{
    constexpr std::int64_t kGigabyte = std::int64_t(1) << 30;
    constexpr std::int64_t kBytesASecond = std::int64_t(16) << 20;
    std::error_code failed;
    const auto size = std::int64_t(std::filesystem::file_size(archive.path(), failed));
    std::uint64_t code = 0; // LibTorch compiles some hundred kilobytes per second
    for (const std::string& name : archive.names())
        if (name.ends_with(".py"))
            code += archive.size(name);
    const std::int64_t bytes = failed ? 0 : size; // packed weights among them are unpacked
    const int seconds = 4 + int(std::min<std::uint64_t>(code / 50'000, 120))
        + int(std::min<std::int64_t>(bytes / kBytesASecond, 240));
    const TrialLimits limits {4 * kGigabyte + 4 * bytes, seconds};
    auto tried = tryApart(readScript, {archive.path()}, limits, "its code", job);
    if (!tried && tried.error().code != ErrorCode::Cancelled)
        return fail(std::move(tried).error().inFile(archive.path()));
    return tried;
}

/// Checks the whole archive. Tries the code of TorchScript meanwhile, and returns it.
Result<std::optional<ScriptCode>> checkArchive(const Pt2Archive& archive, const JobContext& job)
{
    if (!pt2ModelRecord(archive).empty()) {
        job.report("import", "checking the archive", 0.1);
        QS_CHECK(archive.verify(job));
        return std::nullopt;
    }
    job.report("import", "trying its code", 0.1);
    auto trial = std::async(std::launch::async, [&] { return tryScript(archive, job); });
    const auto sound = archive.verify(job);
    auto code = ScriptCode::read(archive, job);
    QS_CHECK(trial.get());
    QS_CHECK(sound);
    if (!code)
        return fail(std::move(code).error());
    return std::optional(std::move(*code));
}

} // namespace

Result<GraphPtr> importModel(const std::string& path, const JobContext& job, const FileHasher& hash)
{
    QS_CHECK(job.check());
    job.report("import", "reading the archive", 0);
    QS_TRY(const auto archive, openArchive(path));
    // All read the whole file; the later readers find it in the page cache.
    auto hashed = std::async(std::launch::async,
                             [&] { return hash ? hash(path, job) : fileSha256(path, job); });
    QS_TRY(const std::optional<ScriptCode> code, checkArchive(*archive, job));
    job.report("import", "reading the graph", 0.5);
    QS_TRY(const GraphPtr read, readGraph(archive, code, job));
    ModelInfo info = read->info();
    QS_TRY(info.sha256, hashed.get());
    const auto graph = std::make_shared<const Graph>(read->withInfo(std::move(info)));
    if (auto sound = verifyGraph(*graph, job); !sound)
        return fail(std::move(sound).error().inFile(path));
    job.report("import", "done", 1);
    return graph;
}

} // namespace qs
