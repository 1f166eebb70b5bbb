// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/keys/cure_key_rows.h"
#include "engine/configure/keys/edit_key_rows.h"

#include <array>

namespace qs {

namespace {

constexpr std::array kRecipeKeys {
    KeyRow {"format", "string", "required", "the kind of file", R"("format": "quantscope.recipe")"},
    KeyRow {"version", "integer", "required", "version of the format: 1", R"("version": 1)"},
    KeyRow {"backend", "string", R"("x86")",
            "the target: a backend that is shipped, or a backend file beside the recipe",
            R"("backend": "x86")", "`prepare_fx(backend_config=get_native_backend_config())`"},
    KeyRow {"extensions", "list of strings", "[]",
            "the extension packs that the recipe needs, by name; load them with `--extension DIR`",
            R"("extensions": ["gated_unit"])"},
    KeyRow {
        "qconfigs", "object", "{}", "your own qconfigs, by name",
        R"("qconfigs": {"own": {"activation": {"observer": "minmax", "dtype": "quint8"}, "weight": {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"}}}, "mapping": {"global": "own"})",
        "`QConfig(activation=MinMaxObserver, weight=default_weight_observer)`"},
    KeyRow {
        "mapping", "object", "",
        "which qconfig applies to which operators; omitted = the backend's preset under `global`",
        R"("mapping": {"global": "x86"})", "`QConfigMapping`"},
    KeyRow {
        "needless_outputs", "string", "null",
        "`float`: linears and convolutions whose result is read only by float operators return it "
        "as float; null: their results are quantized, as in torch.ao",
        R"("mapping": {"global": "x86", "object_type": [["torch.add", null]]}, "needless_outputs": "float")",
        "PT2E's `QuantizationAnnotation` without `output_qspec`"},
    KeyRow {"prepare", "object", "{}", "decisions before calibration: leaves, custom modules",
            R"("prepare": {"non_traceable_module_name": ["block1"]})", "`PrepareCustomConfig`"},
    KeyRow {"custom_modules", "list of strings", "[]", "the same as `prepare.custom_modules`",
            R"("custom_modules": [])"},
    KeyRow {"convert", "object", "{}", "decisions at conversion: lowering rows, removed qconfigs",
            R"("convert": {"lowering": {"remove": [{"pattern": ["torch.nn.Linear"]}]}})",
            "`ConvertCustomConfig`"},
    KeyRow {"calibration", "object", "{}", "amount of calibration data, and how images are read",
            R"("calibration": {"batch_size": 8, "batches": 16})"},
    KeyRow {"edits", "list of objects", "[]",
            "changes to the model's graph, in order; keys by kind below",
            R"("edits": [{"do": "rename", "at": $HEAD, "name": "classifier"}])"},
    KeyRow {
        "cures", "list of objects", "[]",
        "decisions that reduce a loss, in order, above the rules of `mapping`; keys by kind below",
        R"("cures": [{"cure": "float", "at": $HEAD}])"},
    KeyRow {"limits", "object", "{}", "limits that `quantscope check` applies",
            R"("limits": {"min_sqnr": 20})"},
};

constexpr std::array kMappingKeys {
    KeyRow {"global", "qconfig name or null", "null",
            "for all operators; a backend's name means its whole default mapping",
            R"("mapping": {"global": "x86"})",
            R"(`get_default_qconfig_mapping("x86")`, `QConfigMapping().set_global`)"},
    KeyRow {"object_type", "list of [type, qconfig]", "[]",
            "for a module class, a function or a method",
            R"("mapping": {"global": "x86", "object_type": [["torch.nn.Linear", null]]})",
            "`set_object_type`"},
    KeyRow {"module_name_regex", "list of [regex, qconfig]", "[]",
            "for modules whose path the regular expression matches from its beginning",
            R"("mapping": {"global": "x86", "module_name_regex": [["block[12]\\.conv1.*", null]]})",
            "`set_module_name_regex`"},
    KeyRow {"module_name", "list of [module, qconfig]", "[]", "for a module and what is inside it",
            R"("mapping": {"global": "x86", "module_name": [["head", null]]})",
            "`set_module_name`"},
    KeyRow {
        "module_name_object_type_order", "list of [module, type, index, qconfig]", "[]",
        "for the call number `index`, from 0, of a type directly in a module",
        R"("mapping": {"global": "x86", "module_name_object_type_order": [["stem", "torch.nn.Conv2d", 0, null]]})",
        "`set_module_name_object_type_order`"},
    KeyRow {"node", "list of [node, qconfig]", "[]", "for one node, by its name in `inspect`",
            R"("mapping": {"global": "x86", "node": [["linear", null]]})",
            "`qconfig_map`, `node_name_to_qconfig`"},
    KeyRow {"edge", "list of [producer, consumer, input, qconfig]", "[]",
            "for a value as one reader sees it; `input` counts the reader's tensors from 0",
            R"("mapping": {"global": "x86", "edge": [["flatten", "linear", 0, "default"]]})"},
};

constexpr std::array kPrepareKeys {
    KeyRow {"non_traceable_module_name", "list of strings", "[]",
            "these modules stay float, with everything inside them",
            R"("prepare": {"non_traceable_module_name": ["block1"]})",
            "`set_non_traceable_module_names`"},
    KeyRow {"non_traceable_module_class", "list of strings", "[]",
            "the same for every module of these classes",
            R"("prepare": {"non_traceable_module_class": ["train_digits.ResidualBlock"]})",
            "`set_non_traceable_module_classes`"},
    KeyRow {
        "float_to_observed_custom_module_class", "object: mode, class, class", "{}",
        "what a custom module becomes at preparation; only mode `static`",
        R"("prepare": {"float_to_observed_custom_module_class": {"static": {"torch.nn.LSTM": "torch.ao.nn.quantizable.LSTM"}}}, "convert": {"observed_to_quantized_custom_module_class": {"static": {"torch.ao.nn.quantizable.LSTM": "torch.ao.nn.quantized.LSTM"}}})",
        "`set_float_to_observed_mapping`"},
    KeyRow {"custom_modules", "list of strings", "[]",
            "classes quantized as a whole: `torch.nn.MultiheadAttention`, `torch.nn.LSTM`",
            R"("prepare": {"custom_modules": ["torch.nn.MultiheadAttention"]})"},
    KeyRow {"only_modules", "list of strings", "[]",
            "quantizes only these modules; everything else stays float",
            R"("prepare": {"only_modules": ["block1"]})", "`prepare_fx(model.block1, ...)`"},
    KeyRow {"wrap", "list of strings", "[]",
            "shows a module, or `module::method`, as one node; modules inside follow their rules",
            R"("prepare": {"wrap": ["block1"]})", "`torch.fx.wrap`; Horizon's `fx_wrap`"},
    KeyRow {"hybrid", "boolean", "true", "Horizon's: `false` ignores `hybrid_dict`",
            R"("prepare": {"hybrid": true, "hybrid_dict": {"module_name": ["head"]}})",
            "Horizon's `hybrid=True`"},
    KeyRow {"hybrid_dict", "object", "{}",
            "Horizon's: modules that stay float on the CPU; they become rules",
            R"("prepare": {"hybrid_dict": {"module_name": ["head"]}})", "Horizon's `hybrid_dict`"},
    KeyRow {"unfuse", "list of strings", "[]",
            "names of nodes that are never fused with the operator before them",
            R"("prepare": {"unfuse": ["relu"]})"},
    KeyRow {"not_finite", "object of strings", "{}",
            "nodes whose value is NaN or Inf on the calibration data, with the finding; operators "
            "that make or read it stay float. Calibration adds them",
            R"("prepare": {"not_finite": {"x": "-Inf in batch 1"}})"},
    KeyRow {
        "preserved_attributes", "list of strings", "[]",
        "accepted for compatibility with torch.ao; no effect, because a graph keeps no attributes",
        R"("prepare": {"preserved_attributes": []})", "`set_preserved_attributes`"},
    KeyRow {"input_quantized_idxs", "list of integers", "[]",
            "accepted for compatibility with torch.ao; no effect, because inputs stay float",
            R"("prepare": {"input_quantized_idxs": []})", "`set_input_quantized_indexes`"},
    KeyRow {"output_quantized_idxs", "list of integers", "[]",
            "accepted for compatibility with torch.ao; no effect, because outputs stay float",
            R"("prepare": {"output_quantized_idxs": []})", "`set_output_quantized_indexes`"},
    KeyRow {
        "standalone_module_name", "list of strings or tuples", "[]",
        "accepted for compatibility with torch.ao; no effect; of a tuple, only the name is kept",
        R"("prepare": {"standalone_module_name": []})", "`set_standalone_module_name`"},
    KeyRow {
        "standalone_module_class", "list of strings or tuples", "[]",
        "accepted for compatibility with torch.ao; no effect; of a tuple, only the class is kept",
        R"("prepare": {"standalone_module_class": []})", "`set_standalone_module_class`"},
};

constexpr std::array kHybridKeys {
    KeyRow {"module_name", "list of strings", "[]", "by path",
            R"("prepare": {"hybrid_dict": {"module_name": ["head"]}})"},
    KeyRow {"module_type", "list of strings", "[]", "by class",
            R"("prepare": {"hybrid_dict": {"module_type": ["torch.nn.Linear"]}})"},
};

constexpr std::array kConvertKeys {
    KeyRow {
        "observed_to_quantized_custom_module_class", "object: mode, class, class", "{}",
        "what an observed custom module becomes; modes `static`, `dynamic`, `weight_only`",
        R"("prepare": {"float_to_observed_custom_module_class": {"static": {"torch.nn.LSTM": "torch.ao.nn.quantizable.LSTM"}}}, "convert": {"observed_to_quantized_custom_module_class": {"static": {"torch.ao.nn.quantizable.LSTM": "torch.ao.nn.quantized.LSTM"}}})",
        "`set_observed_to_quantized_mapping`"},
    KeyRow {"lowering", "object", "{}", "rows added to the lowering table, or removed from it",
            R"("convert": {"lowering": {"remove": [{"pattern": ["torch.nn.Linear"]}]}})",
            "`STATIC_LOWER_FUSED_MODULE_MAP`, `STATIC_LOWER_MODULE_MAP`"},
    KeyRow {"qconfig_mapping", "object", "{}",
            "a mapping that can only remove qconfigs; its nulls override every other rule",
            R"("convert": {"qconfig_mapping": {"module_name": [["head", null]]}})",
            "`convert_fx(qconfig_mapping=...)`"},
    KeyRow {"uncalibrated", "list of strings", "[]",
            "nodes that may be converted although their observers never saw a value",
            R"("convert": {"uncalibrated": ["linear"]})"},
    KeyRow {
        "preserved_attributes", "list of strings", "[]",
        "accepted for compatibility with torch.ao; no effect, because a graph keeps no attributes",
        R"("convert": {"preserved_attributes": []})", "`set_preserved_attributes`"},
};

constexpr std::array kLoweringKeys {
    KeyRow {
        "add", "list of rows", "[]", "rows tried before the default rows of the same pattern",
        R"("convert": {"lowering": {"add": [{"pattern": ["torch.nn.Linear"], "to": "quantized::linear"}]}})",
        "`STATIC_LOWER_MODULE_MAP[nnqr.Linear] = nnq.Linear`"},
    KeyRow {"remove", "list of rows without `to`", "[]",
            "patterns whose operators stay in reference form",
            R"("convert": {"lowering": {"remove": [{"pattern": ["torch.nn.Linear"]}]}})",
            "`del STATIC_LOWER_MODULE_MAP[nnqr.Linear]`"},
};

constexpr std::array kLoweringRowKeys {
    KeyRow {
        "pattern", "list of strings", "required",
        "the operators in forward order, by class, reference class, function or ATen name",
        R"("convert": {"lowering": {"remove": [{"pattern": ["torch.nn.Conv2d", "torch.nn.ReLU"]}]}})",
        "the key of the map: `nni.ConvReLU2d`"},
    KeyRow {
        "to", "string", "required in `add`",
        "the kernel: an operator, a quantized class, `same` (the operator itself) or `none`",
        R"("convert": {"lowering": {"add": [{"pattern": ["torch.nn.Conv2d", "torch.nn.ReLU"], "to": "torch.ao.nn.intrinsic.quantized.ConvReLU2d"}]}})",
        "the value of the map: `(nnqr.Conv2d, nniq.ConvReLU2d)`"},
};

constexpr std::array kQConfigKeys {
    KeyRow {"activation", "observer", "required", "for values",
            R"("activation": {"observer": "minmax", "dtype": "quint8"})", "`QConfig.activation`"},
    KeyRow {
        "weight", "observer", "required", "for weights",
        R"("weight": {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"})",
        "`QConfig.weight`"},
    KeyRow {
        "result", "string", "null",
        "`float`: a linear or convolution gives its result as float, and only what it reads is "
        "quantized; null: the result is quantized, as in torch.ao",
        R"("activation": {"observer": "minmax", "dtype": "quint8"}, "weight": {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"}, "result": "float")",
        "PT2E's `QuantizationAnnotation` without `output_qspec`"},
};

constexpr std::array kObserverKeys {
    KeyRow {"observer", "string", "required", "its kind, see below", R"({"observer": "minmax"})",
            "`MinMaxObserver`"},
    KeyRow {"dtype", "string", R"("quint8")",
            "`quint8 qint8 qint32 uint8 int8 int16 uint16 int32 quint4x2 float16 float32 "
            "bfloat16`; default of `placeholder`: `float32`, of `noop`: `float16`",
            R"({"observer": "minmax", "dtype": "qint8"})", "`dtype=torch.qint8`"},
    KeyRow {"qscheme", "string", R"("per_tensor_affine")",
            "`per_tensor_affine`, `per_tensor_symmetric`, `per_channel_affine`, "
            "`per_channel_symmetric`, `per_channel_affine_float_qparams`; default of per-channel "
            "kinds: `per_channel_affine`",
            R"({"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"})",
            "`qscheme=torch.per_tensor_symmetric`"},
    KeyRow {"quant_min", "integer", "null", "the smallest integer; null: the dtype's",
            R"({"observer": "minmax", "quant_min": 0, "quant_max": 127})", "`quant_min=0`"},
    KeyRow {"quant_max", "integer", "null", "the largest integer; null: the dtype's",
            R"({"observer": "minmax", "quant_min": 0, "quant_max": 127})", "`quant_max=127`"},
    KeyRow {"eps", "number", "1.1920928955078125e-07", "the smallest scale",
            R"({"observer": "minmax", "eps": 0.000244140625})", "`eps=2 ** -12`"},
    KeyRow {"reduce_range", "boolean", "false", "uses one bit less",
            R"({"observer": "minmax", "reduce_range": true})", "`reduce_range=True`"},
    KeyRow {"is_dynamic", "boolean", "false", "the range is chosen at run time, for each call",
            R"({"observer": "placeholder", "dtype": "quint8", "is_dynamic": true})",
            "`is_dynamic=True`"},
    KeyRow {
        "ch_axis", "integer", "0", "the axis of the channels",
        R"({"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric", "ch_axis": 1})",
        "`ch_axis=1`"},
    KeyRow {
        "group_size", "integer", "null",
        "number of values of a weight's row per scale; null: whole rows",
        R"({"observer": "per_channel_minmax", "dtype": "int8", "qscheme": "per_channel_symmetric", "group_size": 32})"},
    KeyRow {"averaging_constant", "number", "0.01", "the weight of a new batch",
            R"({"observer": "moving_average_minmax", "averaging_constant": 0.05})",
            "`averaging_constant=0.05`"},
    KeyRow {"bins", "integer", "2048", "number of bins of the histogram",
            R"({"observer": "histogram", "bins": 1024})", "`bins=1024`"},
    KeyRow {"range", "string", R"("search")",
            "how a histogram becomes a range: `search` (torch.ao's), `minmax`, `percentile`, "
            "`entropy`, `mse`",
            R"({"observer": "histogram", "range": "entropy"})"},
    KeyRow {"percentile", "number", "99.99", "with `range` `percentile`: the central percent kept",
            R"({"observer": "histogram", "range": "percentile", "percentile": 99.9})"},
    KeyRow {"scale", "number", "1", "the scale of `fixed_qparams`",
            R"({"observer": "fixed_qparams", "scale": 0.00390625, "zero_point": 0})",
            "`FixedQParamsObserver(scale=1 / 256)`"},
    KeyRow {"zero_point", "integer", "0", "the zero point of `fixed_qparams`",
            R"({"observer": "fixed_qparams", "scale": 0.00390625, "zero_point": 0})",
            "`zero_point=0`"},
    KeyRow {"custom_op_name", "string", R"("")",
            "accepted for compatibility with torch.ao; no effect",
            R"({"observer": "placeholder", "dtype": "float16", "custom_op_name": "own"})",
            "`custom_op_name`"},
    KeyRow {"compute_dtype", "string", "null",
            "accepted for compatibility with torch.ao; no effect",
            R"({"observer": "placeholder", "dtype": "quint8", "compute_dtype": "quint8"})",
            "`compute_dtype`"},
    KeyRow {"factory_kwargs", "object", "null",
            "accepted for compatibility with torch.ao; must be empty",
            R"({"observer": "minmax", "factory_kwargs": {}})", "`factory_kwargs`"},
};

constexpr std::array kFakeQuantizeKeys {
    KeyRow {"observer", "string", "required",
            "`fake_quantize`, `fixed_qparams_fake_quantize`, `fused_moving_avg_obs_fake_quantize`, "
            "`learnable_fake_quantize` (trains its scale)",
            R"({"observer": "fake_quantize", "inner": "moving_average_minmax"})", "`FakeQuantize`"},
    KeyRow {
        "inner", "observer or its name", R"("moving_average_minmax")",
        "the observer inside; its keys may also be written next to `inner`",
        R"({"observer": "fake_quantize", "inner": {"observer": "moving_average_minmax", "dtype": "quint8"}})",
        "`FakeQuantize(observer=MovingAverageMinMaxObserver)`"},
};

constexpr std::array kCalibrationKeys {
    KeyRow {"batch_size", "integer", "8", "samples per batch",
            R"("calibration": {"batch_size": 16})"},
    KeyRow {"batches", "integer", "16", "batches to run; 0: all of the data",
            R"("calibration": {"batches": 4})"},
    KeyRow {"sequence", "boolean", "false",
            "each call continues from the state of the previous call",
            R"("calibration": {"sequence": true})"},
    KeyRow {"preprocess", "object", "", "how images become batches",
            R"("calibration": {"preprocess": {"resize": 8, "channels": "gray"}})"},
};

constexpr std::array kPreprocessKeys {
    KeyRow {"resize", "integer or [height, width]", "",
            "size of the shorter side, or height and width",
            R"("calibration": {"preprocess": {"resize": 256, "crop": 224}})",
            "`transforms.Resize(256)`"},
    KeyRow {"crop", "integer or [height, width]", "", "size of the center crop",
            R"("calibration": {"preprocess": {"resize": 256, "crop": 224}})",
            "`transforms.CenterCrop(224)`"},
    KeyRow {"interpolation", "string", R"("bilinear")",
            "`bilinear`, `bicubic`, `lanczos`, `nearest`",
            R"("calibration": {"preprocess": {"resize": 256, "interpolation": "bicubic"}})",
            "`interpolation=InterpolationMode.BICUBIC`"},
    KeyRow {"channels", "string", "",
            "`rgb`, `bgr` or `gray`; omitted = `gray` if the model takes one channel, else `rgb`",
            R"("calibration": {"preprocess": {"channels": "bgr"}})"},
    KeyRow {
        "mean", "number or three", "", "subtracted from the values, which are in [0, 1]",
        R"("calibration": {"preprocess": {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}})",
        "`transforms.Normalize(mean, std)`"},
    KeyRow {
        "std", "number or three", "", "divisor after the mean is subtracted",
        R"("calibration": {"preprocess": {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}})",
        "`transforms.Normalize(mean, std)`"},
    KeyRow {"layout", "string", R"("nchw")", "`nchw` or `nhwc`",
            R"("calibration": {"preprocess": {"layout": "nhwc"}})"},
};

constexpr std::array kLimitsKeys {
    KeyRow {"preset", "string", "", "a named set of limits; the other keys here override it",
            R"("limits": {"preset": "classification"})"},
    KeyRow {"min_sqnr", "number", "", "least SQNR of every output, in dB",
            R"("limits": {"min_sqnr": 20})"},
    KeyRow {"min_cosine", "number", "", "least cosine similarity of every output",
            R"("limits": {"min_cosine": 0.99})"},
    KeyRow {"max_drop", "number", "", "largest drop of the top-1 accuracy, in points",
            R"("limits": {"max_drop": 0.5})"},
    KeyRow {"min_coverage", "number", "",
            "least share of eligible operators that are quantized, in percent",
            R"("limits": {"min_coverage": 90})"},
    KeyRow {"nodes", "object", "{}", "least SQNR of single nodes or modules, in dB",
            R"("limits": {"nodes": {"head": 20}})"},
};

constexpr std::array kRecipeTables {
    KeyTable {"", "The file itself.", kRecipeKeys},
    KeyTable {"mapping",
              "Which qconfig applies to which operators. If several kinds match a node, the one "
              "listed last applies; null keeps float.",
              kMappingKeys},
    KeyTable {"qconfigs.NAME", "A named qconfig: two observers.", kQConfigKeys},
    KeyTable {"qconfigs.NAME.activation",
              "An observer. Keys that its kind does not have are errors; null means \"not given\".",
              kObserverKeys},
    KeyTable {"qconfigs.NAME.activation, of a fake-quantize",
              "A QAT qconfig: calibrated with the observer inside.", kFakeQuantizeKeys},
    KeyTable {"prepare",
              "Decisions before calibration. Leaves (`non_traceable_...`) override `wrap`, `wrap` "
              "overrides `only_modules`. An unknown name is a warning with the nearest name.",
              kPrepareKeys},
    KeyTable {"prepare.hybrid_dict", "Modules that stay float.", kHybridKeys},
    KeyTable {"convert", "Decisions at conversion.", kConvertKeys},
    KeyTable {"convert.lowering", "Which kernels replace operators.", kLoweringKeys},
    KeyTable {"convert.lowering.add[0]", "A row of the lowering table.", kLoweringRowKeys},
    KeyTable {"calibration", "Amount of calibration data.", kCalibrationKeys},
    KeyTable {"calibration.preprocess",
              "How images become batches, with the names of torchvision's presets. Equal to "
              "theirs on Pillow images for lossless formats, within a few steps of 255 for JPEG.",
              kPreprocessKeys},
    KeyTable {"edits[0]",
              "An edit of the model's graph: `do` is the kind; the other keys say where and with "
              "which values. Edits are applied in order, before all other decisions. An edit that "
              "does not fit the model is left out with a warning; `--strict` makes that an error.",
              kEditKeyRows},
    KeyTable {"cures[0]",
              "A decision that reduces a loss: `cure` is the kind; the other keys say where and "
              "with which values. Cures apply after the edits and override every rule of "
              "`mapping`; a later cure overrides an earlier one. A cure that does not fit the "
              "model is left out with a warning; `--strict` makes that an error.",
              kCureKeyRows},
    KeyTable {"limits",
              "Limits that `quantscope check` applies; command-line options override them. Limits "
              "do not affect quantization.",
              kLimitsKeys},
};

} // namespace

std::span<const KeyTable> recipeKeyTables()
{
    return kRecipeTables;
}

} // namespace qs
