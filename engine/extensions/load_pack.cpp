// SPDX-License-Identifier: Apache-2.0
#include "engine/extensions/load_pack.h"

#include "engine/base/plain_cause.h"
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/base/try_apart.h"
#include "engine/extensions/check_pack.h"
#include "engine/extensions/classes/adapt_classes.h"
#include "engine/extensions/load_script.h"
#include "engine/extensions/pack_file.h"

#include <algorithm>
#include <dlfcn.h>

namespace qs {

namespace {

constexpr TrialLimits kLimits {std::int64_t(8) << 30, 60};
constexpr const char* kBuildAgain
    = "build it against the LibTorch " QUANTSCOPE_TORCH_VERSION " of this program";

/// The loader's words without the path, which the error names.
std::string loaderCause(const std::string& path)
{
    const char* said = dlerror();
    std::string text = said ? said : "cannot be loaded";
    if (text.starts_with(path + ": "))
        text.erase(0, path.size() + 2);
    return text;
}

/// Its static constructors run, and register operators and classes.
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
    return checkPack(*pack);
}

/// What a crash, a hang or an exit in the trial means.
Result<void> judge(const TrialEnd& end, const ExtensionPack& pack)
{
    const auto wrong = [&](const std::string& message) {
        const bool isOne = pack.libraries.size() == 1 && pack.scripts.empty();
        return fail(makeError(ErrorCode::BadInput, message)
                        .inFile(isOne ? pack.libraries.front() : pack.folder)
                        .withHint(pack.libraries.empty() ? "" : kBuildAgain));
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
    if (!end.error.empty()) // the whole line, file and all
        return fail(makeError(ErrorCode::BadInput, end.error));
    return {};
}

} // namespace

Result<ExtensionPackPtr> loadPack(const std::string& folder, const JobContext& job,
                                  const std::string& sha256)
{
    QS_TRY(ExtensionPack read, readPack(folder));
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
    QS_TRY(const std::optional<TrialEnd> end,
           runApart([&pack] { return loadAndCheck(pack); }, kLimits, job));
    if (end)
        QS_CHECK(judge(*end, *pack));
    QS_CHECK(loadAndCheck(pack));
    return pack;
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
