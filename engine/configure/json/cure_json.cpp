// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/json/cure_json.h"

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

const std::array<CureKindKeys, 6>& cureTable()
{
    static const std::array<CureKindKeys, 6> table {{
        {CureKind::Range, {"at", "qconfig"}, {"readers"}},
        {CureKind::Float, {"at"}, {"nodes"}},
        {CureKind::FloatResult, {"at"}, {}},
        {CureKind::Bound, {"at", "bound"}, {}},
        {CureKind::Dynamic, {"at", "qconfig"}, {}},
        {CureKind::Split, {"at", "channels"}, {"nodes", "qconfig"}},
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

/// Reads the address of the subject of the kind.
Result<ValueAddress> readCuredAddress(const JsonPlace& place, CureKind kind)
{
    using Kind = ValueAddress::Kind;
    QS_TRY(ValueAddress address, readAddress(place));
    if (address.kind == Kind::This)
        return place.error(R"("this" stands for no value here)",
                           "an address is " + std::string(kAddressExample));
    const bool fits = isOperatorAddress(address)
        || (kind == CureKind::Range && address.kind == Kind::Input)
        || (kind == CureKind::Bound && address.kind == Kind::Stored);
    if (fits)
        return address;
    const std::string also = kind == CureKind::Range ? R"( or {"input": "x"})"
        : kind == CureKind::Bound                    ? R"( or {"stored": "mask"})"
                                                     : "";
    return place.error("cure '" + std::string(cureKindName(kind)) + "' is not for "
                           + addressText(address),
                       "name an operator: " + std::string(kAddressExample) + also);
}

Result<double> readFinite(const JsonPlace& place)
{
    QS_TRY(const double value, place.number());
    if (!std::isfinite(value))
        return place.error("a finite number is wanted");
    return value;
}

/// Of a list that means something else when it is left out.
Result<void> checkNotEmpty(const JsonPlace& place, const char* leftOut)
{
    if (place.value().is_array() && place.value().empty())
        return place.error("the list is empty", leftOut);
    return {};
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
    QS_CHECK(checkNotEmpty(place, "name the channels to split off"));
    QS_TRY(std::vector<int> channels, readList(place, readChannel));
    if (std::adjacent_find(channels.begin(), channels.end(), std::greater_equal<>())
        != channels.end())
        return place.error("channels stand in ascending order, each once");
    return channels;
}

Result<Cure> readCure(const JsonPlace& place)
{
    QS_TRY(const CureKindKeys* row, readCureKind(place));
    QS_CHECK(checkCureKeys(place, *row));
    Cure cure;
    cure.kind = row->kind;
    QS_TRY(cure.at, readCuredAddress(place.key("at"), row->kind));
    if (place.has("nodes")) {
        QS_CHECK(checkNotEmpty(place.key("nodes"), "leave 'nodes' out for one operator"));
        QS_TRY(cure.nodes, readList(place.key("nodes"), [](const JsonPlace& node) {
                   return readCuredAddress(node, CureKind::Float);
               }));
    }
    if (place.has("readers")) {
        QS_CHECK(checkNotEmpty(place.key("readers"), "leave 'readers' out for every reader"));
        QS_TRY(cure.readers, readList(place.key("readers"), readReader));
    }
    for (const auto& [key, member] : {std::pair("qconfig", &Cure::qconfig), {"by", &Cure::by}})
        if (place.has(key)) {
            QS_TRY(cure.*member, place.key(key).string());
            if ((cure.*member).empty())
                return place.key(key).error("the text is empty");
        }
    if (place.has("bound")) {
        QS_TRY(cure.bound, readFinite(place.key("bound")));
        if (*cure.bound <= 0)
            return place.key("bound").error("a magnitude is above 0");
    }
    if (place.has("channels")) {
        QS_TRY(cure.channels, readChannels(place.key("channels")));
    }
    if (place.has("gain_db")) {
        QS_TRY(cure.gainDb, readFinite(place.key("gain_db")));
    }
    if (place.has("off")) {
        QS_TRY(cure.off, place.key("off").boolean());
    }
    return cure;
}

Json cureToJson(const Cure& cure)
{
    Json out {{"cure", cureKindName(cure.kind)}, {"at", addressToJson(cure.at)}};
    for (const ValueAddress& node : cure.nodes)
        out["nodes"].push_back(addressToJson(node));
    for (const ReaderAddress& reader : cure.readers)
        out["readers"].push_back(readerToJson(reader));
    if (!cure.qconfig.empty())
        out["qconfig"] = cure.qconfig;
    if (cure.bound)
        out["bound"] = *cure.bound;
    if (!cure.channels.empty())
        out["channels"] = cure.channels;
    if (cure.gainDb)
        out["gain_db"] = *cure.gainDb;
    if (!cure.by.empty())
        out["by"] = cure.by;
    if (cure.off)
        out["off"] = true;
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
    Json out = Json::array();
    for (const Cure& cure : cures)
        out.push_back(cureToJson(cure));
    return out;
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
