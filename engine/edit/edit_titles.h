// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/edit/edited_model.h"
#include "engine/graph/text/node_titles.h"

namespace qs {

/// Texts of edits with node titles (`NodeTitles`) of the edited graph, or of the file for removed
/// nodes. Borrows the model; traverses it twice.
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

/// Returns a value's title: its node's title, with the index if the node has several: "layer1 ·
/// split, value 1".
std::string valueTitle(const NodeTitles& titles, const Graph& graph, ValueRef value);

} // namespace qs
