// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/edit_step.h"
#include "engine/graph/graph.h"

#include <map>
#include <memory>
#include <string>
#include <unordered_map>

namespace qs {

/// Translates between nodes and the words in which edits name them. Operators of the file are
/// counted in the file's own graph, whatever edits did since: removing one renumbers nothing. A
/// value; copies share the file's part. Words are made on demand: two numbers are kept for each
/// operator of the file.
class Addresses
{
public:
    explicit Addresses(GraphPtr file);

    /// Remembers what an edit added. Errors: the name is taken by an earlier edit.
    Result<void> add(const std::string& name, NodeId node);

    /// Errors: the model lacks the address; gives the nearest name.
    Result<NodeId> find(const ValueAddress& address) const;
    /// Kind None for a value without an address.
    ValueAddress of(ValueRef value) const;

    /// True if an edit may give this name to its new operator.
    bool isFree(const std::string& name) const { return !m_added.contains(name); }

private:
    struct File;
    Result<NodeId> findOperator(const ValueAddress& address) const;

    std::shared_ptr<const File> m_file;
    std::map<std::string, NodeId> m_added;
    std::unordered_map<NodeId, std::string> m_addedNames;
};

} // namespace qs
