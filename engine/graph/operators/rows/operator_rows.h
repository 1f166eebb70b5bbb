// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/operators/operator_columns.h"

#include <span>
#include <string_view>

namespace qs {

/// One row of the operator table in the sources: the fields of `OperatorFacts` for an operator of
/// PyTorch. Trailing columns with default values are omitted.
struct OperatorRow
{
    /// Names of arguments by role; "" = no such argument.
    struct Roles
    {
        std::string_view input = {}, weight = {}, bias = {};
    };
    std::string_view name = {}; ///< ATen's word, "conv2d"; others with their namespace, "prim.If";
                                ///< with overload, "view.dtype", if it differs from the others
    ResultType type = ResultType::Unknown;
    ResultRank rank = ResultRank::Unknown;
    OperatorTraits traits = {};
    std::string_view plain = {}; ///< user-visible name; "" = `name`
    Roles roles = {};
    std::optional<OperatorClamp> clamp = {};
};

/// Rows of one family.
struct OperatorRows
{
    OperatorFamily family;
    std::span<const OperatorRow> rows;
};

std::span<const OperatorRows> layerRows(); ///< layers of networks, by family
OperatorRows shapeRows(); ///< that move, join, select, transform
OperatorRows valueRows(); ///< that compute element by element, reduce, or make tensors
OperatorRows scriptRows(); ///< on numbers, lists and types; checks; TorchScript's own

} // namespace qs
