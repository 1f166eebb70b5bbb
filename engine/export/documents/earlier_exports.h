// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace qs {

/// The exports that the previous result in a folder lists, and its certificate. They belong to
/// other decisions, or to another model, once a new result is written there. Create it before the
/// new files are written. A value.
class EarlierExports
{
public:
    /// Empty where the folder holds no result. Names other than those this program gives its
    /// exports (`exportFile`) are ignored: a result may come from anywhere.
    explicit EarlierExports(const std::string& folder);

    /// Removes those that are not among the files `written` into the folder, and reports them in
    /// the log. A file of `sources` (the model, its data) stays, as do links and folders.
    void removeOutdated(const std::vector<std::string>& written,
                        const std::vector<std::string>& sources) const;

private:
    std::vector<std::string> m_paths;
};

} // namespace qs
