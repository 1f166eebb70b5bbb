// SPDX-License-Identifier: Apache-2.0
#include "engine/import/recompose/decomposed_indexing.h"

#include "engine/graph/argument_number.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

std::optional<double> numberOf(const Node& node, std::string_view name)
{
    return numberOf(node.tryArg(name));
}

std::optional<std::int64_t> wholeOf(const Node& node, std::string_view name)
{
    const Argument* found = node.tryArg(name);
    const auto* whole = found ? found->asInt() : nullptr;
    return whole ? std::optional(*whole) : std::nullopt;
}

/// What `index` takes, a place for every dimension; null entries take all.
const Argument::List* placesOf(const Node& index)
{
    const Argument* found = index.tryArg("indices");
    return found ? found->asList() : nullptr;
}

/// The factor between a place in the result and its place in the input.
std::optional<double> nearestFactor(const DecomposedReader& read, const Argument* place)
{
    while (const Node* wide = read.maker(place, "aten.unsqueeze.default"))
        place = wide->tryArg("self");
    const Node* whole = read.maker(place, "aten._to_copy.default");
    const Node* scaled = whole ? read.maker(whole->tryArg("self"), "aten.mul.Tensor") : nullptr;
    const Node* middle = scaled ? read.maker(scaled->tryArg("self"), "aten.add.Tensor") : nullptr;
    const Node* from
        = middle ? read.maker(middle->tryArg("self"), "aten.arange.start_step") : nullptr;
    if (!from || numberOf(*middle, "other") != 0.5 || numberOf(*from, "start") != 0)
        return std::nullopt;
    return numberOf(*scaled, "other");
}

struct Border
{
    std::int64_t before = 0, after = 0;
    bool mirrored = false;
};

/// How far the places reach beyond a dimension of that size.
std::optional<Border> borderOf(const DecomposedReader& read, const Argument* place,
                               std::int64_t size)
{
    const auto folded = [&](const Argument* at) -> const Argument* {
        const Node* rest = read.maker(at, "aten.sub.Tensor");
        const Node* distance
            = rest ? read.maker(rest->tryArg("other"), "aten.abs.default") : nullptr;
        return distance && numberOf(*rest, "self") == double(size - 1) ? distance->tryArg("self")
                                                                       : nullptr;
    };
    Border border;
    const Node* clamped = read.maker(place, "aten.clamp.default");
    if (clamped) {
        if (numberOf(*clamped, "min") != 0 || numberOf(*clamped, "max") != double(size - 1))
            return std::nullopt;
        place = clamped->tryArg("self");
    } else {
        place = folded(place);
        place = place ? folded(place) : nullptr;
        border.mirrored = true;
    }
    const Node* range = read.maker(place, "aten.arange.start_step");
    const auto start = range ? wholeOf(*range, "start") : std::nullopt;
    const auto end = range ? wholeOf(*range, "end") : std::nullopt;
    if (!start || !end || *start > 0 || *end < size)
        return std::nullopt;
    border.before = -*start;
    border.after = *end - size;
    return border;
}

} // namespace

template<std::size_t Dims>
DecomposedArgs nearestExact(const DecomposedReader& read)
{
    const Argument result(read.call().gives[0]);
    const Node* index = read.maker(&result, "aten.index.Tensor");
    const auto* places = index ? placesOf(*index) : nullptr;
    const Argument* self = index ? index->tryArg("self") : nullptr;
    const auto input = self ? read.from(self->asRef()) : std::nullopt;
    if (!input || !places || places->size() != Dims + 2 || read.rank(*input) != Dims + 2)
        return std::nullopt;
    const auto &in = read.shape(*input), &out = read.shape(read.call().gives[0]);
    Argument::List sizes, scales;
    bool bySize = true;
    for (std::size_t d = 2; d < places->size(); ++d) {
        const auto factor = nearestFactor(read, &(*places)[d]);
        if (!factor || *factor <= 0 || in[d].isSymbolic() || out[d].isSymbolic())
            return std::nullopt;
        bySize &= *factor == double(in[d].size) / double(out[d].size);
        if (!bySize && std::floor(double(in[d].size) / *factor) != double(out[d].size))
            return std::nullopt;
        sizes.emplace_back(out[d].size);
        scales.emplace_back(1 / *factor);
    }
    std::vector<NamedArgument> args {{"input", *input}};
    args.push_back({"output_size", bySize ? Argument(std::move(sizes)) : Argument()});
    args.push_back({"scale_factors", bySize ? Argument() : Argument(std::move(scales))});
    return args;
}

template DecomposedArgs nearestExact<1>(const DecomposedReader&);
template DecomposedArgs nearestExact<2>(const DecomposedReader&);
template DecomposedArgs nearestExact<3>(const DecomposedReader&);

DecomposedArgs padded(const DecomposedReader& read)
{
    Argument at(read.call().gives[0]);
    std::vector<Border> borders; // by dimension from the front
    std::size_t first = 0;
    bool mirrored = false;
    while (const Node* index = read.maker(&at, "aten.index.Tensor")) {
        const auto* places = placesOf(*index);
        const auto* source = index->tryArg("self") ? index->tryArg("self")->asRef() : nullptr;
        if (!places || !source || places->empty())
            return std::nullopt;
        const auto isPlace = [](const Argument& place) { return place.asRef() != nullptr; };
        if (std::count_if(places->begin(), places->end(), isPlace) != 1)
            return std::nullopt;
        const auto dim
            = std::size_t(std::find_if(places->begin(), places->end(), isPlace) - places->begin());
        const Dim size = read.shape(*source).at(dim);
        const auto border
            = size.isSymbolic() ? std::nullopt : borderOf(read, &(*places)[dim], size.size);
        if (!border || (!borders.empty() && border->mirrored != mirrored))
            return std::nullopt;
        first = borders.empty() ? dim : std::min(first, dim);
        mirrored = border->mirrored;
        borders.resize(read.rank(*source));
        borders.at(dim) = *border;
        at = Argument(*source);
    }
    const auto input = read.from(at.asRef());
    if (!input || borders.empty())
        return std::nullopt;
    Argument::List pad; // the last dimension comes first
    for (std::size_t d = borders.size(); d-- > first;) {
        pad.emplace_back(borders[d].before);
        pad.emplace_back(borders[d].after);
    }
    return std::vector<NamedArgument> {
        {"self", *input}, {"pad", std::move(pad)}, {"mode", mirrored ? "reflect" : "replicate"}};
}

} // namespace qs
