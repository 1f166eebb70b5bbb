// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/keys/key_table.h"

#include <array>

namespace qs {

/// Keys of a cure; `cureKeys` lists those of each kind. `keyExample` replaces the words with
/// $.
inline constexpr std::array kCureKeyRows {
    KeyRow {"cure", "string", "required", "the kind of cure, see below",
            R"("cures": [{"cure": "float", "at": $HEAD}])"},
    KeyRow {"at", "address", "required if the kind lists it",
            "the operator to cure; of `range` and `smooth` also an input of the model, of `bound` "
            "a stored value",
            R"("cures": [{"cure": "float_result", "at": $HEAD}])"},
    KeyRow {"nodes", "list of addresses", "",
            "of `float`, `split`, `equalize`, `round` and `bias`: further operators to treat alike",
            R"("cures": [{"cure": "float", "at": $STEM, "nodes": [$BLOCK]}])"},
    KeyRow {
        "readers", "list of readers", "",
        "of `range`: the readers whose inputs change; omitted = all",
        R"("cures": [{"cure": "range", "at": $STEM, "readers": [{"node": {"added": "..."}, "argument": "self"}], "qconfig": "default"}])"},
    KeyRow {"qconfig", "qconfig name", "required if the kind lists it",
            "a qconfig of the recipe, or a preset; `range` and `split` use its activation (`split` "
            "for the linears' input), `dynamic` all of it",
            R"("cures": [{"cure": "range", "at": $STEM, "qconfig": "default"}])"},
    KeyRow {"bound", "number", "required if the kind lists it", "the magnitude, above 0",
            R"("cures": [{"cure": "bound", "at": {"stored": "..."}, "bound": 104}])"},
    KeyRow {"channels", "list of numbers", "required if the kind lists it",
            "of `split`: input channels of the linears, from 0, in ascending order",
            R"("cures": [{"cure": "split", "at": $HEAD, "channels": [3, 7]}])"},
    KeyRow {
        "scales", "list of numbers", "required if the kind lists it",
        "of `smooth`: a number above 0 for each channel of the value",
        R"("cures": [{"cure": "smooth", "at": $LAYER, "scales": [1, 2, 1, 1, 4, 1, 1, 0.5, 2, 1, 1, 1, 1, 1, 1, 1]}])"},
    KeyRow {
        "file", "string", "required if the kind lists it",
        "of `train`: the trained model that `quantscope train` wrote; of `round` and `bias`: the "
        "numbers that `tune` wrote, an .npz; relative to the recipe",
        R"("cures": [{"cure": "train", "file": "model.pt2", "sha256": "9c1e..."}])"},
    KeyRow {"sha256", "string", "required if the kind lists it", "the SHA-256 of that file, in hex",
            R"("cures": [{"cure": "train", "file": "model.pt2", "sha256": "9c1e..."}])"},
    KeyRow {"gain_db", "number", "", "gain when the cure was chosen; no effect",
            R"("cures": [{"cure": "float", "at": $HEAD, "gain_db": 4.2}])"},
    KeyRow {"by", "string", "", "author; omitted = the user; no effect",
            R"("cures": [{"cure": "float", "at": $HEAD, "by": "tune 1f3a"}])"},
    KeyRow {"off", "boolean", "false", "`true` keeps the cure in the recipe without effect",
            R"("cures": [{"cure": "float", "at": $HEAD, "off": true}])"},
};

/// Returns the page's section on cures: the keys of each kind, and its effect.
std::string cureKindsText();

} // namespace qs
