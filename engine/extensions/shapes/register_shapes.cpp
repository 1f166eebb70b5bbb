// SPDX-License-Identifier: Apache-2.0
#include "engine/extensions/shapes/register_shapes.h"

#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/torch_types.h"
#include "engine/extensions/kept_libraries.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <algorithm>

namespace qs {

namespace {

using Handle = c10::OperatorHandle;
using Kind = c10::TypeKind;

/// Returns an argument's type, without optional.
Kind givenKind(const c10::Argument& argument)
{
    const auto optional = argument.type()->cast<c10::OptionalType>();
    return (optional ? optional->getElementType() : argument.type())->kind();
}

/// Meta kernel: returns tensors without elements, with the shapes defined by the pack.
class ShapeKernel : public c10::OperatorKernel
{
public:
    ShapeKernel(PackShapes shapes, std::vector<std::optional<Handle>> sizes)
        : m_shapes(std::move(shapes))
        , m_sizes(std::move(sizes))
    {
    }

    void operator()(const Handle& op, c10::DispatchKeySet, torch::jit::Stack* stack)
    {
        const auto& schema = op.schema();
        const auto first = stack->end() - std::ptrdiff_t(schema.arguments().size());
        const torch::jit::Stack given(first, stack->end());
        stack->erase(first, stack->end());
        for (std::size_t i = 0; i < m_shapes.results.size(); ++i)
            stack->emplace_back(resultOf(schema, given, i));
    }

private:
    at::Tensor resultOf(const c10::FunctionSchema& schema, const torch::jit::Stack& given,
                        std::size_t number) const
    {
        const PackResult& result = m_shapes.results[number];
        std::vector<std::int64_t> sizes;
        if (!result.like.empty()) {
            sizes = tensorOf(schema, given, result.like).sizes().vec();
        } else if (m_sizes[number]) {
            torch::jit::Stack stack = given;
            m_sizes[number]->callBoxed(&stack);
            sizes = stack.back().toIntVector();
        } else {
            for (const PackDim& dim : result.dims)
                sizes.push_back(sizeOf(schema, given, dim));
        }
        const at::ScalarType dtype = result.dtype != DType::Unknown
            ? toScalarType(result.dtype)
            : typed(schema, given, result).scalar_type();
        return at::empty(sizes, at::TensorOptions(dtype).device(at::kMeta));
    }

    static const at::Tensor& tensorOf(const c10::FunctionSchema& schema,
                                      const torch::jit::Stack& given, const std::string& name)
    {
        const c10::IValue& value = given.at(std::size_t(*schema.argumentIndexWithName(name)));
        TORCH_CHECK(value.isTensor(), "its results depend on '", name, "', which is not given");
        return value.toTensor();
    }

    static std::int64_t sizeOf(const c10::FunctionSchema& schema, const torch::jit::Stack& given,
                               const PackDim& dim)
    {
        if (dim.argument.empty())
            return dim.size;
        if (dim.dimension)
            return tensorOf(schema, given, dim.argument).size(*dim.dimension);
        const auto& value = given.at(std::size_t(*schema.argumentIndexWithName(dim.argument)));
        TORCH_CHECK(value.isInt(), "its results depend on '", dim.argument,
                    "', which is not given");
        return value.toInt();
    }

    static const at::Tensor& typed(const c10::FunctionSchema& schema,
                                   const torch::jit::Stack& given, const PackResult& result)
    {
        if (!result.like.empty())
            return tensorOf(schema, given, result.like);
        const auto tensor = std::find_if(given.begin(), given.end(),
                                         [](const c10::IValue& one) { return one.isTensor(); });
        TORCH_CHECK(tensor != given.end(), "no tensor gives the element type of its results");
        return tensor->toTensor();
    }

    const PackShapes m_shapes;
    const std::vector<std::optional<Handle>> m_sizes;
};

class ShapeRegistrar
{
public:
    ShapeRegistrar(const ExtensionPack& pack, const PackShapes& shapes)
        : m_pack(pack)
        , m_shapes(shapes)
        , m_op(*c10::Dispatcher::singleton().findSchema({shapes.op, ""}))
    {
    }

    Result<void> run()
    {
        if (m_op.hasKernelForDispatchKey(c10::DispatchKey::Meta))
            return wrong("it has a meta kernel, which computes them", "leave 'results' out");
        const auto& returns = m_op.schema().returns();
        for (const c10::Argument& result : returns)
            if (result.type()->kind() != Kind::TensorType)
                return wrong("it gives " + result.type()->str() + ", only tensors have a shape");
        if (returns.size() != m_shapes.results.size())
            return wrong("it gives " + counted(std::int64_t(returns.size()), "tensor") + ", "
                         + std::to_string(m_shapes.results.size()) + " listed");
        std::vector<std::optional<Handle>> sizes;
        for (const PackResult& result : m_shapes.results) {
            QS_CHECK(checkResult(result));
            QS_TRY(auto op, sizeOperator(result.sizes));
            sizes.push_back(std::move(op));
        }
        const auto colons = m_shapes.op.find("::");
        auto library
            = std::make_unique<torch::Library>(torch::Library::IMPL, m_shapes.op.substr(0, colons),
                                               c10::DispatchKey::Meta, __FILE__, __LINE__);
        library->impl(m_shapes.op.substr(colons + 2).c_str(),
                      torch::CppFunction::makeFromBoxedFunctor(
                          std::make_unique<ShapeKernel>(m_shapes, std::move(sizes))));
        keepLibrary(std::move(library));
        return {};
    }

private:
    tl::unexpected<Error> wrong(const std::string& message, std::string hint = {}) const
    {
        return fail(
            makeError(ErrorCode::BadInput, "operators." + m_shapes.op + ".results: " + message)
                .inFile(m_pack.folder + "/extension.json")
                .withHint(std::move(hint)));
    }

    Result<void> checkResult(const PackResult& result) const
    {
        if (!result.like.empty())
            QS_CHECK(hasArgument(result.like, Kind::TensorType, "tensor"));
        for (const PackDim& dim : result.dims)
            if (dim.dimension)
                QS_CHECK(hasArgument(dim.argument, Kind::TensorType, "tensor"));
            else if (!dim.argument.empty())
                QS_CHECK(hasArgument(dim.argument, Kind::IntType, "number"));
        return {};
    }

    Result<void> hasArgument(const std::string& name, Kind kind, const char* word) const
    {
        std::vector<std::string> fitting;
        for (const c10::Argument& argument : m_op.schema().arguments())
            if (givenKind(argument) == kind) {
                if (argument.name() == name)
                    return {};
                fitting.push_back(argument.name());
            }
        return wrong("it has no " + std::string(word) + " '" + name + "'",
                     fitting.empty() ? "" : suggestName(name, fitting));
    }

    /// Finds the operator that computes the sizes from the same arguments; nullopt if the name is
    /// empty.
    Result<std::optional<Handle>> sizeOperator(const std::string& name) const
    {
        if (name.empty())
            return std::nullopt;
        const auto found = c10::Dispatcher::singleton().findSchema({name, ""});
        if (!found)
            return wrong("the libraries register no operator '" + name + "'");
        const auto& own = m_op.schema().arguments();
        const auto& schema = found->schema();
        const auto& returns = schema.returns();
        const bool fits = returns.size() == 1 && *returns[0].type() == *c10::ListType::ofInts()
            && std::equal(own.begin(), own.end(), schema.arguments().begin(),
                          schema.arguments().end(),
                          [](const c10::Argument& a, const c10::Argument& b) {
                              return *a.type() == *b.type();
                          });
        if (!fits)
            return wrong(name + " is not what gives an int[] for the same arguments: it is "
                         + c10::toString(schema).substr(schema.name().size()));
        // LibTorch's fallback for the meta device, which always fails, also counts as a kernel.
        using Key = c10::DispatchKey;
        const auto keys
            = {Key::Meta, Key::CompositeExplicitAutograd, Key::CompositeImplicitAutograd};
        if (std::none_of(keys.begin(), keys.end(),
                         [&](Key key) { return found->hasKernelForDispatchKey(key); }))
            return wrong(name + " has no kernel for tensors without elements",
                         "register it for every device: m.def(\"...\", &function)");
        return found;
    }

    const ExtensionPack& m_pack;
    const PackShapes& m_shapes;
    const Handle m_op;
};

} // namespace

Result<void> registerShapes(const ExtensionPack& pack)
{
    return guardTorch([&]() -> Result<void> {
        for (const PackShapes& shapes : pack.shapes) {
            if (!c10::Dispatcher::singleton().findSchema({shapes.op, ""}))
                return fail(makeError(ErrorCode::BadInput,
                                      "operators." + shapes.op
                                          + ".results: it has no overload without a name")
                                .inFile(pack.folder + "/extension.json"));
            QS_CHECK(ShapeRegistrar(pack, shapes).run());
        }
        return {};
    });
}

} // namespace qs
