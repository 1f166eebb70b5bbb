// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace qs {

/// A template with values filled in. `{{a.b}}` is the text of a member of the value at hand, as
/// HTML, `{{.}}` that value, `{{$.a}}` a member of `values`. After a bar stands how it is shown:
/// `dash` ("-" for nothing), `db`, `sqnr1`, `fixed2`, `percent2` (with so many decimals), `count
/// NOUN`, `raw` (as it is). Blocks end with `{{/}}`: `{{#a}}` is filled for each item of a list,
/// else once with what it holds at hand; `{{?a}}` once where there is something, `{{^a}}` where
/// there is nothing; `{{*a}}` for each member of an object, as `key` and `value`. Nothing: absent,
/// null, false, empty.
std::string filled(const std::string& text, const nlohmann::ordered_json& values);

} // namespace qs
