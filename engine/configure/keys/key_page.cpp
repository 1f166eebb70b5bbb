// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/lowering_table.h"
#include "engine/configure/json/edit_step_json.h"
#include "engine/configure/keys/key_table.h"
#include "engine/configure/qconfigs/observer_json.h"

namespace qs {

namespace {

constexpr std::string_view kRecipePage = R"(# Recipe keys

$KEYS

An unknown key is an error that names the nearest one. `quantscope keys recipe KEY` prints a row of this page.
[Recipes](recipes.md) has the story, [Coming from torch.ao or Horizon](coming-from-torch-ao.md) the terms.

A recipe can be written by hand, or be torch.ao's own mapping, dumped in Python:

    json.dump(qconfig_mapping.to_dict(), open("recipe.json", "w"), default=str)
)";
constexpr std::string_view kBackendPage = R"(# Backend file

$KEYS

`quantscope backends check FILE` says what is wrong in one, `quantscope backends show x86 --json`
prints one that is whole, `quantscope keys backend KEY` a row of this page. A recipe names the file under `"backend"`.
[Backend](concepts/backend.md) and [Pattern](concepts/pattern.md) explain the terms.

A backend can be written by hand, or be torch.ao's own object, dumped in Python:

    json.dump(backend_config.to_dict(), open("chip.json", "w"), default=repr)

A whole one: linear layers and convolutions with ReLU, in eight bits, with a least scale.

    {"format": "quantscope.backend", "version": 1, "name": "chip", "default_qconfig": "x86", "patterns": [
      {"pattern": ["torch.nn.Linear"], "observation_type": "output_use_different_observer_as_input",
       "root_module": "torch.nn.Linear", "reference_quantized_module": "torch.ao.nn.quantized.reference.Linear",
       "qat_module": "torch.ao.nn.qat.Linear",
       "dtype_configs": [{"input_dtype": {"dtype": "quint8", "quant_min_lower_bound": 0, "quant_max_upper_bound": 255},
                          "output_dtype": "quint8", "weight_dtype": "qint8", "bias_dtype": "float32"}]},
      {"pattern": ["torch.nn.Conv2d", "torch.nn.ReLU"], "fused_module": "torch.ao.nn.intrinsic.ConvReLU2d",
       "fuser_method": "fuse_conv2d_relu"},
      {"pattern": ["torch.ao.nn.intrinsic.ConvReLU2d"], "observation_type": "output_use_different_observer_as_input",
       "root_module": "torch.nn.Conv2d", "reference_quantized_module": "torch.ao.nn.quantized.reference.Conv2d",
       "qat_module": "torch.ao.nn.intrinsic.qat.ConvReLU2d",
       "dtype_configs": [{"input_dtype": "quint8", "output_dtype": "quint8", "weight_dtype": "qint8", "bias_dtype": "float32"}]}]}
)";
constexpr std::string_view kLoweringPage = R"(# Lowering rows

$KEYS

They say which kernels the operators of the reference form become: torch.ao's `STATIC_LOWER_MODULE_MAP`, `STATIC_LOWER_FUSED_MODULE_MAP` and the maps beside them in
`_lower_to_native_backend`, as data. A recipe adds and removes rows; an operator without a row stays in reference form, and the result says so.
[Lowering](concepts/lowering.md) explains the step, [Recipe keys](recipe-keys.md) the document.

    "convert": {"lowering": {"remove": [{"pattern": ["torch.nn.Linear"]}, {"pattern": ["torch.nn.Linear", "torch.nn.ReLU"]}]}}
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
        return "none";
    return row.usual.starts_with("required") ? std::string(row.usual) : asCode(row.usual);
}

std::string keyHeading(std::string_view document, const KeyTable& table)
{
    return table.place.empty()
        ? "The " + std::string(document == "backend" ? "backend file" : "recipe")
        : asCode(table.place);
}

std::string keyRowsTable(std::string_view document, const KeyTable& table)
{
    std::string text = "\n## " + keyHeading(document, table) + "\n\n" + std::string(table.about)
        + "\n\n| Key | Type | Default | What | Example | Python |\n| --- | --- | --- | --- | --- | "
          "--- |\n";
    for (const KeyRow& row : table.rows)
        text += "| " + asCode(row.key) + " | " + std::string(row.type) + " | " + usualText(row)
            + " | " + std::string(row.meaning) + " | " + asCode(row.example) + " | "
            + std::string(row.torch) + " |\n";
    return text;
}

/// Which keys each kind of observer has.
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

/// Which keys each kind of edit has.
std::string editsTable()
{
    std::string text
        = "\n## `edits[0]`\n\nAn edit of the model's graph: `do` says what, the other keys where "
          "and "
          "with what; `engine/edit/README.md` explains them.\n\nEvery kind also takes `form`, "
          "one of "
        + keyWords(editFormNames()) + "; the default is " + asCode(editFormName(EditForm::Float))
        + ". An edit of another form changes that converted form alone, after conversion; "
          "`add_output`, `drop_output`, `extract` and `as_float32` are for the float model.\n\n"
          "| `do` | Keys | Optional keys |\n| --- | --- | --- |\n";
    for (const EditKeys& kind : editKeys())
        text += "| `" + kind.name + "` | " + keyWords(kind.needed) + " | " + keyWords(kind.others)
            + " |\n";
    return text;
}

/// The rows that are there before a recipe adds any.
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

/// The first paragraph, by which the window finds the page: what it is about and every key.
std::string keySummary(std::string_view document)
{
    std::string text = "Every key of a "
        + std::string(document == "recipe"        ? "recipe"
                          : document == "backend" ? "backend file (BackendConfig)"
                                                  : "lowering row (STATIC_LOWER_FUSED_MODULE_MAP)");
    std::string before = ", as its reader checks it: ";
    for (const KeyTable& table : keyTables(document))
        for (const KeyRow& row : table.rows) {
            text += before + std::string(row.key);
            before = " ";
        }
    return text + ".";
}

} // namespace

std::string keyPage(std::string_view document)
{
    std::string text(document == "recipe"        ? kRecipePage
                         : document == "backend" ? kBackendPage
                                                 : kLoweringPage);
    constexpr std::string_view kSummary = "$KEYS";
    text.replace(text.find(kSummary), kSummary.size(), keySummary(document));
    for (const KeyTable& table : keyTables(document)) {
        text += keyRowsTable(document, table);
        if (table.place == "qconfigs.NAME.activation")
            text += observersTable();
    }
    if (document == "recipe")
        text += editsTable();
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
                    + std::string(row.meaning) + "\n    " + std::string(row.example) + "\n";
                if (!row.torch.empty())
                    text += "    Python: " + std::string(row.torch) + "\n";
            }
    return text;
}

} // namespace qs
