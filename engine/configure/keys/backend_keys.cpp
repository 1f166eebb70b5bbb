// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/keys/key_table.h"

#include <array>

namespace qs {

namespace {

constexpr std::array kBackendKeys {
    KeyRow {"format", "string", "required", "the kind of file",
            R"("format": "quantscope.backend")"},
    KeyRow {"version", "integer", "required", "version of the format: 1", R"("version": 1)"},
    KeyRow {"name", "string", "required", "its name in tables and messages", R"("name": "chip")",
            R"(`BackendConfig("chip")`)"},
    KeyRow {"description", "string", R"("")", "one line for `backends list`",
            R"("description": "our chip")"},
    KeyRow {"default_qconfig", "string", "",
            "the preset that a recipe without a mapping gets under `global`",
            R"("default_qconfig": "x86")", R"(`get_default_qconfig_mapping("x86")`)"},
    KeyRow {"patterns", "list of entries", "required", "the entries, in order",
            R"("patterns": [{"pattern": ["torch.nn.Linear"]}])", "`set_backend_pattern_configs`"},
};

constexpr std::array kEntryKeys {
    KeyRow {"pattern", "string or list of up to three", "required, or `pattern_complex_format`",
            "operators in forward order", R"("pattern": ["torch.nn.Conv2d", "torch.nn.ReLU"])",
            "`BackendPatternConfig((torch.nn.Conv2d, torch.nn.ReLU))`"},
    KeyRow {
        "pattern_complex_format", "nested lists", "required, or `pattern`",
        "a pattern other than a chain, last operator first",
        R"("pattern_complex_format": ["torch.nn.ReLU", ["torch.nn.Conv2d", "torch.nn.BatchNorm2d"]])",
        "`_set_pattern_complex_format`"},
    KeyRow {"observation_type", "string", R"("output_use_different_observer_as_input")",
            "the default, `output_share_observer_with_input` or `input_output_not_observed`",
            R"("observation_type": "output_share_observer_with_input")",
            "`set_observation_type(ObservationType.OUTPUT_SHARE_OBSERVER_WITH_INPUT)`"},
    KeyRow {"dtype_configs", "list of dtype configs", "[]",
            "combinations of types; the first that fits the qconfig is used; empty: only a fusion",
            R"("dtype_configs": [{"input_dtype": "quint8", "output_dtype": "quint8"}])",
            "`add_dtype_config`"},
    KeyRow {"root_module", "string", R"("")", "the class whose weight is quantized",
            R"("root_module": "torch.nn.Conv2d")", "`set_root_module`"},
    KeyRow {"reference_quantized_module", "string", R"("")", "its reference class",
            R"("reference_quantized_module": "torch.ao.nn.quantized.reference.Conv2d")",
            "`set_reference_quantized_module`"},
    KeyRow {"qat_module", "string", R"("")", "its class in training",
            R"("qat_module": "torch.ao.nn.qat.Conv2d")", "`set_qat_module`"},
    KeyRow {"fused_module", "string", R"("")", "of a fusion: the resulting class",
            R"("fused_module": "torch.ao.nn.intrinsic.ConvReLU2d")", "`set_fused_module`"},
    KeyRow {"fuser_method", "string", R"("")",
            "of a fusion: the name of torch.ao's function; your own functions are not run",
            R"("fuser_method": "fuse_conv2d_relu")", "`set_fuser_method`"},
    KeyRow {"num_tensor_args_to_observation_type", "object: number, observation type", "{}",
            "the observation type by the number of tensor arguments",
            R"("num_tensor_args_to_observation_type": {"1": "output_share_observer_with_input"})",
            "`_set_num_tensor_args_to_observation_type`"},
    KeyRow {"input_type_to_index", "object: `input`, `weight` or `bias`, index", "{}",
            "of a function: the positions of its arguments",
            R"("input_type_to_index": {"weight": 1, "bias": 2})", "`_set_input_type_to_index`"},
};

constexpr std::array kInputTypesKeys {
    KeyRow {"input", "integer", "", "position of the activation",
            R"("input_type_to_index": {"input": 0})"},
    KeyRow {"weight", "integer", "", "position of the weight",
            R"("input_type_to_index": {"weight": 1})"},
    KeyRow {"bias", "integer", "", "position of the bias", R"("input_type_to_index": {"bias": 2})"},
};

constexpr std::array kDTypeConfigKeys {
    KeyRow {"input_dtype", "dtype, or an object with constraints", "",
            "type of the quantize-dequantize pair before the operator",
            R"("input_dtype": "quint8")", "`DTypeConfig(input_dtype=torch.quint8)`"},
    KeyRow {"output_dtype", "dtype, or an object with constraints", "",
            "type of the pair after it; `float32`: none (dynamic)", R"("output_dtype": "quint8")",
            "`output_dtype=torch.quint8`"},
    KeyRow {"weight_dtype", "dtype, or an object with constraints", "", "type of the weight",
            R"("weight_dtype": "qint8")", "`weight_dtype=torch.qint8`"},
    KeyRow {"bias_dtype", "dtype", "", "type of the bias", R"("bias_dtype": "float32")",
            "`bias_dtype=torch.float`"},
    KeyRow {"is_dynamic", "boolean", "false",
            "the input's scale is chosen at run time; must equal the qconfig's",
            R"("is_dynamic": true)", "`is_dynamic=True`"},
};

constexpr std::array kConstraintsKeys {
    KeyRow {"dtype", "string", "", "the type", R"({"dtype": "quint8"})",
            "`DTypeWithConstraints(dtype=torch.quint8)`"},
    KeyRow {"quant_min_lower_bound", "integer", "", "`quant_min` of the observer is at least this",
            R"({"dtype": "quint8", "quant_min_lower_bound": 0, "quant_max_upper_bound": 255})",
            "`quant_min_lower_bound=0`"},
    KeyRow {"quant_max_upper_bound", "integer", "", "`quant_max` of the observer is at most this",
            R"({"dtype": "quint8", "quant_min_lower_bound": 0, "quant_max_upper_bound": 255})",
            "`quant_max_upper_bound=255`"},
    KeyRow {"scale_min_lower_bound", "number", "", "`eps` of the observer is at least this",
            R"({"dtype": "quint8", "scale_min_lower_bound": 0.000244140625})",
            "`scale_min_lower_bound=2 ** -12`"},
    KeyRow {"scale_max_upper_bound", "number", "", "the scale is at most this; torch.ao ignores it",
            R"({"dtype": "quint8", "scale_max_upper_bound": 1.0})", "`scale_max_upper_bound=1.0`"},
    KeyRow {"scale_exact_match", "number", "", "the observer is `fixed_qparams` with this scale",
            R"({"dtype": "quint8", "scale_exact_match": 0.00390625, "zero_point_exact_match": 0})",
            "`scale_exact_match=1 / 256`"},
    KeyRow {"zero_point_exact_match", "integer", "",
            "the observer is `fixed_qparams` with this zero point",
            R"({"dtype": "quint8", "scale_exact_match": 0.00390625, "zero_point_exact_match": 0})",
            "`zero_point_exact_match=0`"},
};

constexpr std::array kBackendTables {
    KeyTable {"", "The file itself: torch.ao's `BackendConfig`.", kBackendKeys},
    KeyTable {"patterns[0]",
              "An entry, torch.ao's `BackendPatternConfig`: how a pattern is fused, or how it is "
              "quantized. A fusion needs two entries; the second quantizes the class that the "
              "first makes.",
              kEntryKeys},
    KeyTable {"patterns[0].dtype_configs[0]",
              "A combination of types, torch.ao's `DTypeConfig`. An omitted key requires nothing.",
              kDTypeConfigKeys},
    KeyTable {"patterns[0].dtype_configs[0].input_dtype",
              "A type with constraints, torch.ao's `DTypeWithConstraints`. Constraints that "
              "torch.ao ignores are checked too, and marked \"stricter than PyTorch\".",
              kConstraintsKeys},
    KeyTable {"patterns[0].input_type_to_index", "The positions of a function's arguments.",
              kInputTypesKeys},
};

} // namespace

std::span<const KeyTable> backendKeyTables()
{
    return kBackendTables;
}

} // namespace qs
