// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace qs {

/// Returns the template `text` with `values` filled in. `{{a.b}}` is a member of the current value,
/// escaped for HTML; `{{.}}` the current value; `{{$.a}}` a member of `values`. A format may follow
/// a bar: `dash` ("-" if empty), `db`, `sqnr1`, `fixed2`, `percent2` (the digit is the number of
/// decimals), `count NOUN`, `raw` (not escaped). A block ends with `{{/}}`: `{{#a}}` repeats for
/// each item of a list, which becomes the current value; for an object it is filled once with the
/// object as current value. `{{?a}}` is filled if the member is not empty, `{{^a}}` if it is empty;
/// `{{*a}}` repeats for each member of an object, as `key` and `value`. Empty means: absent, null,
/// false, "", or a list or object without members.
std::string filled(const std::string& text, const nlohmann::ordered_json& values);

} // namespace qs
