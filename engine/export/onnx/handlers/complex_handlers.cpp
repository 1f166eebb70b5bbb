// SPDX-License-Identifier: Apache-2.0
// Complex numbers. ONNX has no complex operators: real and imaginary part are a last dimension of
// size two.
#include "engine/export/onnx/onnx_handlers.h"

#include <ATen/ATen.h>

namespace qs {

namespace {

std::string part(OnnxCall& c, const std::string& value, std::int64_t which)
{
    return c.emit("Gather", {value, c.constant(at::scalar_tensor(which, at::kLong), "part")},
                  {{"axis", -1}});
}

std::string joined(OnnxCall& c, const std::string& real, const std::string& imaginary)
{
    return c.emit("Concat", {c.unsqueeze(real, {-1}), c.unsqueeze(imaginary, {-1})},
                  {{"axis", -1}});
}

void same(OnnxCall& c)
{
    c.give(c.emit("Identity", {c.in(c.has("self") ? "self" : "input")}));
}

void multiplyComplex(OnnxCall& c)
{
    const bool first = isComplex(c.dtype("self")), second = isComplex(c.dtype("other"));
    const std::string a = c.in("self"), b = c.in("other");
    if (!first || !second) {
        const auto wide
            = [&](const char* name) { return c.unsqueeze(c.in(name, DType::Float32), {-1}); };
        c.give(c.emit("Mul", {first ? a : wide("self"), second ? b : wide("other")}));
        return;
    }
    const std::string ar = part(c, a, 0), ai = part(c, a, 1);
    const std::string br = part(c, b, 0), bi = part(c, b, 1);
    const std::string real = c.emit("Sub", {c.emit("Mul", {ar, br}), c.emit("Mul", {ai, bi})});
    const std::string imaginary = c.emit("Add", {c.emit("Mul", {ar, bi}), c.emit("Mul", {ai, br})});
    c.give(joined(c, real, imaginary));
}

void polar(OnnxCall& c)
{
    const std::string length = c.in("abs"), angle = c.in("angle");
    c.give(joined(c, c.emit("Mul", {length, c.emit("Cos", {angle})}),
                  c.emit("Mul", {length, c.emit("Sin", {angle})})));
}

void reshapeComplex(OnnxCall& c)
{
    const Argument* sizes = c.given("size") ? c.given("size") : c.given("shape");
    if (!sizes) {
        c.refuse("it changes the element type in place");
        return;
    }
    const std::string all = c.emit("Concat", {c.sizes(*sizes), c.ints({2})}, {{"axis", 0}});
    c.give(c.emit("Reshape", {c.in("self"), all}));
}

void unsqueezeComplex(OnnxCall& c)
{
    const std::int64_t dim = c.integer("dim", 0);
    c.give(c.unsqueeze(c.in("self"), {dim < 0 ? dim + c.rank("self") + 1 : dim}));
}

} // namespace

void addComplexHandlers(OnnxHandlers& table)
{
    for (const char* name :
         {"view_as_complex", "view_as_real", "clone", "contiguous", "detach", "alias"})
        table[name] = same;
    table["mul"] = multiplyComplex;
    table["polar"] = polar;
    table["complex"] = [](OnnxCall& c) { c.give(joined(c, c.in("real"), c.in("imag"))); };
    table["real"] = [](OnnxCall& c) { c.give(part(c, c.in("self"), 0)); };
    table["imag"] = [](OnnxCall& c) { c.give(part(c, c.in("self"), 1)); };
    table["abs"] = [](OnnxCall& c) { c.give(c.reduce("ReduceL2", c.in("self"), {-1}, false)); };
    table["view"] = table["reshape"] = table["_unsafe_view"] = reshapeComplex;
    table["unsqueeze"] = unsqueezeComplex;
}

} // namespace qs
