// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string>

namespace qs {

/// A user's settings for every model, on the command line and in the window alike: `settings.json`
/// in the user's configuration folder (`userConfigFile`). A value.
struct Settings
{
    /// Key "target": "required"; else "assumed". A recipe that names no backend is an error then.
    bool requiresTarget = false;
    /// Key "python": the one that runs exports; "" = the usual one. The last that was named and
    /// ran.
    std::string python;
    friend bool operator==(const Settings&, const Settings&) = default;
};

/// The settings, or the defaults if the file does not exist. Errors: a file that cannot be read, an
/// unknown key or word in it.
Result<Settings> readSettings();
/// Writes the file whole or not at all. Errors: a user without such a folder, the disk's.
Result<void> writeSettings(const Settings& settings);

} // namespace qs
