// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/keys/key_table.h"

#include <array>

namespace qs {

/// Keys of an edit of the model's graph; `editKeys` lists those of each kind. `keyExample` replaces
/// the words with $.
inline constexpr std::array kEditKeyRows {
    KeyRow {"do", "string", "required", "the kind of edit, see below",
            R"("edits": [{"do": "rename", "at": $HEAD, "name": "classifier"}])"},
    KeyRow {
        "form", "string", R"("float")",
        "the form to change: `float` (all forms follow), or only `reference` or `lowered`, after "
        "conversion",
        R"("edits": [{"do": "rename", "form": "reference", "at": $HEAD, "name": "classifier"}])"},
    KeyRow {"at", "address", "required if the kind lists it", "the operator or value to edit",
            R"("edits": [{"do": "remove", "at": $STEM}])"},
    KeyRow {"op", "string", "required if the kind lists it",
            "the operator to insert, or the replacement",
            R"("edits": [{"do": "replace", "at": $STEM, "op": "$COPY"}])", "`node.target`"},
    KeyRow {"every", "string", "required if the kind lists it", "the operator to replace",
            R"("edits": [{"do": "replace_every", "every": "$RELU", "op": "$COPY"}])"},
    KeyRow {
        "within", "string", R"("")", "a module path; empty: the whole model",
        R"("edits": [{"do": "replace_every", "every": "$RELU", "op": "$COPY", "within": "block1"}])"},
    KeyRow {"name", "string", "required if the kind lists it",
            "name of the added node; of `rename`, the new name",
            R"("edits": [{"do": "rename", "at": $HEAD, "name": "classifier"}])", "`node.name`"},
    KeyRow {
        "args", "object", "",
        "arguments by name: literals, or `{\"value\": ADDRESS}`; required by `set`",
        R"("edits": [{"do": "insert", "op": "$COPY", "at": $HEAD, "name": "copy", "args": {"self": {"value": "this"}}}])",
        "`node.args`, `node.kwargs`"},
    KeyRow {
        "readers", "list of readers", "",
        "readers of the added value; omitted = all; `[]` = none yet",
        R"("edits": [{"do": "insert", "op": "$COPY", "at": $HEAD, "name": "copy", "readers": [{"model_output": 0}]}])",
        "`node.replace_input_with`"},
    KeyRow {"bypass", "string", "",
            "the argument that readers of a removed operator get; omitted = its first",
            R"("edits": [{"do": "remove", "at": $STEM, "bypass": "self"}])"},
    KeyRow {"argument", "string", "required if the kind lists it", "the argument to connect",
            R"("edits": [{"do": "rewire", "at": $BLOCK, "argument": "self", "to": $STEM}])"},
    KeyRow {"to", "address", "required if the kind lists it", "the value that it then reads",
            R"("edits": [{"do": "rewire", "at": $BLOCK, "argument": "self", "to": $STEM}])"},
    KeyRow {
        "item", "integer", "", "of an argument that is a list: the item, from 0",
        R"("edits": [{"do": "rewire", "at": {"added": "..."}, "argument": "tensors", "item": 1, "to": $STEM}])"},
    KeyRow {"output", "integer", "required if the kind lists it", "the output to remove, from 0",
            R"("edits": [{"do": "add_output", "at": $STEM}, {"do": "drop_output", "output": 1}])"},
    KeyRow {"nodes", "list of addresses", "required if the kind lists it", "the operators to keep",
            R"("edits": [{"do": "extract", "form": "reference", "nodes": [$HEAD]}])"},
    KeyRow {
        "values", "nested lists of numbers", "required without `file`", "values of the tensor",
        R"("edits": [{"do": "constant", "at": {"stored": "head.bias"}, "values": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}])"},
    KeyRow {
        "file", "string", "required without `values`",
        "a `.npy` beside the recipe with the tensor's values",
        R"("edits": [{"do": "constant", "at": {"stored": "head.bias"}, "file": ".../bias.npy"}])"},
    KeyRow {
        "sha256", "string", "", "hash of that file; different content is an error",
        R"("edits": [{"do": "constant", "at": {"stored": "head.bias"}, "file": ".../bias.npy", "sha256": "9f86d081"}])"},
};

/// Returns the page's section on edits: the keys of each kind, and their addresses.
std::string editKindsText();

} // namespace qs
