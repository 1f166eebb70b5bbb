// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/settings.h"

#include "engine/base/files/atomic_file.h"
#include "engine/base/files/user_config.h"
#include "engine/base/json/json_reader.h"

#include <filesystem>

namespace qs {

namespace {

namespace fs = std::filesystem;

constexpr auto kFormat = "quantscope.settings";
constexpr auto kRequired = "required";
constexpr auto kAssumed = "assumed";

std::string settingsFile()
{
    return userConfigFile("settings.json");
}

} // namespace

Result<Settings> readSettings()
{
    const std::string path = settingsFile();
    Settings settings;
    std::error_code code;
    if (path.empty() || !fs::exists(path, code))
        return settings;
    QS_TRY(const std::string text, readTextFile(path));
    QS_TRY(const Json document, parseJson(text, path));
    const JsonPlace root(document, path, "");
    QS_CHECK(checkFormat(root, kFormat, 1));
    QS_CHECK(root.object({"format", "version", "target", "python"}));
    if (root.has("python")) {
        QS_TRY(settings.python, root.key("python").string());
    }
    if (!root.has("target"))
        return settings;
    QS_TRY(const std::string word, root.key("target").string());
    if (word != kRequired && word != kAssumed)
        return root.key("target").error("must be \"required\" or \"assumed\"");
    settings.requiresTarget = word == kRequired;
    return settings;
}

Result<void> writeSettings(const Settings& settings)
{
    const std::string path = settingsFile();
    if (path.empty())
        return fail(makeError(ErrorCode::Io, "there is no folder for settings")
                        .withHint("set HOME or XDG_CONFIG_HOME"));
    std::error_code code;
    fs::create_directories(fs::path(path).parent_path(), code);
    Json document = {{"format", kFormat},
                     {"version", 1},
                     {"target", settings.requiresTarget ? kRequired : kAssumed}};
    if (!settings.python.empty())
        document["python"] = settings.python;
    return writeFileAtomically(path, document.dump(2) + "\n");
}

} // namespace qs
