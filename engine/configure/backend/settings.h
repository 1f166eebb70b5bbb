// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string>

namespace qs {

/// A user's settings for all models, shared by command line and window: `settings.json` in the
/// user's configuration folder (`userConfigFile`). A value type.
struct Settings
{
    /// Key "target": true for "required" (a recipe without a backend is an error), false for
    /// "assumed".
    bool requiresTarget = false;
    /// Key "python": the interpreter for exports, the last named one that ran; "" = the default.
    std::string python;
    friend bool operator==(const Settings&, const Settings&) = default;
};

/// Returns the settings, or the defaults if the file does not exist. Fails if the file cannot be
/// read or has an unknown key or word.
Result<Settings> readSettings();
/// Writes the file atomically. Fails if the user has no configuration folder, or on a disk error.
Result<void> writeSettings(const Settings& settings);

} // namespace qs
