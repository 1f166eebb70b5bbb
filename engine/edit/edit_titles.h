// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/edit/edited_model.h"
#include "engine/graph/text/node_titles.h"

namespace qs {

/// Texts of edits with the names that users read of nodes everywhere (`NodeTitles`): those of the
/// edited graph, and of the file for what edits removed. Borrows the model; takes two walks over
/// it.
class EditTitles
{
public:
    explicit EditTitles(const EditedModel& model);

    /// "insert aten.clamp.default after layer1.0.conv1 · conv2d".
    std::string of(const EditStep& step) const;

private:
    std::string nameOf(const ValueAddress& address) const;

    const EditedModel& m_model;
    NodeTitles m_now, m_file;
};

/// The same of a value: its node's title, with the place among several: "layer1 · split, value 1".
std::string valueTitle(const NodeTitles& titles, const Graph& graph, ValueRef value);

} // namespace qs
