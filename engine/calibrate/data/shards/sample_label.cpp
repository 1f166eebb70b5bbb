// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/shards/sample_label.h"

#include "engine/base/files/read_file.h"
#include "engine/base/json/json_reader.h"
#include "engine/base/text.h"

#include <charconv>

namespace qs {

namespace {

Error noLabel(const std::string& what)
{
    return makeError(ErrorCode::BadInput, what)
        .withHint("a label is a whole number of 0 or more, the class");
}

} // namespace

Result<std::int64_t> labelOfText(const std::string& content)
{
    const std::string_view text = trimmed(content);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < 0)
        return fail(noLabel("holds " + inQuotes(shortened(std::string(text), 20))
                            + ", which is not a label"));
    return value;
}

Result<std::optional<std::int64_t>> labelOfJson(const std::string& content)
{
    const Json json = isDeepJson(content) ? Json(Json::value_t::discarded)
                                          : Json::parse(content, nullptr, false);
    if (json.is_discarded())
        return fail(noLabel("is not sound JSON"));
    if (!json.is_object())
        return std::optional<std::int64_t>();
    for (const char* key : {"label", "cls", "class"}) {
        const auto found = json.find(key);
        if (found == json.end())
            continue;
        if (!found->is_number_integer() || found->get<std::int64_t>() < 0)
            return fail(noLabel("holds no whole number in its key \"" + std::string(key) + "\""));
        return std::optional(found->get<std::int64_t>());
    }
    return std::optional<std::int64_t>();
}

} // namespace qs
