// SPDX-License-Identifier: Apache-2.0
#include "engine/export/onnx/onnx_handlers.h"

namespace qs {

namespace {

/// The tensors to join, without empty vectors of shape [0], which PyTorch ignores.
std::vector<std::string> partsOf(OnnxCall& c)
{
    const Argument* given = c.given("tensors");
    const auto* list = given ? given->asList() : nullptr;
    if (!list) {
        c.refuse("its parts are a list that is made as the model runs");
        return {};
    }
    std::vector<std::string> parts;
    const std::size_t rank = c.resultType().shape.size();
    for (const Argument& item : *list) {
        const ValueRef* ref = item.asRef();
        const ValueType* type = ref ? &c.builder().graph().value(*ref).type : nullptr;
        const bool empty = type && type->shapeKnown && type->shape.size() == 1 && rank > 1;
        if (!empty)
            parts.push_back(c.value(item, c.resultDType()));
    }
    return parts;
}

void concatenate(OnnxCall& c)
{
    const auto parts = partsOf(c);
    if (parts.size() == 1)
        c.give(parts[0]);
    else if (!parts.empty())
        c.give(c.emit("Concat", parts, {{"axis", c.integer(c.has("axis") ? "axis" : "dim", 0)}}));
    else
        c.refuse("it joins nothing");
}

void stack(OnnxCall& c)
{
    const std::int64_t axis = c.integer("dim", 0);
    std::vector<std::string> parts = c.inList("tensors", c.resultDType());
    for (std::string& part : parts)
        part = c.unsqueeze(part, {axis});
    if (parts.empty())
        c.refuse("it joins nothing");
    else
        c.give(c.emit("Concat", parts, {{"axis", axis}}));
}

/// hstack and vstack: joins along the second dimension (vectors along their only one) or, for
/// `rows`, along the first (vectors become rows).
void stackSides(OnnxCall& c, bool rows)
{
    std::vector<std::string> parts = c.inList("tensors", c.resultDType());
    const Argument* given = c.given("tensors");
    const auto* list = given ? given->asList() : nullptr;
    std::int64_t axis = rows ? 0 : 1;
    for (std::size_t i = 0; list && i < list->size(); ++i) {
        const ValueRef* ref = (*list)[i].asRef();
        const ValueType type = ref ? c.builder().typeOf(*ref) : ValueType();
        if (!type.shapeKnown || type.shape.empty())
            c.refuse("the rank of its parts is unknown");
        else if (type.shape.size() == 1 && rows)
            parts[i] = c.unsqueeze(parts[i], {0});
        else if (type.shape.size() == 1)
            axis = 0;
    }
    if (parts.empty())
        c.refuse("it joins nothing");
    else
        c.give(c.emit("Concat", parts, {{"axis", axis}}));
}

/// Expands each vector along a separate dimension.
void meshgrid(OnnxCall& c)
{
    const std::vector<std::string> axes = c.inList("tensors");
    const bool columns = c.text("indexing", "ij") == "xy" && axes.size() > 1;
    std::vector<std::string> sizes, shaped;
    const auto placeOf = [&](std::size_t i) { return columns && i < 2 ? 1 - i : i; };
    for (std::size_t i = 0; i < axes.size(); ++i) {
        std::vector<std::int64_t> shape(axes.size(), 1);
        shape[placeOf(i)] = -1;
        shaped.push_back(c.reshape(axes[i], shape));
        sizes.push_back(c.emit("Shape", {c.reshape(axes[placeOf(i)], {-1})}));
    }
    if (axes.empty()) {
        c.refuse("it has no axes");
        return;
    }
    const std::string all = c.emit("Concat", sizes, {{"axis", 0}});
    for (std::string& one : shaped)
        one = c.emit("Expand", {one, all});
    c.giveAll(shaped);
}

/// Expands all tensors to their common shape.
void broadcast(OnnxCall& c)
{
    std::vector<std::string> parts = c.inList("tensors");
    std::vector<std::string> made;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        std::string one = parts[i];
        for (std::size_t j = 0; j < parts.size(); ++j)
            if (j != i)
                one = c.emit("Expand", {one, c.emit("Shape", {parts[j]})});
        made.push_back(one);
    }
    c.giveAll(made);
}

} // namespace

void addJoinHandlers(OnnxHandlers& table)
{
    table["cat"] = table["concat"] = table["concatenate"] = concatenate;
    table["stack"] = stack;
    table["hstack"] = [](OnnxCall& c) { stackSides(c, false); };
    table["vstack"] = [](OnnxCall& c) { stackSides(c, true); };
    table["meshgrid"] = meshgrid;
    table["broadcast_tensors"] = broadcast;
}

} // namespace qs
