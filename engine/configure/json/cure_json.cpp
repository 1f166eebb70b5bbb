// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/json/cure_json.h"

#include "engine/base/json/json_fields.h"
#include "engine/base/json/nearest_name.h"
#include "engine/configure/json/address_example.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

namespace qs {

namespace {

using CureKeyNames = std::vector<std::string>;

/// Keys of each kind: required and optional ones.
struct CureKindKeys
{
    CureKind kind;
    CureKeyNames needed, others;
};

const std::array<CureKindKeys, 11>& cureTable()
{
    static const std::array<CureKindKeys, 11> table {{
        {CureKind::Range, {"at", "qconfig"}, {"readers"}},
        {CureKind::Float, {"at"}, {"nodes"}},
        {CureKind::FloatResult, {"at"}, {}},
        {CureKind::Bound, {"at", "bound"}, {}},
        {CureKind::Dynamic, {"at", "qconfig"}, {}},
        {CureKind::Split, {"at", "channels"}, {"nodes", "qconfig"}},
        {CureKind::Equalize, {"at"}, {"nodes"}},
        {CureKind::Smooth, {"at", "scales"}, {}},
        {CureKind::Round, {"at", "file", "sha256"}, {"nodes"}},
        {CureKind::Bias, {"at", "file", "sha256"}, {"nodes"}},
        {CureKind::Train, {"file", "sha256"}, {}},
    }};
    return table;
}

Result<const CureKindKeys*> readCureKind(const JsonPlace& place)
{
    if (!place.value().is_object() || !place.has("cure"))
        return place.error(R"(a cure is an object with "cure": "range", "float", ...)");
    QS_TRY(const std::string name, place.key("cure").string());
    for (const CureKindKeys& row : cureTable())
        if (name == cureKindName(row.kind))
            return &row;
    return place.key("cure").error("unknown cure '" + name + "'",
                                   suggestName(name, cureKindNames()));
}

Result<void> checkCureKeys(const JsonPlace& place, const CureKindKeys& row)
{
    CureKeyNames allowed {"cure"};
    for (const CureKeyNames* keys : {&row.needed, &row.others, &commonCureKeys()})
        allowed.insert(allowed.end(), keys->begin(), keys->end());
    QS_CHECK(place.object(allowed));
    for (const std::string& key : row.needed)
        if (!place.has(key.c_str()))
            return place.error("the key '" + key + "' is missing");
    return {};
}

bool isOperatorAddress(const ValueAddress& address)
{
    return address.kind == ValueAddress::Kind::Operator
        || address.kind == ValueAddress::Kind::Added;
}

/// Reads the address `at` of a cure of this kind.
Result<ValueAddress> readCuredAddress(const JsonPlace& place, CureKind kind)
{
    using Kind = ValueAddress::Kind;
    QS_TRY(ValueAddress address, readAddress(place));
    if (address.kind == Kind::This)
        return place.error(R"("this" is not valid here)",
                           "an address is " + std::string(kAddressExample));
    const bool takesInput = kind == CureKind::Range || kind == CureKind::Smooth;
    const bool fits = isOperatorAddress(address) || (takesInput && address.kind == Kind::Input)
        || (kind == CureKind::Bound && address.kind == Kind::Stored);
    if (fits)
        return address;
    const std::string also = takesInput ? R"( or {"input": "x"})"
        : kind == CureKind::Bound       ? R"( or {"stored": "mask"})"
                                        : "";
    return place.error("cure '" + std::string(cureKindName(kind)) + "' is not for "
                           + addressText(address),
                       "name an operator: " + std::string(kAddressExample) + also);
}

Result<double> readFinite(const JsonPlace& place)
{
    QS_TRY(const double value, place.number());
    if (!std::isfinite(value))
        return place.error("expected a finite number");
    return value;
}

/// Reads a list and rejects an empty one. `leftOut`: hint with the meaning of omitting the key.
template<class Read>
auto readFilled(const JsonPlace& place, const char* leftOut, const Read& read)
    -> decltype(readList(place, read))
{
    if (place.value().is_array() && place.value().empty())
        return place.error("the list is empty", leftOut);
    return readList(place, read);
}

Result<std::vector<ValueAddress>> readCuredNodes(const JsonPlace& place)
{
    return readFilled(place, "leave 'nodes' out for one operator", [](const JsonPlace& node) {
        return readCuredAddress(node, CureKind::Float);
    });
}

Result<std::vector<ReaderAddress>> readCuredReaders(const JsonPlace& place)
{
    return readFilled(place, "leave 'readers' out for every reader", readReader);
}

Result<int> readChannel(const JsonPlace& place)
{
    QS_TRY(const std::int64_t number, place.integer());
    if (number < 0 || number > std::numeric_limits<int>::max())
        return place.error("a channel is a number from 0 on");
    return int(number);
}

Result<std::vector<int>> readChannels(const JsonPlace& place)
{
    QS_TRY(std::vector<int> channels,
           readFilled(place, "name the channels to split off", readChannel));
    if (std::adjacent_find(channels.begin(), channels.end(), std::greater_equal<>())
        != channels.end())
        return place.error("channels must be in ascending order and unique");
    return channels;
}

Result<double> readScale(const JsonPlace& place)
{
    QS_TRY(const double scale, readFinite(place));
    if (scale <= 0)
        return place.error("a scale is above 0");
    return scale;
}

Result<std::vector<double>> readScales(const JsonPlace& place)
{
    return readFilled(place, "give a scale for each channel", readScale);
}

Result<std::string> readText(const JsonPlace& place)
{
    QS_TRY(std::string text, place.string());
    if (text.empty())
        return place.error("the text is empty");
    return text;
}

Result<double> readBound(const JsonPlace& place)
{
    QS_TRY(const double bound, readFinite(place));
    if (bound <= 0)
        return place.error("a magnitude is above 0");
    return bound;
}

/// The members except `kind` and `at`.
constexpr std::array kCureFields {
    jsonField<&Cure::nodes, readCuredNodes, addressToJson>("nodes"),
    jsonField<&Cure::readers, readCuredReaders, readerToJson>("readers"),
    jsonField<&Cure::qconfig, readText>("qconfig"),
    jsonField<&Cure::bound, readBound>("bound"),
    jsonField<&Cure::channels, readChannels>("channels"),
    jsonField<&Cure::scales, readScales>("scales"),
    jsonField<&Cure::file, readText>("file"),
    jsonField<&Cure::sha256, readText>("sha256"),
    jsonField<&Cure::gainDb, readFinite>("gain_db"),
    jsonField<&Cure::by, readText>("by"),
    jsonField<&Cure::off>("off")};

Result<Cure> readCure(const JsonPlace& place)
{
    QS_TRY(const CureKindKeys* row, readCureKind(place));
    QS_CHECK(checkCureKeys(place, *row));
    Cure cure;
    cure.kind = row->kind;
    if (row->kind != CureKind::Train) {
        QS_TRY(cure.at, readCuredAddress(place.key("at"), row->kind));
    }
    QS_CHECK(readFields(place, kCureFields, cure));
    return cure;
}

Json cureToJson(const Cure& cure)
{
    Json out {{"cure", cureKindName(cure.kind)}};
    if (cure.kind != CureKind::Train)
        out["at"] = addressToJson(cure.at);
    writeFields(out, kCureFields, cure);
    return out;
}

} // namespace

const std::vector<std::string>& commonCureKeys()
{
    static const CureKeyNames keys {"gain_db", "by", "off"};
    return keys;
}

std::vector<EditKeys> cureKeys()
{
    std::vector<EditKeys> out;
    for (const CureKindKeys& row : cureTable())
        out.push_back({std::string(cureKindName(row.kind)), row.needed, row.others});
    return out;
}

Result<std::vector<Cure>> readCures(const JsonPlace& place)
{
    return readList(place, readCure);
}

Json curesToJson(const std::vector<Cure>& cures)
{
    return eachToJson(cures, cureToJson);
}

std::vector<Cure> countedCures(const std::vector<Cure>& cures)
{
    std::vector<Cure> out;
    for (const Cure& cure : cures)
        if (!cure.off) {
            Cure& kept = out.emplace_back(cure);
            kept.gainDb.reset();
            kept.by.clear();
        }
    return out;
}

} // namespace qs
