// SPDX-License-Identifier: Apache-2.0
// Operators without meta kernels. They refuse zeros: a run for the sake of a shape fails with a
// message.
#include <ATen/ATen.h>
#include <torch/library.h>

#include <csignal>
#include <vector>

namespace {

constexpr double kCrashes = 13;

const at::Tensor& checked(const at::Tensor& x)
{
    TORCH_CHECK(x.count_nonzero().item<std::int64_t>() > 0, "it is not made for zeros");
    return x;
}

std::vector<std::int64_t> windowsShape(const at::Tensor& x, std::int64_t width)
{
    return {x.size(0), x.size(1) / width, width};
}

TORCH_LIBRARY(rules, m)
{
    m.def("damped(Tensor x, float factor=0.5) -> Tensor");
    m.def("project(Tensor x, Tensor weight) -> Tensor");
    m.def("largest(Tensor x, int count) -> (Tensor, Tensor)");
    m.def("windows(Tensor x, int width) -> Tensor");
    m.def("windows_shape(Tensor x, int width) -> int[]", &windowsShape);
    // For packs that are wrong.
    m.def("other_shape(Tensor x) -> int[]", [](const at::Tensor& x) { return x.sizes().vec(); });
    m.def("no_shape(Tensor x, int width) -> Tensor");
    m.def("cpu_shape(Tensor x, int width) -> int[]");
    m.def("known(Tensor x) -> Tensor");
    m.def("parts(Tensor x) -> Tensor[]");
}

TORCH_LIBRARY_IMPL(rules, CPU, m)
{
    m.impl("damped", [](const at::Tensor& x, double factor) {
        if (factor == kCrashes)
            std::raise(SIGSEGV);
        return checked(x) * factor;
    });
    m.impl("project",
           [](const at::Tensor& x, const at::Tensor& weight) { return checked(x).mm(weight.t()); });
    m.impl("largest",
           [](const at::Tensor& x, std::int64_t count) { return checked(x).topk(count, 1); });
    m.impl("windows", [](const at::Tensor& x, std::int64_t width) {
        return checked(x).reshape(windowsShape(x, width)).clone();
    });
    m.impl("cpu_shape", &windowsShape);
}

TORCH_LIBRARY_IMPL(rules, Meta, m)
{
    m.impl("known", [](const at::Tensor& x) { return at::empty_like(x); });
}

} // namespace
