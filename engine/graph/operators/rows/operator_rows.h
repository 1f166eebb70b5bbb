// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/operators/operator_columns.h"

#include <span>
#include <string_view>

namespace qs {

/// One row of the operator table as its sources write it: the fields of `OperatorFacts` for an
/// operator of PyTorch. Columns at the end that say nothing are left out.
struct OperatorRow
{
    /// Names of arguments by role; "" = no such argument.
    struct Roles
    {
        std::string_view input = {}, weight = {}, bias = {};
    };
    std::string_view name
        = {}; ///< ATen's word, "conv2d"; others with their namespace, "prim.If"; with
              ///< an overload, "view.dtype", where that differs from the others
    ResultType type = ResultType::Unknown;
    ResultRank rank = ResultRank::Unknown;
    OperatorTraits traits = {};
    std::string_view plain = {}; ///< what users call it; "" = by its name
    Roles roles = {};
    std::optional<OperatorClamp> clamp = {};
};

/// Rows of one family.
struct OperatorRows
{
    OperatorFamily family;
    std::span<const OperatorRow> rows;
};

std::span<const OperatorRows> layerRows(); ///< what networks are made of, by family
OperatorRows shapeRows(); ///< that move, join, select, transform
OperatorRows valueRows(); ///< that compute element by element, reduce, or make tensors
OperatorRows scriptRows(); ///< on numbers, lists and types; checks; TorchScript's own

} // namespace qs
