// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/lowering_table.h"
#include "engine/configure/keys/cure_key_rows.h"
#include "engine/configure/keys/edit_key_rows.h"
#include "engine/configure/qconfig.h"
#include "engine/configure/qconfig_mapping.h"
#include "engine/configure/qconfigs/observer_json.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace qs {

namespace {

constexpr std::string_view kRecipePage = R"(# Recipe keys

Every key of a recipe as its reader checks it: meaning, type, default, an example, and the line of Python that says the same.

An unknown key is an error that names the nearest one. `quantscope keys recipe KEY` prints a row of this page.
[Recipes](recipes.md) explains recipes, [Cookbook](cookbook.md) has complete ones. [Coming from torch.ao or Horizon](coming-from-torch-ao.md#line-by-line) maps
each line of Python to its line here.

A recipe can be written by hand, or be torch.ao's own mapping, dumped in Python:

```python
json.dump(qconfig_mapping.to_dict(), open("recipe.json", "w"), default=str)
```

A recipe with a key of each block, `recipe.json`:

```json file=recipe.json recipe
{
  "format": "quantscope.recipe", "version": 1,
  "backend": "x86",
  "qconfigs": {
    "wide": {
      "activation": {"observer": "histogram", "dtype": "quint8", "range": "mse"},
      "weight": {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric"}
    }
  },
  "mapping": {
    "global": "x86",
    "object_type": [["torch.nn.Linear", "wide"]],
    "module_name": [["stem.conv", null]]
  },
  "prepare": {"unfuse": ["relu_2"]},
  "convert": {"lowering": {"remove": [{"pattern": ["torch.nn.Linear"]}]}},
  "calibration": {"batch_size": 16, "batches": 8},
  $EDITS,
  $CURES,
  "limits": {"min_sqnr": 20}
}
```

```sh
quantscope quantize resources/samples/digits.pt2 --recipe recipe.json --data resources/samples/calib.npz --strict --export none --out out/keys
```

## Precedence

Of the rules that match an operator the strongest decides, as in torch.ao, whatever their order in the file. From the weakest to the strongest:

| Key | Matches | Among several |
| --- | --- | --- |
| `global` | everything | |
| `object_type` | a class, function or method | the last of the same type |
| `module_name_regex` | a module's path from its beginning, in RE2's syntax | the first that matches |
| `module_name` | a module and what is inside it | the innermost module |
| `module_name_object_type_order` | the n-th call of a type directly in a module | |
| `node` | one node | |
| `edge` | one value as one reader sees it | |

Of fused operators one rule counts, as in torch.ao: that of the layer with a weight (the convolution, the linear), of functions such as `add` and `relu`
that of the last; a rule that this leaves without effect is reported. `convert.qconfig_mapping` can take a qconfig away after all of them.
`quantscope plan` shows the rule that decided in the column `rule`, the window's Why card also those that lost.
)";
constexpr std::string_view kBackendPage = R"(# Backend file

Every key of a backend file, torch.ao's `BackendConfig`, as its reader checks it: meaning, type, default, an example, and the line of Python
that says the same.

`quantscope backends check FILE` reports errors in one, `quantscope backends show x86 --json`
prints a complete one, `quantscope keys backend KEY` a row of this page. A recipe names the file under `"backend"`.
[Backend](glossary.md#backend) and [Pattern](glossary.md#pattern-and-fusion) explain the terms.

A backend can be written by hand, or be torch.ao's own object, dumped in Python:

```python
json.dump(backend_config.to_dict(), open("chip.json", "w"), default=repr)
```

An entry of `patterns` says what one pattern of operators may become. It has

- `pattern`: the operators in forward order, by module class, function or method;
- `observation_type`: whether its result has a separate scale, its input's scale, or none;
- `dtype_configs`: the types that the target takes for input, output, weight and bias, each with its limits. The first that fits the recipe's qconfig is used; none fits: float;
- `root_module`, `reference_quantized_module`: of a layer with a weight, the class that holds it and its reference class. Without them the weight stays float;
- `fused_module`, `fuser_method`: of a fusion, the class that it becomes. A fusion takes two entries: one that fuses, and one that quantizes the fused class.

A complete one: linear layers, and convolutions with ReLU, in eight bits, `chip.json`:

```json file=chip.json backend
{
  "format": "quantscope.backend", "version": 1, "name": "chip", "default_qconfig": "x86",
  "patterns": [
    {"pattern": ["torch.nn.Linear"],
     "observation_type": "output_use_different_observer_as_input",
     "root_module": "torch.nn.Linear",
     "reference_quantized_module": "torch.ao.nn.quantized.reference.Linear",
     "qat_module": "torch.ao.nn.qat.Linear",
     "dtype_configs": [{"input_dtype": {"dtype": "quint8", "quant_min_lower_bound": 0, "quant_max_upper_bound": 255},
                        "output_dtype": "quint8", "weight_dtype": "qint8", "bias_dtype": "float32"}]},
    {"pattern": ["torch.nn.Conv2d", "torch.nn.ReLU"],
     "fused_module": "torch.ao.nn.intrinsic.ConvReLU2d",
     "fuser_method": "fuse_conv2d_relu"},
    {"pattern": ["torch.ao.nn.intrinsic.ConvReLU2d"],
     "observation_type": "output_use_different_observer_as_input",
     "root_module": "torch.nn.Conv2d",
     "reference_quantized_module": "torch.ao.nn.quantized.reference.Conv2d",
     "qat_module": "torch.ao.nn.intrinsic.qat.ConvReLU2d",
     "dtype_configs": [{"input_dtype": "quint8", "output_dtype": "quint8", "weight_dtype": "qint8", "bias_dtype": "float32"}]}
  ]
}
```

```sh
quantscope backends check chip.json
quantscope plan resources/samples/digits.pt2 --backend chip.json
```

```text output
head · linear ... quantized
```
)";
constexpr std::string_view kLoweringPage = R"(# Lowering rows

Lowering rows say which kernels the operators of the reference form become: torch.ao's `STATIC_LOWER_MODULE_MAP`, `STATIC_LOWER_FUSED_MODULE_MAP` and the maps beside them in
`_lower_to_native_backend`, as data. A recipe adds and removes rows; an operator without a row stays in reference form, and the result says so.
[Lowering](glossary.md#lowering) explains the step, [Recipe keys](recipe-keys.md) the document.

```json recipe
{"convert": {"lowering": {"remove": [{"pattern": ["torch.nn.Linear"]}, {"pattern": ["torch.nn.Linear", "torch.nn.ReLU"]}]}}}
```
)";

constexpr std::string_view kObserverNotes = R"(
Defaults are torch.ao's. `placeholder`, `noop`, `recording` and `identity` choose no scale: an operator whose integer dtype would have to come from one stays float.

`range` says how a histogram becomes a range, once it is complete: `search` is torch.ao's own; `percentile` keeps the central `percentile` percent; `entropy` has the
least Kullback-Leibler divergence, as TensorRT calibrates (of fewer values than bins, `mse`); `mse` has the least expected squared error of the final grid. Only `search` and `minmax` exist
in torch.ao.

`group_size` cuts each row of a linear's weight into groups with a scale and a zero point each. The integers saturate at `quant_min` and `quant_max`; 4 bits are -8 and 7. The rows must be a whole
number of groups, else the linear stays float and says so. Such a linear with float activations (`placeholder`) is quantized in its weight alone and stays in reference form: LibTorch has no
kernel for it.
)";

std::string asCode(std::string_view text)
{
    return text.empty() ? std::string() : "`" + std::string(text) + "`";
}

std::string keyWords(const std::vector<std::string>& keys)
{
    std::string text;
    for (const std::string& key : keys)
        text += (text.empty() ? "" : " ") + key;
    return asCode(text);
}

std::string usualText(const KeyRow& row)
{
    if (row.usual.empty())
        return "no default";
    return row.usual.starts_with("required") ? std::string(row.usual)
                                             : "default " + asCode(row.usual);
}

std::string keyHeading(std::string_view document, const KeyTable& table)
{
    return table.place.empty()
        ? "The " + std::string(document == "backend" ? "backend file" : "recipe")
        : asCode(table.place);
}

/// Returns "patterns[0].pattern"; omits a remark after a comma in the place.
std::string keyPath(const KeyTable& table, const KeyRow& row)
{
    const std::string_view place = table.place.substr(0, table.place.find(','));
    return (place.empty() ? "" : std::string(place) + ".") + std::string(row.key);
}

std::string asSentence(std::string_view words)
{
    std::string text(words);
    text.front() = char(std::toupper(static_cast<unsigned char>(text.front())));
    return text + ".";
}

/// Writes a heading per key instead of a table row: the window finds keys by headings, and examples
/// need the width.
std::string keyEntries(std::string_view document, const KeyTable& table)
{
    std::string text
        = "\n## " + keyHeading(document, table) + "\n\n" + std::string(table.about) + "\n";
    for (const KeyRow& row : table.rows) {
        text += "\n### " + asCode(keyPath(table, row)) + "\n\n" + asSentence(row.meaning)
            + "\n\n- Type: " + std::string(row.type) + "; " + usualText(row)
            + "\n- Example: " + asCode(keyExample(row)) + "\n";
        if (!row.torch.empty())
            text += "- Python: " + std::string(row.torch) + "\n";
    }
    return text;
}

/// The keys of each kind of observer.
std::string observersTable()
{
    std::string text = "\n## Kinds of observers\n\n| `observer` | Keys |\n| --- | --- |\n";
    for (const std::string& name : observerKindNames()) {
        std::vector<std::string> keys = observerKeys(*observerKindFromName(name));
        keys.erase(keys.begin()); // "observer" itself
        text += "| `" + name + "` | " + (keys.empty() ? "none" : keyWords(keys)) + " |\n";
    }
    return text;
}

/// Returns torch.ao's name for a preset; empty if it has none.
std::string torchNameOfPreset(std::string_view preset)
{
    constexpr std::string_view kTraining = "_qat", kOlder = "_qat_v0", kFour = "_4bit";
    const auto engine = [](std::string_view name) {
        return name == "x86" || name == "fbgemm" || name == "qnnpack" || name == "onednn";
    };
    const auto cut = [&](std::string_view end) {
        return std::string(preset.substr(0, preset.size() - end.size()));
    };
    if (engine(preset))
        return "get_default_qconfig(\"" + std::string(preset) + "\")";
    if (preset.ends_with(kOlder))
        return "get_default_qat_qconfig(\"" + cut(kOlder) + "\", version=0)";
    if (preset.ends_with(kTraining) && engine(cut(kTraining)))
        return "get_default_qat_qconfig(\"" + cut(kTraining) + "\")";
    if (preset.starts_with("symmetric_qnnpack"))
        return preset.ends_with(kTraining) ? "_get_symmetric_qnnpack_qat_qconfig_mapping()"
                                           : "_get_symmetric_qnnpack_qconfig_mapping()";
    if (preset.starts_with("int") || preset.starts_with("uint") || preset == "tensorrt")
        return {};
    for (const std::string_view end : {kFour, std::string_view("_v2")})
        if (preset.ends_with(end))
            return cut(end) + "_qconfig" + std::string(end);
    return std::string(preset) + "_qconfig";
}

/// Lists the names of qconfigs that need no definition.
std::string presetsTable()
{
    std::string text
        = "\n## Presets\n\nThese names may be used wherever a qconfig is expected. Under "
          "`mapping.global`, a name marked * means a whole mapping, torch.ao's "
          "`get_default_qconfig_mapping` with its entries for single operators; anywhere else it "
          "is the bare qconfig.\n\n| Preset | torch.ao |\n| --- | --- |\n";
    for (const std::string& name : presetNames()) {
        const std::string there = torchNameOfPreset(name);
        text += "| `" + name + "`" + (QConfigMapping::defaultFor(name) ? "*" : "") + " | "
            + (there.empty() ? "none" : asCode(there)) + " |\n";
    }
    return text
        + "\n`int8_weight_only`, `int4_weight_only` and `int8_dynamic_activation_int4_weight` are "
          "torchao's of that name, for linears; 4 bits in groups of 32. `tensorrt` is qint8, "
          "symmetric, zero points 0. `int16_activation_int8_weight` is for the backend `ethos_u`, "
          "`uint16_activation_int8_weight` for `qnn`. A preset for training is calibrated with the "
          "observer inside its fake-quantize.\n";
}

/// Lists the default rows of the lowering table.
std::string defaultRows()
{
    std::string text = "\n## The default rows\n\n`same`: the operator itself on the quantized "
                       "tensor; `none`: the value passes. A pattern "
                       "may be written with the words of the first column, with classes "
                       "(`torch.nn.Conv2d`) or with ATen names.\n\n"
                       "| `pattern` | Mode | `to` |\n| --- | --- | --- |\n";
    for (const KernelRow& row : defaultKernelRows()) {
        std::string pattern;
        for (const std::string& part : row.pattern)
            pattern += (pattern.empty() ? "" : ", ") + ("\"" + part + "\"");
        if (row.pack.empty())
            text += "| `[" + pattern + "]` | " + std::string(kernelModeName(row.mode)) + " | `"
                + row.kernel + "` |\n";
    }
    return text;
}

} // namespace

std::string keyPage(std::string_view document)
{
    std::string text = withExamples(document == "recipe"        ? kRecipePage
                                        : document == "backend" ? kBackendPage
                                                                : kLoweringPage);
    for (const KeyTable& table : keyTables(document)) {
        text += keyEntries(document, table);
        if (table.place == "qconfigs.NAME.activation")
            text += observersTable() + std::string(kObserverNotes) + presetsTable();
        if (table.place == "edits[0]")
            text += editKindsText();
        if (table.place == "cures[0]")
            text += cureKindsText();
    }
    if (document == "lowering")
        text += defaultRows();
    return text + "\nWritten by `quantscope keys " + std::string(document)
        + " --page` from the tables that the readers check by.\n";
}

std::string keyText(std::string_view document, std::string_view key)
{
    std::string text;
    for (const KeyTable& table : keyTables(document))
        for (const KeyRow& row : table.rows)
            if (key.empty() || row.key == key) {
                text += (table.place.empty() ? "" : std::string(table.place) + ".")
                    + std::string(row.key) + "\n    " + std::string(row.type) + "; default "
                    + (row.usual.empty() ? "none" : std::string(row.usual)) + "\n    "
                    + std::string(row.meaning) + "\n    " + keyExample(row) + "\n";
                if (!row.torch.empty())
                    text += "    Python: " + std::string(row.torch) + "\n";
            }
    return text;
}

} // namespace qs
