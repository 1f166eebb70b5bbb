// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/keys/key_table.h"

#include <array>

namespace qs {

/// Keys of an edit of the model's graph; `editKeys` lists those of each kind. `keyExample` replaces
/// the words with $.
inline constexpr std::array kEditKeyRows {
    KeyRow {"do", "string", "required", "the kind of edit, of those below",
            R"("edits": [{"do": "rename", "at": $HEAD, "name": "classifier"}])"},
    KeyRow {
        "form", "string", R"("float")",
        "the form that changes: `float` (all forms follow), `reference` or `lowered` alone, "
        "after conversion",
        R"("edits": [{"do": "rename", "form": "reference", "at": $HEAD, "name": "classifier"}])"},
    KeyRow {"at", "address", "required where the kind names it", "what is edited",
            R"("edits": [{"do": "remove", "at": $STEM}])"},
    KeyRow {"op", "string", "required where the kind names it",
            "the operator that is added, or that takes the place",
            R"("edits": [{"do": "replace", "at": $STEM, "op": "$COPY"}])", "`node.target`"},
    KeyRow {"every", "string", "required where the kind names it", "the operator to replace",
            R"("edits": [{"do": "replace_every", "every": "$RELU", "op": "$COPY"}])"},
    KeyRow {
        "within", "string", R"("")", "a module path; empty: the whole model",
        R"("edits": [{"do": "replace_every", "every": "$RELU", "op": "$COPY", "within": "block1"}])"},
    KeyRow {"name", "string", "required where the kind names it",
            "of what is added; the new name of what is renamed",
            R"("edits": [{"do": "rename", "at": $HEAD, "name": "classifier"}])", "`node.name`"},
    KeyRow {
        "args", "object", "",
        "arguments by name: literals, or `{\"value\": ADDRESS}`; `set` needs them",
        R"("edits": [{"do": "insert", "op": "$COPY", "at": $HEAD, "name": "copy", "args": {"self": {"value": "this"}}}])",
        "`node.args`, `node.kwargs`"},
    KeyRow {
        "readers", "list of readers", "", "who reads what is added; left out, all; `[]`, none yet",
        R"("edits": [{"do": "insert", "op": "$COPY", "at": $HEAD, "name": "copy", "readers": [{"model_output": 0}]}])",
        "`node.replace_input_with`"},
    KeyRow {"bypass", "string", "",
            "the argument that readers of a removed operator get; left out, its first",
            R"("edits": [{"do": "remove", "at": $STEM, "bypass": "self"}])"},
    KeyRow {"argument", "string", "required where the kind names it", "the argument that is fed",
            R"("edits": [{"do": "rewire", "at": $BLOCK, "argument": "self", "to": $STEM}])"},
    KeyRow {"to", "address", "required where the kind names it", "what it then reads",
            R"("edits": [{"do": "rewire", "at": $BLOCK, "argument": "self", "to": $STEM}])"},
    KeyRow {
        "item", "integer", "", "of an argument that is a list, which item, from 0",
        R"("edits": [{"do": "rewire", "at": {"added": "..."}, "argument": "tensors", "item": 1, "to": $STEM}])"},
    KeyRow {"output", "integer", "required where the kind names it",
            "which output to remove, from 0",
            R"("edits": [{"do": "add_output", "at": $STEM}, {"do": "drop_output", "output": 1}])"},
    KeyRow {"nodes", "list of addresses", "required where the kind names it",
            "the operators that stay",
            R"("edits": [{"do": "extract", "form": "reference", "nodes": [$HEAD]}])"},
    KeyRow {
        "values", "nested lists of numbers", "required where no `file` is named",
        "the numbers of a tensor",
        R"("edits": [{"do": "constant", "at": {"stored": "head.bias"}, "values": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}])"},
    KeyRow {
        "file", "string", "required without `values`",
        "a `.npy` beside the recipe with the numbers of a tensor",
        R"("edits": [{"do": "constant", "at": {"stored": "head.bias"}, "file": ".../bias.npy"}])"},
    KeyRow {
        "sha256", "string", "", "of that file: another content is an error",
        R"("edits": [{"do": "constant", "at": {"stored": "head.bias"}, "file": ".../bias.npy", "sha256": "9f86d081"}])"},
};

/// Returns the page's section on edits: the keys of each kind, and their addresses.
std::string editKindsText();

} // namespace qs
