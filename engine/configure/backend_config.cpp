// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend_config.h"

#include "engine/base/files/file_signature.h"
#include "engine/base/json/json_fields.h"
#include "engine/base/json/nearest_name.h"
#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/configure/backend/entry_json.h"
#include "engine/configure/dumps/backend_import.h"
#include "engine/configure/keys/key_table.h"
#include "engine/configure/qconfigs/observer_json.h"
#include "engine/configure/resource_folder.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>

namespace qs {

namespace {

constexpr const char* kBackendFormat = "quantscope.backend";
constexpr int kBackendVersion = 1;

std::filesystem::path backendFolder()
{
    return resourceFolder() / "backends";
}

/// Cached `readBackend`: parses a file again only if it changed.
Result<Backend> readBackendOnce(const std::string& path)
{
    static std::mutex mutex;
    static std::map<std::string, Backend> bySignature;
    const std::string signature = fileSignature(path);
    {
        const std::lock_guard lock(mutex);
        if (const auto found = bySignature.find(signature); found != bySignature.end())
            return found->second;
    }
    QS_TRY(Backend backend, readBackend(path)); // a dump has another name
    const std::lock_guard lock(mutex);
    return bySignature[signature] = std::move(backend);
}

Result<std::string> readPresetName(const JsonPlace& place)
{
    QS_TRY(const std::string name, place.string());
    if (!presetQConfig(name))
        return place.error("unknown preset '" + name + "'", suggestName(name, presetNames()));
    return name;
}

constexpr std::array kBackendFields {
    jsonField<&Backend::name>("name", true), jsonField<&Backend::description>("description"),
    jsonField<&Backend::defaultQConfig, readPresetName>("default_qconfig"),
    jsonField<&Backend::patterns, readBackendPattern, entryToJson>("patterns", true)};

} // namespace

Result<Backend> parseBackend(const std::string& json, const std::string& path)
{
    QS_TRY(Json document, parseJson(withoutComments(json), path));
    if (isBackendDump(document)) {
        QS_TRY(document, importBackend(JsonPlace(document, path, "")));
        note(path + ": a dump of torch.ao's BackendConfig, "
             + counted(document["patterns"].size(), "pattern"));
        const std::vector<std::string> shipped = shippedBackends();
        if (std::find(shipped.begin(), shipped.end(), document["name"]) != shipped.end())
            if (const auto known = findBackend(document["name"]))
                document["default_qconfig"] = known->defaultQConfig;
    }
    const JsonPlace root(document, path, "");
    QS_CHECK(checkFormat(root, kBackendFormat, kBackendVersion));
    QS_CHECK(root.object(keyTable("backend", "").keys()));
    for (const std::string key : {"name", "patterns"})
        if (!root.has(key.c_str()))
            return root.error("the key '" + key + "' is missing");
    Backend backend;
    QS_CHECK(readFields(root, kBackendFields, backend));
    return backend;
}

Result<Backend> readBackend(const std::string& path)
{
    QS_TRY(const std::string text, readTextFile(path));
    return parseBackend(text, path);
}

std::vector<std::string> shippedBackends()
{
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& file : std::filesystem::directory_iterator(backendFolder(), ignored))
        if (file.path().extension() == ".json")
            names.push_back(file.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

bool isBackendPath(const std::string& nameOrPath)
{
    return nameOrPath.find('/') != std::string::npos || nameOrPath.ends_with(".json");
}

Result<Backend> findBackend(const std::string& nameOrPath)
{
    const std::vector<std::string> names = shippedBackends();
    if (std::find(names.begin(), names.end(), nameOrPath) != names.end())
        return readBackendOnce((backendFolder() / (nameOrPath + ".json")).string());
    std::error_code ignored;
    if (isBackendPath(nameOrPath) || std::filesystem::is_regular_file(nameOrPath, ignored))
        return readBackendOnce(nameOrPath);
    return fail(makeError(ErrorCode::NotFound, "unknown backend '" + nameOrPath + "'")
                    .withHint(suggestName(nameOrPath, names) + " (or the path of a backend file)"));
}

std::string backendToJson(const Backend& backend)
{
    Json out {{"format", kBackendFormat}, {"version", kBackendVersion}};
    writeFields(out, kBackendFields, backend);
    return out.dump(2) + "\n";
}

} // namespace qs
