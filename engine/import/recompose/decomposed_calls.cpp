// SPDX-License-Identifier: Apache-2.0
#include "engine/import/recompose/decomposed_calls.h"

#include "engine/import/recompose/decomposed_indexing.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

using Args = DecomposedArgs;
using Reader = DecomposedReader;

const ValueRef* refOf(const Node& node, std::string_view name)
{
    const Argument* found = node.tryArg(name);
    return found ? found->asRef() : nullptr;
}

Args unary(const Reader& read)
{
    const bool clamps = read.find("aten.clamp.default") || read.find("aten.clamp_min.default")
        || read.find("aten.hardtanh.default");
    if (read.call().reads.size() != 1 || !clamps)
        return std::nullopt;
    return std::vector<NamedArgument> {{"self", read.call().reads[0]}};
}

/// A dimension that may be counted from the end.
std::int64_t fromFront(std::int64_t dim, std::size_t rank)
{
    return dim < 0 ? dim + std::int64_t(rank) : dim;
}

/// unsqueeze of each part, then cat over the new dimension; or cat, and a view that splits it.
Args stacked(const Reader& read)
{
    const Node* cat = read.find("aten.cat.default");
    const auto* parts = cat && !cat->args.empty() ? cat->args[0].value.asList() : nullptr;
    if (!parts || parts->empty())
        return std::nullopt;
    const Argument* over = cat->tryArg("dim");
    const std::int64_t dim = over && over->asInt() ? *over->asInt() : 0;
    const bool split = read.call().nodes.back() != cat->id
        && read.edit().get(read.call().nodes.back()).isOp("aten.view.default");
    Argument::List tensors;
    for (const Argument& part : *parts) {
        const auto* ref = part.asRef();
        const Node* wide = ref ? read.edit().tryGet(ref->node) : nullptr;
        if (!wide)
            return std::nullopt;
        const Argument* at = wide->tryArg("dim");
        if (split && read.from(ref))
            tensors.push_back(*ref);
        else if (!split && wide->target == "aten.unsqueeze.default" && at && at->asInt()
                 && fromFront(*at->asInt(), read.rank(*ref)) == fromFront(dim, read.rank(*ref)))
            tensors.push_back(wide->args[0].value);
        else
            return std::nullopt;
    }
    return std::vector<NamedArgument> {{"tensors", std::move(tensors)}, {"dim", dim}};
}

/// What goes into the layer: before its own view, copy and expand, the value nearest to the product
/// whose shape, but for the last dimension, is the result's. The call may begin with views of its
/// input that are not the layer's own (an alias of a value that was written to in place is viewed
/// again where it is read).
std::optional<ValueRef> linearInput(const Reader& read, const Node& product)
{
    const auto& wanted = read.shape(read.call().gives[0]);
    const auto& inside = read.call().nodes;
    const auto fits = [&](ValueRef ref) {
        const auto& shape = read.shape(ref);
        return shape.size() == wanted.size() && !shape.empty()
            && std::equal(shape.begin(), shape.end() - 1, wanted.begin());
    };
    const auto readBy = [&](ValueRef ref) -> const ValueRef* {
        const Node& maker = read.edit().get(ref.node);
        const bool own = std::find(inside.begin(), inside.end(), maker.id) != inside.end();
        return own && !maker.args.empty() ? maker.args[0].value.asRef() : nullptr;
    };
    const ValueRef* ref = refOf(product, product.target == "aten.addmm.default" ? "mat1" : "self");
    for (const std::string_view step :
         {"aten.view.default", "aten.clone.default", "aten.expand.default"})
        if (ref && readBy(*ref) && read.edit().get(ref->node).target == step)
            ref = readBy(*ref);
    while (ref && !fits(*ref))
        ref = readBy(*ref);
    return ref ? std::optional(*ref) : std::nullopt;
}

/// A batch of matrices (expand, view, bmm, view and the bias added), or one made of it (view, addmm
/// or mm, view); a matrix alone stays as it is.
Args linear(const Reader& read)
{
    const Node* turned = read.find("aten.permute.default");
    const Node* product = read.find("aten.addmm.default");
    if (!product)
        product = read.find("aten.mm.default");
    if (!product)
        product = read.find("aten.bmm.default");
    const bool batched = product && read.find("aten.view.default");
    const auto* weight = batched && turned ? turned->args.at(0).value.asRef() : nullptr;
    if (!weight || !read.edit().get(weight->node).isStored())
        return std::nullopt;
    const bool fused = product->target == "aten.addmm.default";
    const Node* sum = fused ? product : read.find("aten.add.Tensor");
    const auto input = linearInput(read, *product);
    std::optional<ValueRef> bias, outer;
    for (const ValueRef& ref : read.call().reads) {
        if (ref == *weight)
            continue;
        const bool added
            = sum && std::any_of(sum->args.begin(), sum->args.end(), [&](const auto& a) {
                  return a.value.asRef() && *a.value.asRef() == ref;
              });
        std::optional<ValueRef>& slot = added ? bias : outer;
        if (slot)
            return std::nullopt;
        slot = ref;
    }
    if (!input || !outer || bool(sum) != bool(bias))
        return std::nullopt;
    std::vector<NamedArgument> args {{"input", *input}, {"weight", *weight}};
    if (bias)
        args.push_back({"bias", *bias});
    return args;
}

/// where(x > 0, x, weight * x) with the weight in the shape of a channel.
Args prelu(const Reader& read)
{
    const Node* choice = read.find("aten.where.self");
    const Node* product = read.find("aten.mul.Tensor");
    const Node* above = read.find("aten.gt.Scalar");
    if (!choice || !product || !above || product->args.size() < 2)
        return std::nullopt;
    const auto input = read.from(refOf(*above, "self"));
    const auto weight = read.from(product->args[0].value.asRef(), "aten.view.default");
    if (!input || !weight || !read.edit().get(weight->node).isStored())
        return std::nullopt;
    return std::vector<NamedArgument> {{"self", *input}, {"weight", *weight}};
}

/// A batch norm over each sample's channels: of their own statistics, or of running ones, which are
/// then repeated for every sample.
Args instanceNorm(const Reader& read)
{
    const Node* own = read.find("aten._native_batch_norm_legit.no_stats");
    const Node* norm = own ? own : read.find("aten._native_batch_norm_legit_no_training.default");
    const Node* first = read.find("aten.view.default");
    if (!norm || !first || first->args.empty())
        return std::nullopt;
    const auto input = read.from(first->args[0].value.asRef());
    const Argument *momentum = norm->tryArg("momentum"), *eps = norm->tryArg("eps");
    if (!input || !momentum || !eps)
        return std::nullopt;
    std::vector<NamedArgument> args {{"input", *input}};
    for (const char* name : {"weight", "bias", "running_mean", "running_var"}) {
        const ValueRef* given = refOf(*norm, name);
        const auto stored = read.from(given, "aten.repeat.default");
        if (given && !stored)
            return std::nullopt;
        args.push_back({name, stored ? Argument(*stored) : Argument()});
    }
    args.push_back({"use_input_stats", own != nullptr});
    args.push_back({"momentum", *momentum});
    args.push_back({"eps", *eps});
    args.push_back({"cudnn_enabled", false});
    return args;
}

/// view, permute, view: the factor stands among the first view's sizes.
Args shuffled(const Reader& read, std::ptrdiff_t place, const char* name)
{
    const Node* view = read.find("aten.view.default");
    const auto input
        = view && !view->args.empty() ? read.from(view->args[0].value.asRef()) : std::nullopt;
    const auto factor = input ? read.number(*view, "size", place) : std::nullopt;
    if (!factor || !read.find("aten.permute.default"))
        return std::nullopt;
    return std::vector<NamedArgument> {{"self", *input}, {name, *factor}};
}

Args pixelShuffle(const Reader& read)
{
    return shuffled(read, -3, "upscale_factor");
}

Args pixelUnshuffle(const Reader& read)
{
    return shuffled(read, -1, "downscale_factor");
}

/// unsqueeze, pooling over two dimensions, squeeze.
Args pooled(const Reader& read, std::string_view target, std::initializer_list<const char*> lists,
            std::initializer_list<const char*> others)
{
    const Node* pool = read.find(target);
    const auto input
        = pool ? read.from(refOf(*pool, "self"), "aten.unsqueeze.default") : std::nullopt;
    if (!input || !read.find("aten.squeeze.dims"))
        return std::nullopt;
    std::vector<NamedArgument> args {{"self", *input}};
    for (const char* name : lists) {
        if (!pool->tryArg(name))
            continue;
        const auto along = read.number(*pool, name, -1);
        args.push_back({name, along ? Argument::List {*along} : Argument::List {}});
    }
    for (const char* name : others)
        if (const Argument* given = pool->tryArg(name))
            args.push_back({name, *given});
    return args;
}

Args averagePool(const Reader& read)
{
    return pooled(read, "aten.avg_pool2d.default", {"kernel_size", "stride", "padding"},
                  {"ceil_mode", "count_include_pad"});
}

Args maxPool(const Reader& read)
{
    return pooled(read, "aten.max_pool2d_with_indices.default",
                  {"kernel_size", "stride", "padding", "dilation"}, {"ceil_mode"});
}

Args adaptivePool(const Reader& read)
{
    return pooled(read, "aten._adaptive_avg_pool2d.default", {"output_size"}, {});
}

/// unsqueeze behind the dimension, expand, view.
Args repeatInterleave(const Reader& read)
{
    const Node* wide = read.find("aten.unsqueeze.default");
    const Node* expanded = read.find("aten.expand.default");
    const Argument* behind = wide ? wide->tryArg("dim") : nullptr;
    const auto input = wide ? read.from(refOf(*wide, "self")) : std::nullopt;
    if (!input || !expanded || !behind || !behind->asInt() || *behind->asInt() < 1)
        return std::nullopt;
    const auto count = read.number(*expanded, "size", std::ptrdiff_t(*behind->asInt()));
    if (!count)
        return std::nullopt;
    return std::vector<NamedArgument> {
        {"self", *input}, {"repeats", *count}, {"dim", *behind->asInt() - 1}};
}

/// What only copies.
std::optional<ValueRef> copied(const Reader& read, std::string_view by)
{
    const Node& only = read.edit().get(read.call().nodes.front());
    const bool alone = read.call().nodes.size() == 1 && only.target == by && only.args.size() == 1;
    return alone ? read.from(only.args[0].value.asRef()) : std::nullopt;
}

/// In evaluation a copy; its probability, which the file does not tell, is PyTorch's default.
Args dropout(const Reader& read)
{
    const auto input = copied(read, "aten.clone.default");
    if (!input)
        return std::nullopt;
    return std::vector<NamedArgument> {{"input", *input}, {"p", 0.5}, {"train", false}};
}

Args detached(const Reader& read)
{
    const auto input = copied(read, "aten.alias.default");
    if (!input)
        return std::nullopt;
    return std::vector<NamedArgument> {{"self", *input}};
}

struct Spelling
{
    std::string_view function;
    const char* target;
    Args (*read)(const Reader&);
};

constexpr std::array<Spelling, 18> kSpellings {{
    {"dropout", "aten.dropout.default", dropout},
    {"detach", "aten.detach.default", detached},
    {"hardswish", "aten.hardswish.default", unary},
    {"hardsigmoid", "aten.hardsigmoid.default", unary},
    {"stack", "aten.stack.default", stacked},
    {"linear", "aten.linear.default", linear},
    {"prelu", "aten.prelu.default", prelu},
    {"instance_norm", "aten.instance_norm.default", instanceNorm},
    {"pixel_shuffle", "aten.pixel_shuffle.default", pixelShuffle},
    {"pixel_unshuffle", "aten.pixel_unshuffle.default", pixelUnshuffle},
    {"adaptive_avg_pool1d", "aten.adaptive_avg_pool1d.default", adaptivePool},
    {"avg_pool1d", "aten.avg_pool1d.default", averagePool},
    {"max_pool1d", "aten.max_pool1d.default", maxPool},
    {"repeat_interleave", "aten.repeat_interleave.self_int", repeatInterleave},
    {"interpolate", "aten._upsample_nearest_exact1d.vec", nearestExact<1>},
    {"interpolate", "aten._upsample_nearest_exact2d.vec", nearestExact<2>},
    {"interpolate", "aten._upsample_nearest_exact3d.vec", nearestExact<3>},
    {"pad", "aten.pad.default", padded},
}};

} // namespace

bool isDecomposed(std::string_view function)
{
    return std::any_of(kSpellings.begin(), kSpellings.end(),
                       [&](const Spelling& one) { return one.function == function; });
}

std::optional<WholeCall> wholeCall(const GraphEdit& edit, const DecomposedCall& call)
{
    if (call.gives.size() != 1)
        return std::nullopt;
    const Reader reader(edit, call);
    for (const Spelling& spelling : kSpellings) {
        Args args = spelling.function == call.function ? spelling.read(reader) : std::nullopt;
        if (!args)
            continue;
        WholeCall whole {spelling.target, std::move(*args), {}};
        if (reader.find("aten.bmm.default"))
            for (const NamedArgument& argument : whole.args)
                if (argument.name == "weight")
                    whole.untrained = *argument.value.asRef();
        return whole;
    }
    return std::nullopt;
}

} // namespace qs
