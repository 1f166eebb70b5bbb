// SPDX-License-Identifier: Apache-2.0
// A pack whose values are objects: features [sites, channels] with the places of the sites beside
// them. Operators take and give whole objects; a linear layer has a kernel on eight bits.
#include <ATen/ATen.h>
#include <torch/custom_class.h>
#include <torch/library.h>

#include <vector>

namespace {

struct SparseTensor : torch::CustomClassHolder
{
    SparseTensor(at::Tensor values, at::Tensor places, std::vector<std::int64_t> sides,
                 std::int64_t images)
        : features(std::move(values))
        , indices(std::move(places))
        , shape(std::move(sides))
        , batch(images)
    {
    }
    at::Tensor features, indices;
    std::vector<std::int64_t> shape;
    std::int64_t batch;
};
using Sparse = c10::intrusive_ptr<SparseTensor>;

Sparse make(const at::Tensor& features, const at::Tensor& indices, std::vector<std::int64_t> shape,
            std::int64_t batch)
{
    return c10::make_intrusive<SparseTensor>(features, indices, std::move(shape), batch);
}

Sparse withFeatures(const Sparse& x, const at::Tensor& features)
{
    return make(features, x->indices, x->shape, x->batch);
}

Sparse linear(const Sparse& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias)
{
    return withFeatures(x, at::linear(x->features, weight, bias));
}

/// One number for all sites of an image: a tensor from an object.
at::Tensor pooled(const Sparse& x, const at::Tensor& weight)
{
    const at::Tensor image = x->indices.select(1, 0).to(at::kLong);
    const at::Tensor sums = at::zeros({x->batch, x->features.size(1)}, x->features.options());
    return at::linear(sums.index_add(0, image, x->features), weight);
}

/// Zeros where there is no site: [images, channels, rows, columns].
at::Tensor dense(const Sparse& x)
{
    at::Tensor out = at::zeros({x->batch, x->features.size(1), x->shape[0], x->shape[1]},
                               x->features.options());
    const at::Tensor place = x->indices.to(at::kLong);
    out.permute({0, 2, 3, 1})
        .index_put_({place.select(1, 0), place.select(1, 1), place.select(1, 2)}, x->features);
    return out;
}

/// With a ReLU where that is asked for; the products are summed in double, which is exact.
Sparse linearInt8(const Sparse& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias,
                  bool relu, double scale, std::int64_t zeroPoint)
{
    TORCH_CHECK(x->features.is_quantized(), "the features are not quantized");
    const at::Tensor in = x->features.int_repr().to(at::kDouble) - x->features.q_zero_point();
    const at::Tensor factors = weight.qscheme() == at::kPerChannelAffine
        ? weight.q_per_channel_scales().to(at::kDouble)
        : at::full({weight.size(0)}, weight.q_scale(), at::kDouble);
    at::Tensor real
        = at::linear(in, weight.int_repr().to(at::kDouble)) * (factors * x->features.q_scale());
    if (bias)
        real = real + bias->to(at::kDouble);
    if (relu)
        real = real.relu();
    const at::Tensor level
        = (real / scale).round_().add_(double(zeroPoint)).clamp_(0, 255).to(at::kByte);
    return withFeatures(x, at::_make_per_tensor_quantized_tensor(level, scale, zeroPoint));
}

using State = std::tuple<at::Tensor, at::Tensor, std::vector<std::int64_t>, std::int64_t>;

TORCH_LIBRARY(sites, m)
{
    m.class_<SparseTensor>("SparseTensor")
        .def(torch::init<at::Tensor, at::Tensor, std::vector<std::int64_t>, std::int64_t>())
        .def_readonly("features", &SparseTensor::features)
        .def_readonly("indices", &SparseTensor::indices)
        .def("get_features", [](const Sparse& self) { return self->features; })
        .def("replace_feature", &withFeatures)
        .def("dense", &dense)
        .def("__obj_flatten__",
             [](const Sparse& self) {
                 using std::make_tuple;
                 return make_tuple(make_tuple(std::string("features"), self->features),
                                   make_tuple(std::string("indices"), self->indices),
                                   make_tuple(std::string("shape"), self->shape),
                                   make_tuple(std::string("batch"), self->batch));
             })
        .def_pickle(
            [](const Sparse& self) {
                return State {self->features, self->indices, self->shape, self->batch};
            },
            [](State state) {
                return make(std::get<0>(state), std::get<1>(state), std::get<2>(state),
                            std::get<3>(state));
            });
    const auto define = [&m](const std::string& schema) {
        std::string spelled = schema;
        for (auto at = spelled.find("Sparse "); at != std::string::npos;
             at = spelled.find("Sparse "))
            spelled.replace(at, 6, "__torch__.torch.classes.sites.SparseTensor");
        m.def(spelled.c_str());
    };
    define("make(Tensor features, Tensor indices, int[] shape, int batch) -> Sparse ");
    define("features(Sparse x) -> Tensor");
    define("indices(Sparse x) -> Tensor");
    define("replace_feature(Sparse x, Tensor features) -> Sparse ");
    define("linear(Sparse x, Tensor weight, Tensor? bias) -> Sparse ");
    define("linear_int8(Sparse x, Tensor weight, Tensor? bias, bool relu, float scale, int "
           "zero_point) -> Sparse ");
    define("relu(Sparse x) -> Sparse ");
    define("pooled(Sparse x, Tensor weight) -> Tensor");
    define("dense(Sparse x) -> Tensor");
}

// If an operator takes only an object, no tensor argument gives the device.
TORCH_LIBRARY_IMPL(sites, CompositeExplicitAutograd, m)
{
    m.impl("make", &make);
    m.impl("features", [](const Sparse& x) { return x->features; });
    m.impl("indices", [](const Sparse& x) { return x->indices; });
    m.impl("replace_feature", &withFeatures);
    m.impl("linear", &linear);
    m.impl("linear_int8", &linearInt8);
    m.impl("relu", [](const Sparse& x) { return withFeatures(x, x->features.relu()); });
    m.impl("pooled", &pooled);
    m.impl("dense", &dense);
}

} // namespace
