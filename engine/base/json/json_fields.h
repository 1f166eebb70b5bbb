// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"

#include <array>
#include <type_traits>

namespace qs {

/// Maps one key of a JSON object to a member of T. A document's fields form one constexpr array,
/// used by `readFields` and `writeFields`.
template<class T>
struct JsonField
{
    const char* key;
    Result<void> (*read)(const JsonPlace& place, T& into);
    Json (*write)(const T& from);
    bool (*isSame)(const T& a, const T& b);
    bool isAlways; ///< written even if it has the default value
};

/// Reads a value with `Read`; without it, as one of JSON's types.
template<class Value, auto Read>
auto readOne(const JsonPlace& place)
{
    if constexpr (!std::is_null_pointer_v<decltype(Read)>)
        return Read(place);
    else if constexpr (std::is_same_v<Value, bool>)
        return place.boolean();
    else if constexpr (std::is_same_v<Value, double>)
        return place.number();
    else if constexpr (std::is_same_v<Value, std::int64_t>)
        return place.integer();
    else
        return place.string();
}

/// Writes a list, each member with `write`.
template<class T, class Write>
Json eachToJson(const std::vector<T>& members, const Write& write)
{
    Json out = Json::array();
    for (const T& member : members)
        out.push_back(write(member));
    return out;
}

template<class T, class Member>
T ownerOf(Member T::*);
template<class Value>
struct InnerOf : std::type_identity<Value>
{
};
template<class Value>
requires(!std::is_same_v<Value, std::string>) && requires
{
    typename Value::value_type;
}
struct InnerOf<Value> : std::type_identity<typename Value::value_type>
{
};

/// Creates the field of a member. `Read` (returns a Result for a place) and `Write` (to JSON)
/// convert values other than JSON's types: the member, or the elements of an optional or a list.
template<auto Member, auto Read = nullptr, auto Write = nullptr>
constexpr auto jsonField(const char* key, bool isAlways = false)
{
    using T = decltype(ownerOf(Member));
    using Value = std::remove_cvref_t<decltype(std::declval<T>().*Member)>;
    using Inner = typename InnerOf<Value>::type;
    constexpr bool isOptional = std::is_same_v<Value, std::optional<Inner>>;
    using Made = typename decltype(readOne<Inner, Read>(std::declval<JsonPlace>()))::value_type;
    const auto read = [](const JsonPlace& place, T& into) -> Result<void> {
        if constexpr (std::is_same_v<Value, Made> || isOptional) {
            QS_TRY(into.*Member, (readOne<Inner, Read>(place)));
        } else {
            QS_TRY(into.*Member, readList(place, (readOne<Inner, Read>)));
        }
        return {};
    };
    const auto write = [](const T& from) -> Json {
        if constexpr (!std::is_null_pointer_v<decltype(Write)>) {
            if constexpr (std::is_invocable_v<decltype(Write), const Value&>)
                return Write(from.*Member);
            else if constexpr (isOptional)
                return Write(*(from.*Member));
            else
                return eachToJson(from.*Member, Write);
        } else if constexpr (isOptional) {
            return *(from.*Member);
        } else {
            return from.*Member;
        }
    };
    const auto isSame = [](const T& a, const T& b) { return a.*Member == b.*Member; };
    return JsonField<T> {key, read, write, isSame, isAlways};
}

/// Reads the keys that are present. Fails with the first error of a field.
template<class T, std::size_t N>
Result<void> readFields(const JsonPlace& place, const std::array<JsonField<T>, N>& fields, T& into,
                        bool nullIsAbsent = false)
{
    for (const JsonField<T>& field : fields)
        if (place.has(field.key) && !(nullIsAbsent && place.value()[field.key].is_null()))
            QS_CHECK(field.read(place.key(field.key), into));
    return {};
}

/// Returns a new value with those fields; other members have their defaults.
template<class T, std::size_t N>
Result<T> readFields(const JsonPlace& place, const std::array<JsonField<T>, N>& fields)
{
    T made;
    QS_CHECK(readFields(place, fields, made));
    return made;
}

/// Writes the members that differ from `usual` or are always written, in the order of the fields.
template<class T, std::size_t N>
void writeFields(Json& out, const std::array<JsonField<T>, N>& fields, const T& from,
                 const T& usual = {})
{
    for (const JsonField<T>& field : fields)
        if (field.isAlways || !field.isSame(from, usual))
            out[field.key] = field.write(from);
}

/// Returns an object with only those fields.
template<class T, std::size_t N>
Json fieldsToJson(const std::array<JsonField<T>, N>& fields, const T& from)
{
    Json out = Json::object();
    writeFields(out, fields, from);
    return out;
}

} // namespace qs
