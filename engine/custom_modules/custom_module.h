// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/quantization_mode.h"
#include "engine/graph/graph_edit.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace c10 {
struct IValue;
}

namespace qs {

/// Per-tensor quantization parameters of a value inside a module.
struct InteriorGrid
{
    DType dtype = DType::QUInt8;
    double scale = 1;
    std::int64_t zeroPoint = 0;
};

/// Inserts an observer, or quantize and dequantize, after a value of a float body. Consumers then
/// read the returned value. `interior` names the value. `again`: the value is already quantized and
/// is requantized with the parameters of `interior`, with which it is joined.
using Seal
    = std::function<ValueRef(GraphEdit& body, ValueRef, const std::string& interior, bool again)>;
/// Returns the parameters of an inner value; nullopt if it is not quantized.
using GridOf = std::function<std::optional<InteriorGrid>(const std::string& interior)>;

/// The draft of a lowered graph, for a module that replaces itself by kernels. Inserts nodes before
/// the module, in its scope. Errors (Unsupported) describe the obstacle in a clause whose subject
/// is the node.
class ModuleDraft
{
public:
    virtual ~ModuleDraft() = default;
    /// The module in reference form.
    virtual const Node& module() const = 0;
    /// Returns the quantized tensor from which `argument` was dequantized; `what` names it in the
    /// error.
    virtual Result<ValueRef> quantized(const Argument& argument, const std::string& what) const = 0;
    /// Returns the qint8 tensor of a weight.
    virtual Result<ValueRef> quantizedWeight(ValueRef dequantized) const = 0;
    /// Returns the result of the packing operator ("quantized::linear_prepack") applied to the
    /// arguments.
    virtual Result<ValueRef> pack(const std::string& packing, std::vector<NamedArgument> arguments)
        = 0;
    /// Inserts a call of an operator; `node` has target, name, arguments and outputs.
    virtual NodeId call(Node node) = 0;
};

/// Input of a module's check.
struct ModuleRun
{
    const Node& reference; ///< the module in reference form, with its body
    std::vector<c10::IValue> inputs; ///< inputs of that body
    const Node& lowered; ///< its replacement
    std::vector<c10::IValue> operands; ///< its operands, in order
    /// Runs the lowered node on the reference form's inputs; returns its outputs.
    std::function<Result<std::vector<c10::IValue>>()> runLowered;
};

/// A module that is quantized as one unit, with inner observers, instead of operator by operator
/// (torch.ao's custom modules). Defines its class, inner observers, and prepared, converted and
/// lowered forms. In a prepared graph and in the reference form it is one `kModuleTarget` node
/// whose body is a graph of ordinary operators. All stages access custom modules through this
/// interface. Immutable; any thread.
class CustomModule
{
public:
    virtual ~CustomModule() = default;

    /// The module's class in rules, "torch.nn.LSTM".
    virtual std::string floatClass() const = 0;
    /// The class of its prepared form ("torch.ao.nn.quantizable.LSTM"); "" if unnamed.
    virtual std::string observedClass() const = 0;
    /// The class of its converted form in that mode; "" if unnamed.
    virtual std::string quantizedClass(QuantizationMode mode) const = 0;
    /// True if a qconfig of that mode quantizes it as one unit. For other modes the backend's
    /// patterns apply.
    virtual bool takes(QuantizationMode mode) const = 0;
    /// True if its operators are gathered into one node before planning (`gatherModules`); false if
    /// it is a single operator.
    virtual bool isGathered() const = 0;
    /// True if the operator, which is in a module of the class, is the module's entire computation.
    virtual bool isWhole(const Node& node) const = 0;

    struct Refusal
    {
        std::string reason; ///< "a static qconfig quantizes the whole LSTM, but this one ..."
        std::string remedy;
    };
    /// Returns why this module cannot be quantized in that mode with any qconfig; nullopt if it
    /// can.
    virtual std::optional<Refusal> whyNot(const Node& node, QuantizationMode mode) const = 0;
    /// Returns a remark for the user; usually empty.
    virtual std::string note(const Graph& graph, const Node& node) const = 0;

    /// Returns the operands that are never observed.
    virtual std::vector<ValueRef> carried(const Node& node) const = 0;
    /// Returns the stored tensors observed by the qconfig's weight observer.
    virtual std::vector<ValueRef> weights(const Graph& graph, const Node& node) const = 0;
    /// For a static qconfig: the observed inner values, in order of computation,
    /// "layers.0.layer_fw.cell.gates".
    virtual std::vector<std::string> interiors(const Node& node) const = 0;
    /// By output of the node: the quantized inner value that it returns; "" for an unquantized
    /// output.
    virtual std::vector<std::string> outputs(const Node& node) const = 0;

    /// Returns the arguments of the `kModuleTarget` node that replaces the float node: together, in
    /// order, its body's inputs.
    virtual std::vector<NamedArgument> arguments(const Node& node) const = 0;
    /// Returns the module as float operators, with `seal` applied to each value of `interiors`.
    /// `node` of `graph` is the float node.
    virtual GraphPtr floatBody(const Graph& graph, const Node& node, const Seal& seal) const = 0;
    /// Returns the parameters of other values passed to `seal` whose parameters are fixed, as those
    /// of the sigmoid and tanh kernels.
    virtual std::optional<InteriorGrid> fixedGrid(const std::string& interior,
                                                  DType dtype) const = 0;

    /// Replaces the module by kernels; the last one takes its quantized inputs and returns all its
    /// results. `node` of `graph` is the float node.
    virtual Result<NodeId> lower(ModuleDraft& draft, const Graph& graph, const Node& node,
                                 QuantizationMode mode, const GridOf& gridOf) const = 0;
    /// Returns the largest difference of a kernel from the reference form, in quantization steps of
    /// its output. May throw c10::Error.
    virtual Result<double> difference(const ModuleRun& run) const = 0;
};
using CustomModulePtr = std::shared_ptr<const CustomModule>;

/// Returns the built-in custom modules and those of the loaded extension packs.
std::vector<CustomModulePtr> customModules();
/// Returns the custom module of a class, by its name in rules or files ("__main__." may be missing,
/// as TorchScript omits it); null for other classes.
CustomModulePtr customModuleOf(std::string_view moduleClass);
/// Returns the custom module that the operator implements, by its enclosing module; null for other
/// operators.
CustomModulePtr customModuleOf(const Node& node);

} // namespace qs
