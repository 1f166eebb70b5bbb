// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace qs {

/// The exports that the result in a folder names: files of a run before, which belong to other
/// decisions or to another model once a new result stands there. Make it before the new files are
/// written. A value.
class EarlierExports
{
public:
    /// There are none where the folder holds no result.
    explicit EarlierExports(const std::string& folder);

    /// Removes those that are not among the files `written` into the folder, and says so in the
    /// log. The file at `model` stays, as does whatever the result did not name.
    void removeOutdated(const std::vector<std::string>& written, const std::string& model) const;

private:
    std::vector<std::string> m_paths;
};

} // namespace qs
