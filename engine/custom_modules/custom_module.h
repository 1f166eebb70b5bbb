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

/// Quantization of a value inside a module: one scale.
struct InteriorGrid
{
    DType dtype = DType::QUInt8;
    double scale = 1;
    std::int64_t zeroPoint = 0;
};

/// Inserts an observer, or quantize and dequantize, after a value of a float body. Readers then
/// read the returned value. `interior` names the value; `again`: it was sealed before and now takes
/// the parameters of `interior`, with which it is joined.
using Seal
    = std::function<ValueRef(GraphEdit& body, ValueRef, const std::string& interior, bool again)>;
/// The parameters of a value inside; nothing if it is not quantized.
using GridOf = std::function<std::optional<InteriorGrid>(const std::string& interior)>;

/// The draft of a lowered graph as a module sees it that puts kernels in its own place. All
/// insertions are before the module, in its scope. Errors (Unsupported) name the obstacle, with the
/// node as the subject.
class ModuleDraft
{
public:
    virtual ~ModuleDraft() = default;
    /// The module in reference form.
    virtual const Node& module() const = 0;
    /// The quantized tensor that `argument` was dequantized from; `what` names it in the error.
    virtual Result<ValueRef> quantized(const Argument& argument, const std::string& what) const = 0;
    /// The qint8 tensor of a weight.
    virtual Result<ValueRef> quantizedWeight(ValueRef dequantized) const = 0;
    /// The result of the packing operator ("quantized::linear_prepack") on the arguments.
    virtual Result<ValueRef> pack(const std::string& packing, std::vector<NamedArgument> arguments)
        = 0;
    /// Inserts a call of an operator; its target, name, arguments and outputs are given.
    virtual NodeId call(Node node) = 0;
};

/// Input of a module's check.
struct ModuleRun
{
    const Node& reference; ///< the module in reference form, with its body
    std::vector<c10::IValue> inputs; ///< of that body
    const Node& lowered; ///< its replacement
    std::vector<c10::IValue> operands; ///< its operands, in order
    /// Runs it on the reference form's inputs; its outputs.
    std::function<Result<std::vector<c10::IValue>>()> runLowered;
};

/// A module that is quantized as a whole, from within, rather than operator by operator
/// (torch.ao's custom modules): its class, its inner observers, its prepared, converted and
/// lowered forms. In a prepared graph and in the reference form it is one `kModuleTarget` node
/// whose body is a graph of ordinary operators. The stages know custom modules through this alone.
/// Immutable; any thread.
class CustomModule
{
public:
    virtual ~CustomModule() = default;

    /// The module's class as rules name it, "torch.nn.LSTM".
    virtual std::string floatClass() const = 0;
    /// The class of its prepared form ("torch.ao.nn.quantizable.LSTM"); "" without a name.
    virtual std::string observedClass() const = 0;
    /// The class of its converted form in that mode; "" without a name.
    virtual std::string quantizedClass(QuantizationMode mode) const = 0;
    /// Whether a qconfig of that mode quantizes it as a whole. One of another mode is left to the
    /// backend's patterns.
    virtual bool takes(QuantizationMode mode) const = 0;
    /// True if its operators are gathered into one node before planning (`gatherModules`); else it
    /// is one operator anyway.
    virtual bool isGathered() const = 0;
    /// Whether the operator, which stands in a module of the class, is all that the module
    /// computes.
    virtual bool isWhole(const Node& node) const = 0;

    struct Refusal
    {
        std::string reason; ///< "a static qconfig quantizes the whole LSTM, but this one ..."
        std::string remedy;
    };
    /// Why this one cannot be quantized so, whatever the qconfig; nothing if it can.
    virtual std::optional<Refusal> whyNot(const Node& node, QuantizationMode mode) const = 0;
    /// A further remark for the user; mostly empty.
    virtual std::string note(const Graph& graph, const Node& node) const = 0;

    /// Values that it reads and that are never observed.
    virtual std::vector<ValueRef> carried(const Node& node) const = 0;
    /// The stored tensors that the qconfig's weight observer sees.
    virtual std::vector<ValueRef> weights(const Graph& graph, const Node& node) const = 0;
    /// Under a static qconfig: the values inside that have an observer, in the order in which they
    /// are computed, "layers.0.layer_fw.cell.gates".
    virtual std::vector<std::string> interiors(const Node& node) const = 0;
    /// By output of the node: the inner value that it returns already quantized; "" for an output
    /// that is not quantized.
    virtual std::vector<std::string> outputs(const Node& node) const = 0;

    /// The arguments of the `kModuleTarget` node that takes the float one's place: together, in
    /// order, its body's inputs.
    virtual std::vector<NamedArgument> arguments(const Node& node) const = 0;
    /// The module in float operators, each value of `interiors` sealed. `node` of `graph` is the
    /// float one.
    virtual GraphPtr floatBody(const Graph& graph, const Node& node, const Seal& seal) const = 0;
    /// Values that the seal is called with besides and that have fixed numbers, as the kernels of
    /// sigmoid and tanh give.
    virtual std::optional<InteriorGrid> fixedGrid(const std::string& interior,
                                                  DType dtype) const = 0;

    /// Puts kernels in the module's place; the last takes its quantized inputs and gives its
    /// results, all of them. `node` of `graph` is the float one.
    virtual Result<NodeId> lower(ModuleDraft& draft, const Graph& graph, const Node& node,
                                 QuantizationMode mode, const GridOf& gridOf) const = 0;
    /// How far, in steps of its output, the farthest kernel is from the reference form. May throw
    /// c10::Error.
    virtual Result<double> difference(const ModuleRun& run) const = 0;
};
using CustomModulePtr = std::shared_ptr<const CustomModule>;

/// Those built in, and those of the loaded extension packs.
std::vector<CustomModulePtr> customModules();
/// The one of a class, as rules or files spell it ("__main__." may be missing, as TorchScript omits
/// it); null for other classes.
CustomModulePtr customModuleOf(std::string_view moduleClass);
/// The one that the operator is, by the module it stands in; null for all others.
CustomModulePtr customModuleOf(const Node& node);

} // namespace qs
