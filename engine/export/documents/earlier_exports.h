// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace qs {

/// Paths of the exports that the previous result in a folder lists, and of its certificate. They
/// are outdated once a new result is written there. Create it before the new files are written. A
/// value.
class EarlierExports
{
public:
    /// Empty if the folder has no result. Ignores file names other than `exportFile`'s, because the
    /// result may come from an untrusted source.
    explicit EarlierExports(const std::string& folder);

    /// Removes the files that are neither in `written` (compared by file name) nor in `sources`
    /// (the model, its data), and reports them in the log. Links and folders stay.
    void removeOutdated(const std::vector<std::string>& written,
                        const std::vector<std::string>& sources) const;

private:
    std::vector<std::string> m_paths;
};

} // namespace qs
