// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/configure/recipe.h"
#include "engine/graph/graph.h"
#endif

#include <filesystem>
#include <string>

namespace qs {

/// Where the search of cures for a model from a recipe keeps its files: in the user's data folder,
/// so that the same search continues after the window was closed. A value.
class SearchFolder
{
public:
    SearchFolder() = default;
    /// Removes the folders of the oldest other searches.
    SearchFolder(const Graph& file, const Recipe& start);

    /// Folder for the numbers of cures.
    std::string numbers() const { return (m_folder / "numbers").string(); }
    std::string trainedModel() const { return (m_folder / "trained.pt2").string(); }
    /// The recipe beside which the state lies (`searchPath`); it does not exist itself.
    std::string recipe() const { return (m_folder / "search.json").string(); }
    /// True for a file that a cure of this search names.
    bool holds(const std::string& file) const;

private:
    std::filesystem::path m_folder;
};

} // namespace qs
