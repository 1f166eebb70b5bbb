// SPDX-License-Identifier: Apache-2.0
#include "engine/extensions/load_pack.h"

#include "engine/base/plain_cause.h"
#include "engine/base/process/try_apart.h"
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/extensions/check_pack.h"
#include "engine/extensions/classes/adapt_classes.h"
#include "engine/extensions/load_script.h"
#include "engine/extensions/pack_file.h"
#include "engine/extensions/shapes/register_shapes.h"
#include "engine/kernels/device_plugin.h"

#include <algorithm>
#include <dlfcn.h>
#include <mutex>
#include <set>

namespace qs {

namespace {

constexpr TrialLimits kLimits {std::int64_t(8) << 30, 60};
constexpr const char* kBuildAgain
    = "build it against the LibTorch " QUANTSCOPE_TORCH_VERSION " of this program";

/// Returns the loader's message without the path, which the error already names.
std::string loaderCause(const std::string& path)
{
    const char* said = dlerror();
    std::string text = said ? said : "cannot be loaded";
    if (text.starts_with(path + ": "))
        text.erase(0, path.size() + 2);
    return text;
}

/// Loads a library; its static constructors register operators and classes.
Result<void> openLibrary(const std::string& path)
{
    bool opened = false;
    std::string cause;
    auto done = guardTorch([&]() -> Result<void> {
        opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr;
        if (!opened)
            cause = loaderCause(path);
        return {};
    });
    if (!done)
        return fail(
            makeError(ErrorCode::BadInput, "raises while it is loaded: " + done.error().message)
                .inFile(path));
    if (!opened)
        return fail(makeError(ErrorCode::BadInput, "cannot be loaded: " + cause)
                        .inFile(path)
                        .withHint(kBuildAgain));
    return {};
}

Result<void> loadAndCheck(const ExtensionPackPtr& pack)
{
    for (const std::string& library : pack->libraries)
        QS_CHECK(openLibrary(library));
    for (const PackScript& script : pack->scripts)
        QS_CHECK(loadScript(script));
    QS_CHECK(adaptClasses(*pack));
    addLoadedPack(pack);
    QS_CHECK(checkPack(*pack));
    return registerShapes(*pack);
}

/// Converts a crash, a hang or an exit in the trial to an error about `place`, a library or a pack.
Result<void> judge(const TrialEnd& end, const std::string& place, bool isBuilt)
{
    const auto wrong = [&](const std::string& message) {
        return fail(makeError(ErrorCode::BadInput, message)
                        .inFile(place)
                        .withHint(isBuilt ? kBuildAgain : ""));
    };
    if (end.idle)
        return wrong("waits without end while it is loaded");
    if (end.noMemory && end.error.empty())
        return wrong("takes more memory than a library could need while it is loaded");
    if (end.threw)
        return wrong("raises while it is loaded: " + plainCause(end.error));
    if (end.signal != 0)
        return wrong("crashes while it is loaded (signal " + std::to_string(end.signal) + ")");
    if (!end.finished)
        return wrong("ends the program while it is loaded");
    if (!end.error.empty()) // the complete line, including the file
        return fail(makeError(ErrorCode::BadInput, end.error));
    return {};
}

/// Trial body: loads a pack; the words are its folder and hash.
Result<void> loadFolder(const std::vector<std::string>& words)
{
    QS_CHECK(loadPack(words.at(0), {}, words.at(1)));
    return {};
}

/// Trial body: loads the CUDA plug-in and a pack's library. The copy does not use the device.
Result<void> loadBesidePlugin(const std::vector<std::string>& words)
{
    QS_CHECK(openLibrary(words.at(0)));
    return openLibrary(words.at(1));
}

/// Returns the pack's only file, if it has just one, else its folder.
std::string placeOf(const ExtensionPack& pack)
{
    const bool isOne = pack.libraries.size() == 1 && pack.scripts.empty();
    return isOne ? pack.libraries.front() : pack.folder;
}

Result<void> loadForCuda(const ExtensionPack& pack)
{
    QS_TRY(const ExtensionPack now, readPack(pack.folder));
    if (now.sha256 != pack.sha256)
        return fail(makeError(ErrorCode::BadInput, "its files have changed since it was loaded")
                        .inFile(pack.folder)
                        .withHint("start again"));
    for (const std::string& library : pack.cudaLibraries) {
        QS_TRY(const std::optional<TrialEnd> end,
               runApart(loadBesidePlugin, {cudaFacts().pluginPath, library}, kLimits, {}));
        if (end)
            QS_CHECK(judge(*end, library, true));
        QS_CHECK(openLibrary(library));
    }
    return {};
}

} // namespace

Result<ExtensionPackPtr> loadPack(const std::string& folder, const JobContext& job,
                                  const std::string& sha256)
{
    QS_TRY(ExtensionPack read, readPack(folder, job));
    if (!sha256.empty() && read.sha256 != sha256)
        return fail(makeError(ErrorCode::BadInput, "its files have changed since they were shown")
                        .inFile(read.folder)
                        .withHint("add the folder again"));
    for (const ExtensionPackPtr& loaded : loadedPacks())
        if (loaded->name == read.name) {
            if (loaded->sha256 == read.sha256)
                return loaded;
            return fail(makeError(ErrorCode::BadInput,
                                  "another pack named " + inQuotes(read.name) + " is loaded from "
                                      + loaded->folder)
                            .inFile(read.folder));
        }
    const auto pack = std::make_shared<const ExtensionPack>(std::move(read));
    const std::vector<std::string> words {pack->folder, pack->sha256};
    QS_TRY(const std::optional<TrialEnd> end, runApart(loadFolder, words, kLimits, job));
    if (end)
        QS_CHECK(judge(*end, placeOf(*pack), !pack->libraries.empty()));
    QS_CHECK(loadAndCheck(pack));
    prepareTrials(loadFolder, words); // later trials of models need the pack
    return pack;
}

Result<void> loadCudaLibraries()
{
    static std::mutex mutex;
    static std::set<std::string> loaded; // by hash
    const std::lock_guard lock(mutex);
    for (const ExtensionPackPtr& pack : loadedPacks()) {
        if (loaded.contains(pack->sha256))
            continue;
        if (!pack->cudaLibraries.empty())
            QS_CHECK(loadForCuda(*pack));
        loaded.insert(pack->sha256);
    }
    return {};
}

Recipe withLoadedPacks(Recipe recipe)
{
    auto& needed = recipe.extensions;
    for (const ExtensionPackPtr& pack : loadedPacks())
        if (std::find(needed.begin(), needed.end(), pack->name) == needed.end())
            needed.push_back(pack->name);
    return recipe;
}

} // namespace qs
