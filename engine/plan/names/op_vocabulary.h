// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// The name of one operator of the graph in backend patterns and qconfig rules.
struct OpName
{
    enum class Kind : std::uint8_t
    {
        None, ///< not an operator
        Module, ///< the only operator in the forward of a torch.nn module: "torch.nn.Conv2d"
        Function, ///< "torch.nn.functional.relu", "torch.cat", "operator.add",
                  ///< "torch.ops.mypack.linear" of an extension pack
        Method, ///< a tensor method, a bare word: "reshape"
        Inside ///< a helper inside a torch.nn module or a composite function named by `name`
    };
    Kind kind = Kind::None;
    std::string name;
    std::string base; ///< the ATen operator without namespace, overload and trailing underscore
    /// If the file does not record whether a function or a tensor method was called (a trace):
    /// other possible names.
    std::vector<std::string> others {};
    bool isModule() const { return kind == Kind::Module; }
    friend bool operator==(const OpName&, const OpName&) = default;
};

/// The name of a node, from its module's class, else the file's `torch_fn`, else its target. Equal
/// for training IR, core ATen and TorchScript.
OpName opNameOf(const Node& node);
/// The name that a node would have as a function outside any torch.nn module.
OpName ownNameOf(const Node& node);

/// True if the file records only the region of this operator, such as `with torch.no_grad()`, not
/// its call or module: decompositions leave such operators.
bool isOfRegion(const Node& node);

/// The role of an argument in its operator.
enum class ArgumentRole : std::uint8_t
{
    Activation,
    Weight,
    Bias,
    State ///< running statistics and the like: never observed
};
/// The role of argument number `argument` of the node, by the operator's schema.
ArgumentRole argumentRole(const Node& node, const OpName& name, std::size_t argument);

/// The spelling that patterns and rules use for a type as a user may have written it:
/// "torch.nn.modules.conv.Conv2d" is "torch.nn.Conv2d", "torch.conv2d" is
/// "torch.nn.functional.conv2d", "Tensor.reshape" is "reshape", "relu_" is "relu", "mypack::linear"
/// is "torch.ops.mypack.linear".
std::string canonicalTypeName(std::string_view name);

} // namespace qs
