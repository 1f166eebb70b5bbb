// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/json/edit_step_json.h"

#include "engine/base/json/json_fields.h"
#include "engine/base/json/nearest_name.h"
#include "engine/configure/json/address_example.h"

#include <array>
#include <limits>

namespace qs {

namespace {

using Keys = std::vector<std::string>;

/// Keys of each kind: required and optional ones.
struct KindKeys
{
    EditKind kind;
    Keys needed, others;
};

const std::array<KindKeys, 14>& kindTable()
{
    static const std::array<KindKeys, 14> table {{
        {EditKind::Insert, {"op", "at", "name"}, {"args", "readers"}},
        {EditKind::Remove, {"at"}, {"bypass"}},
        {EditKind::Replace, {"at", "op"}, {"args"}},
        {EditKind::ReplaceEvery, {"every", "op"}, {"args", "within"}},
        {EditKind::Set, {"at", "args"}, {}},
        {EditKind::Rewire, {"at", "argument", "to"}, {"item"}},
        {EditKind::Duplicate, {"at", "name", "readers"}, {}},
        {EditKind::Rename, {"at", "name"}, {}},
        {EditKind::Constant, {"at"}, {"values", "file", "sha256"}},
        {EditKind::AddOutput, {"at"}, {}},
        {EditKind::DropOutput, {"output"}, {}},
        {EditKind::Fold, {}, {"within"}},
        {EditKind::Extract, {"nodes"}, {}},
        {EditKind::AsFloat32, {}, {}},
    }};
    return table;
}

Result<int> readIndex(const JsonPlace& place)
{
    QS_TRY(const std::int64_t value, place.integer());
    if (value < 0 || value > std::numeric_limits<int>::max())
        return place.error("must be 0 or more");
    return int(value);
}

Result<const KindKeys*> readKind(const JsonPlace& place)
{
    if (!place.value().is_object() || !place.has("do"))
        return place.error(R"(an edit is an object with "do": "insert", "remove", ...)");
    QS_TRY(const std::string name, place.key("do").string());
    Keys known;
    for (const KindKeys& row : kindTable()) {
        if (name == editKindName(row.kind))
            return &row;
        known.emplace_back(editKindName(row.kind));
    }
    return place.key("do").error("unknown edit '" + name + "'", suggestName(name, known));
}

Result<void> checkEditKeys(const JsonPlace& place, const KindKeys& row)
{
    Keys allowed {"do", "form"};
    allowed.insert(allowed.end(), row.needed.begin(), row.needed.end());
    allowed.insert(allowed.end(), row.others.begin(), row.others.end());
    QS_CHECK(place.object(allowed));
    for (const std::string& key : row.needed)
        if (!place.has(key.c_str()))
            return place.error("the key '" + key + "' is missing");
    return {};
}

Result<EditForm> readForm(const JsonPlace& place)
{
    QS_TRY(const std::string name, place.string());
    const Keys known = editFormNames();
    for (std::size_t at = 0; at < known.size(); ++at)
        if (name == known[at])
            return EditForm(at);
    return place.error("unknown form '" + name + "'", suggestName(name, known));
}

/// The text members, by key.
struct TextKey
{
    const char* key;
    std::string EditStep::*member;
};
constexpr std::array<TextKey, 8> kTextKeys {{{"op", &EditStep::op},
                                             {"name", &EditStep::name},
                                             {"every", &EditStep::every},
                                             {"within", &EditStep::within},
                                             {"argument", &EditStep::argument},
                                             {"bypass", &EditStep::argument},
                                             {"file", &EditStep::file},
                                             {"sha256", &EditStep::sha256}}};

Result<EditStep> readEdit(const JsonPlace& place)
{
    QS_TRY(const KindKeys* row, readKind(place));
    QS_CHECK(checkEditKeys(place, *row));
    EditStep step;
    step.kind = row->kind;
    if (place.has("form")) {
        QS_TRY(step.form, readForm(place.key("form")));
    }
    for (const TextKey& text : kTextKeys)
        if (place.has(text.key)) {
            QS_TRY(step.*text.member, place.key(text.key).string());
            if ((step.*text.member).empty() && std::string_view(text.key) != "within")
                return place.key(text.key).error("the text is empty");
        }
    if (place.has("at")) {
        QS_TRY(step.at, readAddress(place.key("at")));
    }
    if (place.has("to")) {
        QS_TRY(step.to, readAddress(place.key("to")));
    }
    for (const char* key : {"item", "output"})
        if (place.has(key)) {
            QS_TRY(step.item, readIndex(place.key(key)));
        }
    if (place.has("readers")) {
        QS_TRY(step.readers, readList(place.key("readers"), readReader));
        if (step.readers.empty() && step.kind == EditKind::Insert)
            step.readers = nobody();
    }
    if (place.has("nodes")) {
        QS_TRY(step.nodes, readList(place.key("nodes"), readAddress));
    }
    if (place.has("args") && !place.value().at("args").is_object())
        return place.key("args").error(R"(arguments are an object: {"min": 0, "max": 6})");
    for (const char* key : {"args", "values"})
        if (place.has(key))
            step.json = place.value().at(key).dump();
    if (step.json == "{}")
        step.json.clear();
    if (step.kind == EditKind::Constant && step.json.empty() == step.file.empty())
        return place.error("expected one of the keys 'values' and 'file'");
    return step;
}

Json editToJson(const EditStep& step)
{
    Json out {{"do", editKindName(step.kind)}};
    if (step.form != EditForm::Float)
        out["form"] = editFormName(step.form);
    const auto has = [&step](const char* key) {
        for (const KindKeys& row : kindTable())
            for (const Keys* keys : {&row.needed, &row.others})
                if (row.kind == step.kind)
                    for (const std::string& known : *keys)
                        if (known == key)
                            return true;
        return false;
    };
    if (has("at"))
        out["at"] = addressToJson(step.at);
    for (const TextKey& text : kTextKeys)
        if (has(text.key) && !(step.*text.member).empty())
            out[text.key] = step.*text.member;
    if (has("to"))
        out["to"] = addressToJson(step.to);
    for (const char* key : {"item", "output"})
        if (has(key) && step.item >= 0)
            out[key] = step.item;
    if (has("readers") && isNobody(step.readers))
        out["readers"] = Json::array();
    else if (has("readers") && !step.readers.empty())
        out["readers"] = eachToJson(step.readers, readerToJson);
    if (has("nodes") && !step.nodes.empty())
        out["nodes"] = eachToJson(step.nodes, addressToJson);
    for (const char* key : {"args", "values"})
        if (has(key) && !step.json.empty())
            out[key] = Json::parse(step.json, nullptr, false);
    return out;
}

} // namespace

std::vector<std::string> editFormNames()
{
    std::vector<std::string> out;
    for (const EditForm form : {EditForm::Float, EditForm::Reference, EditForm::Lowered})
        out.emplace_back(editFormName(form));
    return out;
}

std::vector<EditKeys> editKeys()
{
    std::vector<EditKeys> out;
    for (const KindKeys& row : kindTable())
        out.push_back({std::string(editKindName(row.kind)), row.needed, row.others});
    return out;
}

std::vector<ReaderAddress> nobody()
{
    return {ReaderAddress {}};
}

bool isNobody(const std::vector<ReaderAddress>& readers)
{
    return readers == nobody();
}

namespace {

/// Members of addresses of operators, from the file or added.
constexpr std::array kAddressFields {
    jsonField<&ValueAddress::name>("added"), jsonField<&ValueAddress::module>("module"),
    jsonField<&ValueAddress::op>("op"), jsonField<&ValueAddress::index, readIndex>("index"),
    jsonField<&ValueAddress::output, readIndex>("output")};

constexpr std::array kReaderFields {
    jsonField<&ReaderAddress::node, readAddress, addressToJson>("node", true),
    jsonField<&ReaderAddress::argument>("argument", true),
    jsonField<&ReaderAddress::item, readIndex>("item")};

} // namespace

Result<ValueAddress> readAddress(const JsonPlace& place)
{
    using Kind = ValueAddress::Kind;
    ValueAddress address;
    if (place.value() == "this") {
        address.kind = Kind::This;
        return address;
    }
    const std::string shape = "an address is " + std::string(kAddressExample)
        + R"(, {"input": "x"}, {"stored": "fc.weight"} or {"added": "clip"})";
    if (!place.value().is_object())
        return place.error(shape);
    for (const auto& [key, kind] : {std::pair {"input", Kind::Input}, {"stored", Kind::Stored}})
        if (place.has(key)) {
            QS_CHECK(place.object({key}));
            address.kind = kind;
            QS_TRY(address.name, place.key(key).string());
            return address;
        }
    if (place.has("added")) {
        QS_CHECK(place.object({"added", "output"}));
        address.kind = Kind::Added;
    } else {
        QS_CHECK(place.object({"module", "op", "index", "output"}));
        if (!place.has("op"))
            return place.error(shape);
        address.kind = Kind::Operator;
    }
    QS_CHECK(readFields(place, kAddressFields, address));
    return address;
}

Json addressToJson(const ValueAddress& address)
{
    using Kind = ValueAddress::Kind;
    Json out;
    switch (address.kind) {
    case Kind::This:
    case Kind::None:
        return "this";
    case Kind::Input:
        return {{"input", address.name}};
    case Kind::Stored:
        return {{"stored", address.name}};
    case Kind::Operator:
        out["module"] = address.module; // also for the root module, ""
        [[fallthrough]];
    case Kind::Added:
        writeFields(out, kAddressFields, address);
    }
    return out;
}

Result<ReaderAddress> readReader(const JsonPlace& place)
{
    ReaderAddress reader;
    if (place.has("model_output")) {
        QS_CHECK(place.object({"model_output"}));
        QS_TRY(reader.item, readIndex(place.key("model_output")));
        return reader;
    }
    QS_CHECK(place.object({"node", "argument", "item"}));
    if (!place.has("node") || !place.has("argument"))
        return place.error(R"(a reader is {"node": ..., "argument": "input"})");
    QS_CHECK(readFields(place, kReaderFields, reader));
    return reader;
}

Json readerToJson(const ReaderAddress& reader)
{
    if (reader.node.kind == ValueAddress::Kind::None)
        return {{"model_output", reader.item}};
    return fieldsToJson(kReaderFields, reader);
}

Result<std::vector<EditStep>> readEdits(const JsonPlace& place)
{
    return readList(place, readEdit);
}

Json editsToJson(const std::vector<EditStep>& steps)
{
    return eachToJson(steps, editToJson);
}

} // namespace qs
