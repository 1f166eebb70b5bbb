// SPDX-License-Identifier: Apache-2.0
#include "engine/import/recompose/decomposed_calls.h"

#include "engine/import/recompose/decomposed_indexing.h"

#include <algorithm>

namespace qs {

namespace {

using Reader = DecomposedReader;

/// True if all inputs come from outside the call.
bool fromOutside(const Reader& read, PatternMatch& match)
{
    return std::all_of(match.values.begin(), match.values.end(), [&](const auto& one) {
        return !one.second.asRef() || read.isOutside(&one.second);
    });
}

/// Matches a call of one operator that only copies.
bool copies(const Reader& read, PatternMatch& match)
{
    const auto& nodes = read.call().nodes;
    return nodes.size() == 1 && read.edit().get(nodes[0]).args.size() == 1
        && fromOutside(read, match);
}

bool ofOneInput(const Reader& read, PatternMatch& match)
{
    return read.call().reads.size() == 1 && fromOutside(read, match);
}

bool ofStoredWeight(const Reader& read, PatternMatch& match)
{
    const auto* weight = match.tryGet<ValueRef>("weight");
    return weight && read.edit().get(weight->node).isStored() && fromOutside(read, match);
}

/// Returns the integer at a position of a list; negative positions count from the end.
std::optional<std::int64_t> numberAt(const Argument* given, std::ptrdiff_t place)
{
    const auto* list = given ? given->asList() : nullptr;
    const auto size = list ? std::ptrdiff_t(list->size()) : 0;
    const std::ptrdiff_t at = place < 0 ? size + place : place;
    const auto* whole = at < 0 || at >= size ? nullptr : (*list)[std::size_t(at)].asInt();
    return whole ? std::optional(*whole) : std::nullopt;
}

/// Normalizes a dimension that may count from the end.
std::int64_t fromFront(std::int64_t dim, std::size_t rank)
{
    return dim < 0 ? dim + std::int64_t(rank) : dim;
}

/// unsqueeze of each part, then cat over the new dimension; or cat, and a view that splits it.
bool stacks(const Reader& read, PatternMatch& match)
{
    const auto* parts = match.tryGet<Argument::List>("parts");
    if (!parts || parts->empty())
        return false;
    const auto* over = match.tryGet<std::int64_t>("over");
    const std::int64_t dim = over ? *over : 0;
    const NodeId last = read.call().nodes.back();
    const bool split
        = last != match.nodes.back() && read.edit().get(last).isOp("aten.view.default");
    Argument::List tensors;
    for (const Argument& part : *parts) {
        const auto* ref = part.asRef();
        const Node* wide = ref ? read.edit().tryGet(ref->node) : nullptr;
        if (!wide)
            return false;
        const Argument* at = wide->tryArg("dim");
        if (split && read.isOutside(&part))
            tensors.push_back(part);
        else if (!split && wide->target == "aten.unsqueeze.default" && at && at->asInt()
                 && fromFront(*at->asInt(), read.rank(*ref)) == fromFront(dim, read.rank(*ref)))
            tensors.push_back(wide->args[0].value);
        else
            return false;
    }
    match.values["tensors"] = std::move(tensors);
    match.values["dim"] = dim;
    return true;
}

/// Returns the layer's input: the value nearest to the product whose shape, except the last
/// dimension, equals the result's, before the layer's view, copy and expand. The call may start
/// with views of its input that are not part of the layer (an alias of a value written in place is
/// viewed again where it is read).
std::optional<ValueRef> linearInput(const Reader& read, const Node& product)
{
    const auto& wanted = read.shape(read.call().gives[0]);
    const auto fits = [&](ValueRef ref) {
        const auto& shape = read.shape(ref);
        return shape.size() == wanted.size() && !shape.empty()
            && std::equal(shape.begin(), shape.end() - 1, wanted.begin());
    };
    const auto readBy = [&](ValueRef ref) -> const ValueRef* {
        const Node* maker = read.tryGet(ref.node);
        return maker && !maker->args.empty() ? maker->args[0].value.asRef() : nullptr;
    };
    const Argument* left = product.tryArg(product.target == "aten.addmm.default" ? "mat1" : "self");
    const ValueRef* ref = left ? left->asRef() : nullptr;
    for (const std::string_view step :
         {"aten.view.default", "aten.clone.default", "aten.expand.default"})
        if (ref && readBy(*ref) && read.edit().get(ref->node).target == step)
            ref = readBy(*ref);
    while (ref && !fits(*ref))
        ref = readBy(*ref);
    return ref ? std::optional(*ref) : std::nullopt;
}

/// Matches a linear layer on a batch of matrices (expand, view, bmm, view, add bias), or on the
/// batch reshaped to one matrix (view, addmm or mm, view). A plain matrix input is not decomposed.
bool isLinear(const Reader& read, PatternMatch& match)
{
    const auto* weight = match.tryGet<ValueRef>("weight");
    static const GraphPattern view = *parsePattern(R"(op "aten.view.default" ())");
    static const GraphPattern add = *parsePattern(R"(op "aten.add.Tensor" ())");
    if (!weight || !read.edit().get(weight->node).isStored() || !read.find(view))
        return false;
    const Node& product = read.edit().get(match.nodes.back());
    const auto added = read.find(add);
    const Node* sum = product.target == "aten.addmm.default" ? &product
        : added                                              ? &read.edit().get(added->nodes[0])
                                                             : nullptr;
    const auto input = linearInput(read, product);
    std::optional<ValueRef> bias, outer;
    for (const ValueRef& ref : read.call().reads) {
        if (ref == *weight)
            continue;
        const bool isAdded
            = sum && std::any_of(sum->args.begin(), sum->args.end(), [&](const auto& a) {
                  return a.value.asRef() && *a.value.asRef() == ref;
              });
        std::optional<ValueRef>& slot = isAdded ? bias : outer;
        if (slot)
            return false;
        slot = ref;
    }
    if (!input || !outer || bool(sum) != bool(bias))
        return false;
    match.values["input"] = *input;
    if (bias)
        match.values["bias"] = *bias;
    return true;
}

/// Matches an instance norm, decomposed into a batch norm over each sample's channels; operands not
/// repeated per sample must be None.
bool normsInstances(const Reader& read, PatternMatch& match)
{
    static const GraphPattern repeat = *parsePattern(R"(op "aten.repeat.default" (self=%stored))");
    for (const char* name : {"weight", "bias", "running_mean", "running_var"}) {
        Argument& given = match.values[name];
        if (const auto repeated = read.behind(&given, repeat))
            given = *repeated->tryGet("stored");
    }
    return fromOutside(read, match);
}

/// Matches a shuffle; the factor is one of the first view's sizes.
template<std::ptrdiff_t Place>
bool shuffles(const Reader& read, PatternMatch& match)
{
    const auto factor = numberAt(match.tryGet("sizes"), Place);
    if (factor)
        match.values["factor"] = *factor;
    return factor && fromOutside(read, match);
}

/// Matches 1-d pooling, decomposed into 2-d pooling with an added first dimension: keeps the
/// arguments of the last dimension.
bool poolsLast(const Reader& read, PatternMatch& match)
{
    for (auto& [name, value] : match.values)
        if (const auto* list = value.asList(); list && !list->empty()) {
            const auto last = numberAt(&value, -1);
            if (!last)
                return false;
            value = Argument::List {*last};
        }
    return fromOutside(read, match);
}

/// Matches repeat_interleave: unsqueeze after the dimension, expand, view.
bool repeats(const Reader& read, PatternMatch& match)
{
    const auto* behind = match.tryGet<std::int64_t>("after");
    const auto count
        = behind ? numberAt(match.tryGet("sizes"), std::ptrdiff_t(*behind)) : std::nullopt;
    if (!count || *behind < 1 || !fromOutside(read, match))
        return false;
    match.values["dim"] = *behind - 1;
    match.values["repeats"] = *count;
    return true;
}

/// PyTorch's decomposition of a function, and the original operator. `completes` makes further
/// checks and adds values for the operator's arguments.
struct Spelling
{
    std::string_view function;
    std::string_view text;
    std::string_view whole;
    bool (*completes)(const Reader&, PatternMatch&) = fromOutside;
};

constexpr Spelling kSpellings[] = {
    // A copy in eval mode. The file does not record the probability, so PyTorch's default is used.
    {"dropout", R"(op "aten.clone.default" (self=%self))",
     R"(op "aten.dropout.default" (input=%self, p=0.5, train=False))", copies},
    {"detach", R"(op "aten.alias.default" (self=%self))",
     R"(op "aten.detach.default" (self=%self))", copies},
    {"hardswish", R"(
        %shifted = op "aten.add.Tensor" (self=%self, other=3)
        op "aten.clamp.default|aten.clamp_min.default|aten.hardtanh.default" (self=%shifted))",
     R"(op "aten.hardswish.default" (self=%self))", ofOneInput},
    {"hardsigmoid", R"(
        %shifted = op "aten.add.Tensor" (self=%self, other=3)
        op "aten.clamp.default|aten.clamp_min.default|aten.hardtanh.default" (self=%shifted))",
     R"(op "aten.hardsigmoid.default" (self=%self))", ofOneInput},
    {"stack", R"(op "aten.cat.default" (tensors=%parts, dim=%over?))",
     R"(op "aten.stack.default" (tensors=%tensors, dim=%dim))", stacks},
    {"linear", R"(
        %turned = op "aten.permute.default" (self=%weight)
        op "aten.addmm.default|aten.mm.default" (mat2=%turned))",
     R"(op "aten.linear.default" (input=%input, weight=%weight, bias=%bias))", isLinear},
    {"linear", R"(
        %turned = op "aten.permute.default" (self=%weight)
        %repeated = op "aten.expand.default" (self=%turned)
        %batch = op "aten.view.default" (self=%repeated)
        op "aten.bmm.default" (mat2=%batch))",
     R"(op "aten.linear.default" (input=%input, weight=%weight, bias=%bias))", isLinear},
    {"prelu", R"(
        %above = op "aten.gt.Scalar" (self=%self, other=0)
        %slopes = op "aten.view.default" (self=%weight)
        %below = op "aten.mul.Tensor" (self=%slopes, other=%self)
        op "aten.where.self" (condition=%above, self=%self, other=%below))",
     R"(op "aten.prelu.default" (self=%self, weight=%weight))", ofStoredWeight},
    {"prelu", R"(
        %above = op "aten.gt.Scalar" (self=%self, other=0)
        %below = op "aten.mul.Tensor" (self=%weight, other=%self)
        op "aten.where.self" (condition=%above, self=%self, other=%below))",
     R"(op "aten.prelu.default" (self=%self, weight=%weight))", ofStoredWeight},
    {"instance_norm", R"(
        %rows = op "aten.view.default" (self=%input)
        op "aten._native_batch_norm_legit.no_stats" (input=%rows, weight=%weight?, bias=%bias?, momentum=%momentum, eps=%eps))",
     R"(op "aten.instance_norm.default" (input=%input, weight=%weight, bias=%bias, running_mean=%running_mean, running_var=%running_var, use_input_stats=True, momentum=%momentum, eps=%eps, cudnn_enabled=False))",
     normsInstances},
    {"instance_norm", R"(
        %rows = op "aten.view.default" (self=%input)
        op "aten._native_batch_norm_legit_no_training.default" (input=%rows, weight=%weight?, bias=%bias?, running_mean=%running_mean?, running_var=%running_var?, momentum=%momentum, eps=%eps))",
     R"(op "aten.instance_norm.default" (input=%input, weight=%weight, bias=%bias, running_mean=%running_mean, running_var=%running_var, use_input_stats=False, momentum=%momentum, eps=%eps, cudnn_enabled=False))",
     normsInstances},
    {"pixel_shuffle", R"(
        %blocks = op "aten.view.default" (self=%self, size=%sizes)
        op "aten.permute.default" (self=%blocks))",
     R"(op "aten.pixel_shuffle.default" (self=%self, upscale_factor=%factor))", shuffles<-3>},
    {"pixel_unshuffle", R"(
        %blocks = op "aten.view.default" (self=%self, size=%sizes)
        op "aten.permute.default" (self=%blocks))",
     R"(op "aten.pixel_unshuffle.default" (self=%self, downscale_factor=%factor))", shuffles<-1>},
    {"adaptive_avg_pool1d", R"(
        %wide = op "aten.unsqueeze.default" (self=%self)
        %pooled = op "aten._adaptive_avg_pool2d.default" (self=%wide, output_size=%size)
        op "aten.squeeze.dims" (self=%pooled))",
     R"(op "aten.adaptive_avg_pool1d.default" (self=%self, output_size=%size))", poolsLast},
    {"avg_pool1d", R"(
        %wide = op "aten.unsqueeze.default" (self=%self)
        %pooled = op "aten.avg_pool2d.default" (self=%wide, kernel_size=%size, stride=%stride?, padding=%padding?, ceil_mode=%up?, count_include_pad=%padded?)
        op "aten.squeeze.dims" (self=%pooled))",
     R"(op "aten.avg_pool1d.default" (self=%self, kernel_size=%size, stride=%stride, padding=%padding, ceil_mode=%up, count_include_pad=%padded))",
     poolsLast},
    {"max_pool1d", R"(
        %wide = op "aten.unsqueeze.default" (self=%self)
        %pooled = op "aten.max_pool2d_with_indices.default" (self=%wide, kernel_size=%size, stride=%stride?, padding=%padding?, dilation=%dilation?, ceil_mode=%up?)
        op "aten.squeeze.dims" (self=%pooled))",
     R"(op "aten.max_pool1d.default" (self=%self, kernel_size=%size, stride=%stride, padding=%padding, dilation=%dilation, ceil_mode=%up))",
     poolsLast},
    {"repeat_interleave", R"(
        %wide = op "aten.unsqueeze.default" (self=%self, dim=%after)
        op "aten.expand.default" (self=%wide, size=%sizes))",
     R"(op "aten.repeat_interleave.self_int" (self=%self, repeats=%repeats, dim=%dim))", repeats},
    {"interpolate", R"(op "aten.index.Tensor" (self=%input, indices=%places))",
     R"(op "aten._upsample_nearest_exact1d.vec" (input=%input, output_size=%sizes, scale_factors=%scales))",
     takesNearest<1>},
    {"interpolate", R"(op "aten.index.Tensor" (self=%input, indices=%places))",
     R"(op "aten._upsample_nearest_exact2d.vec" (input=%input, output_size=%sizes, scale_factors=%scales))",
     takesNearest<2>},
    {"interpolate", R"(op "aten.index.Tensor" (self=%input, indices=%places))",
     R"(op "aten._upsample_nearest_exact3d.vec" (input=%input, output_size=%sizes, scale_factors=%scales))",
     takesNearest<3>},
    {"pad", R"(op "aten.index.Tensor" ())",
     R"(op "aten.pad.default" (self=%self, pad=%pad, mode=%mode))", takesBeyondBorders},
};

struct ReadSpelling
{
    const Spelling* row;
    GraphPattern pattern, whole;
};

const std::vector<ReadSpelling>& spellings()
{
    static const std::vector<ReadSpelling> read = [] {
        std::vector<ReadSpelling> made;
        for (const Spelling& row : kSpellings)
            made.push_back({&row, parsePattern(row.text).value(), parsePattern(row.whole).value()});
        return made;
    }();
    return read;
}

} // namespace

bool isDecomposed(std::string_view function)
{
    return std::any_of(std::begin(kSpellings), std::end(kSpellings),
                       [&](const Spelling& one) { return one.function == function; });
}

std::optional<WholeCall> wholeCall(const GraphEdit& edit, const DecomposedCall& call)
{
    if (call.gives.size() != 1)
        return std::nullopt;
    const Reader reader(edit, call);
    for (const ReadSpelling& spelling : spellings()) {
        if (spelling.row->function != call.function)
            continue;
        auto match = reader.find(spelling.pattern);
        if (!match || !spelling.row->completes(reader, *match))
            continue;
        WholeCall whole {spelling.whole.targets.front(), match->arguments(spelling.whole), {}};
        const Argument& first = whole.args.front().value; // the operand of each of these operators
        if (!first.asRef() && !first.asList())
            continue;
        if (edit.get(match->nodes.back()).isOp("aten.bmm.default"))
            whole.untrained = *match->tryGet("weight")->asRef();
        return whole;
    }
    return std::nullopt;
}

} // namespace qs
