// SPDX-License-Identifier: Apache-2.0
#include "engine/edit/infer_types.h"

#include "engine/base/torch_guard.h"
#include "engine/execute/node_runner.h"
#include "engine/execute/op_table.h"
#include "engine/execute/tensor_store.h"
#include "engine/execute/torch_types.h"
#include "engine/graph/operators/operators.h"
#include "engine/graph/text/size_expression.h"
#include "engine/import/pt2/symbol_text.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/quantize_per_tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <optional>

namespace qs {

namespace {

using Sizes = std::map<std::string, std::int64_t>;
using Values = std::vector<at::IValue>;

/// Operators with more bytes of operands and results than this run only on the meta device.
constexpr std::int64_t kMostBytes = std::int64_t(1) << 28;
/// Scale factors of symbolic dimensions: distinct primes, so products are unique.
constexpr std::array<std::int64_t, 8> kFactors {2, 3, 5, 7, 11, 13, 17, 19};

std::int64_t bytesOf(const at::IValue& value)
{
    // The storage of a sparse tensor is not counted.
    const auto of = [](const at::Tensor& tensor) {
        return tensor.defined() && tensor.layout() == at::kStrided ? std::int64_t(tensor.nbytes())
                                                                   : 0;
    };
    if (value.isTensor())
        return of(value.toTensor());
    std::int64_t bytes = 0;
    if (value.isTensorList())
        for (const at::Tensor& tensor : value.toTensorVector())
            bytes += of(tensor);
    return bytes;
}

/// One call of an operator on generated operands.
class Trial
{
public:
    Trial(const GraphEdit& draft, const Sizes& sizes, at::Device device)
        : m_draft(draft)
        , m_sizes(sizes)
        , m_device(device)
    {
    }

    /// Returns nullopt if too little is known of an operand.
    std::optional<Result<Values>> run(const Node& node)
    {
        const ReadValue read = [this](ValueRef ref) { return operand(ref); };
        const RunSubgraph none = [this](std::size_t, const Values&) -> Result<Values> {
            m_unknown = true;
            return fail(ErrorCode::Unsupported, "it runs a subgraph");
        };
        const InferenceScope scope;
        auto made = runCall(node, prepareCall(node), {m_device, read, none});
        if (m_unknown)
            return {};
        return made;
    }
    std::int64_t bytesRead() const { return m_bytes; }
    /// Quantized tensors and packed weights have no meta kernels.
    bool needsKernel() const { return m_needsKernel; }

private:
    Result<at::IValue> operand(ValueRef ref)
    {
        const Node& node = m_draft.get(ref.node);
        if (const auto store = tensorsOf(m_draft); store && node.isStored())
            return store->getOn(node.tensor, m_device);
        const ValueType& type = node.outputs.at(ref.index).type;
        if (type.kind == ValueKind::None)
            return at::IValue();
        if (type.kind == ValueKind::SymInt)
            if (const auto size = evaluateSize(symbolText(type.expression), m_sizes))
                return at::IValue(*size);
        if (type.kind == ValueKind::Custom && node.isOperator() && !m_device.is_meta())
            return object(node, ref.index);
        const auto shape = TypeInference::shapeOf(type, m_sizes);
        m_needsKernel = m_needsKernel || isQuantized(type.dtype) || type.kind == ValueKind::Custom;
        if (!shape || (m_needsKernel && m_device.is_meta())) {
            m_unknown = true;
            return fail(ErrorCode::Unsupported, "its operands' shapes are not known");
        }
        if (isQuantized(type.dtype))
            return at::IValue(
                at::quantize_per_tensor(at::zeros(*shape), 1.0, 0, toScalarType(type.dtype)));
        const auto options = at::TensorOptions(toScalarType(type.dtype));
        const at::Tensor meta = at::empty(*shape, options.device(at::kMeta));
        m_bytes += std::int64_t(meta.nbytes());
        if (m_device.is_meta())
            return at::IValue(meta);
        return at::IValue(at::zeros(*shape, options));
    }

    /// Creates a packed weight from its operands.
    Result<at::IValue> object(const Node& maker, std::uint32_t index)
    {
        auto made = run(maker);
        if (!made || !*made || index >= (*made)->size()) {
            m_unknown = true;
            return fail(ErrorCode::Unsupported, "its operands are not known");
        }
        return (**made)[index];
    }

    const GraphEdit& m_draft;
    const Sizes& m_sizes;
    const at::Device m_device;
    bool m_unknown = false, m_needsKernel = false;
    std::int64_t m_bytes = 0;
};

/// Returns the operator's results, or its error on these operands; nullopt if the operands are
/// unknown.
std::optional<Result<Values>> tried(const GraphEdit& draft, const Node& node, const Sizes& sizes)
{
    Trial meta(draft, sizes, at::kMeta);
    auto light = meta.run(node);
    if (!light && meta.needsKernel())
        return Trial(draft, sizes, at::kCPU).run(node);
    if (!light)
        return {};
    // A pack's result shapes take precedence: its kernel may not support zeros.
    if (const OperatorFactsPtr facts = packOperator(node.target); facts && facts->tellsResults)
        return light;
    std::int64_t bytes = meta.bytesRead();
    if (*light)
        for (const at::IValue& value : **light)
            bytes += bytesOf(value);
    // Many operators have no meta kernel, and some meta kernels check less.
    if (bytes > kMostBytes)
        return *light ? std::move(light) : std::nullopt;
    return Trial(draft, sizes, at::kCPU).run(node);
}

bool dependsOnData(const Node& node)
{
    const auto op = findOperator(node.target);
    return op
        && (op->hasTag(at::Tag::dynamic_output_shape)
            || op->hasTag(at::Tag::data_dependent_output));
}

bool sameType(const ValueType& a, const ValueType& b)
{
    return a.text() == b.text();
}

} // namespace

std::optional<std::vector<std::int64_t>>
TypeInference::shapeOf(const ValueType& type, const std::map<std::string, std::int64_t>& sizes)
{
    if (type.kind != ValueKind::Tensor || !type.shapeKnown || type.dtype == DType::Unknown)
        return {};
    std::vector<std::int64_t> shape;
    for (const Dim& dim : type.shape) {
        const auto size = dim.isSymbolic() ? evaluateSize(dim.symbol, sizes)
                                           : std::optional<std::int64_t>(dim.size);
        if (!size || *size < 0)
            return {};
        shape.push_back(*size);
    }
    return shape;
}

TypeInference::TypeInference(GraphEdit& draft)
    : m_draft(draft)
{
    for (const NodeId id : draft.order()) {
        const Node& node = draft.get(id);
        if (node.kind != NodeKind::Input)
            continue;
        for (const Value& value : node.outputs)
            for (const Dim& dim : value.type.shape) {
                if (!isSizeName(dim.symbol) || m_symbols.contains(dim.symbol))
                    continue;
                const std::int64_t hint = std::max<std::int64_t>(dim.size, 2);
                const std::int64_t factor = kFactors[m_symbols.size() % kFactors.size()];
                m_symbols[dim.symbol] = {hint, hint * factor, dim.expression};
            }
    }
}

std::map<std::string, std::int64_t> TypeInference::sizes(bool larger) const
{
    Sizes out;
    for (const auto& [name, symbol] : m_symbols)
        out[name] = larger ? symbol.larger : symbol.hint;
    return out;
}

Dim TypeInference::dimOf(std::int64_t size, std::int64_t other, const Node& node,
                         std::size_t axis) const
{
    if (size == other)
        return Dim::fixed(size);
    // Look for the dimension among the operands', first at the same position.
    const Sizes one = sizes(false), two = sizes(true);
    std::optional<Dim> found;
    for (const NamedArgument& argument : node.args)
        forEachRef(argument.value, [&](ValueRef ref) {
            const auto& shape = m_draft.get(ref.node).outputs.at(ref.index).type.shape;
            for (std::size_t i = 0; i < shape.size(); ++i)
                if (shape[i].isSymbolic() && evaluateSize(shape[i].symbol, one) == size
                    && evaluateSize(shape[i].symbol, two) == other && (!found || i == axis))
                    found = shape[i];
        });
    if (found)
        return *found;
    return productOf(size, other);
}

/// Returns a number times powers of symbolic dimensions: each is scaled by a distinct prime; the
/// ratio of the sizes gives its exponent.
Dim TypeInference::productOf(std::int64_t size, std::int64_t other) const
{
    if (size <= 0 || other % size != 0)
        return {};
    std::int64_t growth = other / size, times = size;
    std::string text, expression;
    bool spelled = true;
    for (const auto& [name, symbol] : m_symbols)
        for (const std::int64_t factor = symbol.larger / symbol.hint; growth % factor == 0;) {
            if (times % symbol.hint != 0)
                return {};
            growth /= factor;
            times /= symbol.hint;
            text += "*" + name;
            expression += ", " + symbol.expression;
            spelled = spelled && !symbol.expression.empty();
        }
    if (growth != 1 || text.empty())
        return {};
    Dim dim {size, std::to_string(times) + text, {}};
    if (spelled)
        dim.expression = "Mul(Integer(" + std::to_string(times) + ")" + expression + ")";
    return dim;
}

Result<std::vector<ValueType>> TypeInference::outputsOf(const Node& node) const
{
    std::vector<ValueType> types;
    const auto first = tried(m_draft, node, sizes(false));
    if (!first)
        return types;
    if (!*first)
        return fail(Error(first->error()).atNode(node.name));
    const bool isOpen = dependsOnData(node);
    std::optional<Result<Values>> second;
    if (!m_symbols.empty() && !isOpen)
        second = tried(m_draft, node, sizes(true));
    const bool both = second && *second && (*second)->size() == (*first)->size();
    for (std::size_t i = 0; i < (*first)->size(); ++i) {
        const at::IValue& value = (**first)[i];
        ValueType type;
        if (value.isTensor() && value.toTensor().defined()) {
            const at::Tensor& tensor = value.toTensor();
            type.dtype = fromScalarType(tensor.scalar_type());
            type.shapeKnown = true;
            for (std::int64_t axis = 0; axis < tensor.dim(); ++axis) {
                const std::int64_t size = tensor.size(axis);
                if (isOpen || (!both && !m_symbols.empty()))
                    type.shape.push_back({});
                else if (!both)
                    type.shape.push_back(Dim::fixed(size));
                else
                    type.shape.push_back(
                        dimOf(size, (**second)[i].toTensor().size(axis), node, std::size_t(axis)));
            }
        } else if (value.isInt()) {
            type.kind = ValueKind::SymInt;
            if (!both || (**second)[i].toInt() == value.toInt())
                type.expression = std::to_string(value.toInt());
            else
                type.expression = dimOf(value.toInt(), (**second)[i].toInt(), node, 0).expression;
        } else if (value.isDouble()) {
            type.kind = ValueKind::SymFloat;
        } else if (value.isBool()) {
            type.kind = ValueKind::SymBool;
        } else {
            type.kind = value.isTensor() || value.isNone() ? ValueKind::None : ValueKind::Tuple;
        }
        types.push_back(std::move(type));
    }
    return types;
}

Result<void> TypeInference::spread(const std::unordered_set<NodeId>& changed, const JobContext& job)
{
    std::unordered_set<NodeId> touched = changed, reached; // nodes reached by a changed type
    for (const NodeId id : m_draft.order()) {
        if (!touched.contains(id))
            continue;
        QS_CHECK(job.check());
        const Node& node = m_draft.get(id);
        bool differs = false;
        if (node.kind == NodeKind::Op && node.subgraphs.empty() && node.opaqueReason.empty()) {
            QS_TRY(const std::vector<ValueType> types, outputsOf(node));
            for (std::size_t i = 0; i < node.outputs.size(); ++i) {
                const ValueType now = i < types.size() ? types[i] : ValueType();
                if (sameType(now, node.outputs[i].type))
                    continue;
                m_draft.change(id).outputs[i].type = now;
                differs = true;
            }
        } else if (reached.contains(id) && node.isOperator()) { // its result types are now unknown
            for (std::size_t i = 0; i < node.outputs.size(); ++i)
                if (const ValueType& type = node.outputs[i].type;
                    type.kind == ValueKind::Tensor && type.shapeKnown) {
                    m_draft.change(id).outputs[i].type = ValueType();
                    differs = true;
                }
        }
        if (!differs && !node.isStored())
            continue;
        for (std::uint32_t i = 0; i < m_draft.get(id).outputs.size(); ++i)
            for (const Use& use : m_draft.users({id, i})) {
                touched.insert(use.node);
                reached.insert(use.node);
            }
    }
    return {};
}

} // namespace qs
