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

/// Translates between nodes and their addresses in edits. Operators of the file are numbered in the
/// file's graph, independent of edits, so removing one renumbers nothing. A value type; copies
/// share the file's part. Addresses are created on demand, from two numbers kept per operator.
class Addresses
{
public:
    explicit Addresses(GraphPtr file);

    /// Registers a node added by an edit. Fails if an earlier edit has taken the name.
    Result<void> add(const std::string& name, NodeId node);

    /// Returns the node at an address. Fails if the model has none; the error gives the nearest
    /// name.
    Result<NodeId> find(const ValueAddress& address) const;
    /// Returns a value's address; kind None if it has none.
    ValueAddress of(ValueRef value) const;

    /// True if an edit may use this name for a new operator.
    bool isFree(const std::string& name) const { return !m_added.contains(name); }

private:
    struct File;
    Result<NodeId> findOperator(const ValueAddress& address) const;

    std::shared_ptr<const File> m_file;
    std::map<std::string, NodeId> m_added;
    std::unordered_map<NodeId, std::string> m_addedNames;
};

} // namespace qs
