// SPDX-License-Identifier: Apache-2.0
#include "engine/import/recompose/decomposed_indexing.h"

#include "engine/graph/argument_number.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// Returns the factor from a position in the result to its position in the input.
std::optional<double> nearestFactor(const DecomposedReader& read, const Argument* place)
{
    static const GraphPattern unsqueeze = *parsePattern(R"(op "aten.unsqueeze.default" (self=%x))");
    static const GraphPattern scaled = *parsePattern(R"(
        %range = op "aten.arange.start_step" (start=0)
        %middle = op "aten.add.Tensor" (self=%range, other=0.5)
        %place = op "aten.mul.Tensor" (self=%middle, other=%factor)
        op "aten._to_copy.default" (self=%place))");
    std::optional<PatternMatch> wide;
    while (auto next = read.behind(place, unsqueeze)) {
        wide = std::move(next);
        place = wide->tryGet("x");
    }
    const auto found = read.behind(place, scaled);
    return found ? numberOf(found->tryGet("factor")) : std::nullopt;
}

struct Border
{
    std::int64_t before = 0, after = 0;
    bool mirrored = false;
};

/// Returns how far the positions extend beyond a dimension of that size.
std::optional<Border> borderOf(const DecomposedReader& read, const Argument* place,
                               std::int64_t size)
{
    static const GraphPattern repeated = *parsePattern(R"(
        %range = op "aten.arange.start_step" (start=%start, end=%end)
        op "aten.clamp.default" (self=%range, min=0, max=%last))");
    static const GraphPattern mirrored = *parsePattern(R"(
        %range = op "aten.arange.start_step" (start=%start, end=%end)
        %before = op "aten.abs.default" (self=%range)
        %folded = op "aten.sub.Tensor" (self=%last, other=%before)
        %after = op "aten.abs.default" (self=%folded)
        op "aten.sub.Tensor" (self=%last, other=%after))");
    auto found = read.behind(place, repeated);
    const bool mirrors = !found;
    if (mirrors)
        found = read.behind(place, mirrored);
    if (!found || numberOf(found->tryGet("last")) != double(size - 1))
        return std::nullopt;
    const auto* start = found->tryGet<std::int64_t>("start");
    const auto* end = found->tryGet<std::int64_t>("end");
    if (!start || !end || *start > 0 || *end < size)
        return std::nullopt;
    return Border {-*start, *end - size, mirrors};
}

} // namespace

template<std::size_t Dims>
bool takesNearest(const DecomposedReader& read, PatternMatch& match)
{
    const Argument* self = match.tryGet("input");
    const auto* places = match.tryGet<Argument::List>("places");
    const ValueRef result = read.call().gives[0];
    if (match.nodes.back() != result.node || !read.isOutside(self) || !places
        || places->size() != Dims + 2 || read.rank(*self->asRef()) != Dims + 2)
        return false;
    const auto &in = read.shape(*self->asRef()), &out = read.shape(result);
    Argument::List sizes, scales;
    bool bySize = true;
    for (std::size_t d = 2; d < places->size(); ++d) {
        const auto factor = nearestFactor(read, &(*places)[d]);
        if (!factor || *factor <= 0 || in[d].isSymbolic() || out[d].isSymbolic())
            return false;
        bySize &= *factor == double(in[d].size) / double(out[d].size);
        if (!bySize && std::floor(double(in[d].size) / *factor) != double(out[d].size))
            return false;
        sizes.emplace_back(out[d].size);
        scales.emplace_back(1 / *factor);
    }
    match.values["sizes"] = bySize ? Argument(std::move(sizes)) : Argument();
    match.values["scales"] = bySize ? Argument() : Argument(std::move(scales));
    return true;
}

template bool takesNearest<1>(const DecomposedReader&, PatternMatch&);
template bool takesNearest<2>(const DecomposedReader&, PatternMatch&);
template bool takesNearest<3>(const DecomposedReader&, PatternMatch&);

bool takesBeyondBorders(const DecomposedReader& read, PatternMatch& match)
{
    static const GraphPattern taken
        = *parsePattern(R"(op "aten.index.Tensor" (self=%self, indices=%places))");
    Argument at(read.call().gives[0]);
    std::vector<Border> borders; // in order of dimensions
    std::size_t first = 0;
    bool mirrored = false;
    while (const auto index = read.behind(&at, taken)) {
        const auto* places = index->tryGet<Argument::List>("places");
        const auto* source = index->tryGet<ValueRef>("self");
        if (!places || !source || places->empty())
            return false;
        const auto isPlace = [](const Argument& place) { return place.asRef() != nullptr; };
        if (std::count_if(places->begin(), places->end(), isPlace) != 1)
            return false;
        const auto dim
            = std::size_t(std::find_if(places->begin(), places->end(), isPlace) - places->begin());
        const Dim size = read.shape(*source).at(dim);
        const auto border
            = size.isSymbolic() ? std::nullopt : borderOf(read, &(*places)[dim], size.size);
        if (!border || (!borders.empty() && border->mirrored != mirrored))
            return false;
        first = borders.empty() ? dim : std::min(first, dim);
        mirrored = border->mirrored;
        borders.resize(read.rank(*source));
        borders.at(dim) = *border;
        at = Argument(*source);
    }
    if (!read.isOutside(&at) || borders.empty())
        return false;
    Argument::List pad; // the last dimension is first
    for (std::size_t d = borders.size(); d-- > first;) {
        pad.emplace_back(borders[d].before);
        pad.emplace_back(borders[d].after);
    }
    match.values["self"] = at;
    match.values["pad"] = std::move(pad);
    match.values["mode"] = mirrored ? "reflect" : "replicate";
    return true;
}

} // namespace qs
