// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json/json_fields.h"
#include "engine/base/json/nearest_name.h"

#include <QtTest/QtTest>

#include <algorithm>

using namespace qs;

namespace {

struct Room
{
    std::string name;
    std::optional<double> height;
    std::int64_t doors = 1;
    std::vector<std::string> colours;
    bool operator==(const Room&) const = default;
};

Result<std::int64_t> readDoors(const JsonPlace& place)
{
    QS_TRY(const std::int64_t doors, place.integer());
    if (doors < 1)
        return place.error("a room has a door");
    return doors;
}

constexpr std::array kRoomFields {
    jsonField<&Room::name>("name"), jsonField<&Room::height>("height"),
    jsonField<&Room::doors, readDoors>("doors"), jsonField<&Room::colours>("colours")};

/// With ' for ": moc loses its way in raw strings full of brackets.
std::string quoted(std::string text)
{
    std::ranges::replace(text, '\'', '"');
    return text;
}

Result<Room> readRoom(const std::string& text)
{
    QS_TRY(const Json json, parseJson(quoted(text), "rooms.json"));
    Room room;
    QS_CHECK(readFields(JsonPlace(json, "rooms.json", "hall"), kRoomFields, room));
    return room;
}

} // namespace

class TestJson : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void fieldsAreReadAndWritten()
    {
        const std::string text = "{'name':'hall','height':2.5,'doors':3,'colours':['red']}";
        const auto room = readRoom(text);
        QVERIFY2(room, room ? "" : room.error().line().c_str());
        QVERIFY((*room == Room {"hall", 2.5, 3, {"red"}}));
        Json written;
        writeFields(written, kRoomFields, *room);
        QCOMPARE(written.dump(), quoted(text));

        Json changes = Json::object();
        writeFields(changes, kRoomFields, *room, Room {"hall", 2.5, 1, {"red"}});
        QCOMPARE(changes.dump(), quoted("{'doors':3}"));
        QVERIFY(*readRoom("{}") == Room {});
    }
    void errorsNameThePlace()
    {
        QCOMPARE(readRoom("{'doors': 0}").error().line(),
                 std::string("rooms.json: hall.doors: a room has a door"));
        QCOMPARE(readRoom("{'height': 'low'}").error().line(),
                 std::string("rooms.json: hall.height: expected a number, not a string"));
        QCOMPARE(readRoom("{'colours': [1]}").error().line(),
                 std::string("rooms.json: hall.colours[0]: expected a string, not a number"));
        QCOMPARE(readRoom("{\n  'name' 1}").error().message.substr(0, 26),
                 std::string("not JSON: line 2, column 1"));
        QVERIFY(readRoom("{'doors': 1, 'doors': 2}").error().message.find("duplicate key 'doors'")
                != std::string::npos);
    }
    void commentsAreBlanks()
    {
        const std::string text = quoted("{'a': 1, // one\n 'b': '//', /* two */ }");
        const auto json = parseJson(withoutComments(text), "c.json");
        QVERIFY2(json, json ? "" : json.error().line().c_str());
        QCOMPARE(json->dump(), quoted("{'a':1,'b':'//'}"));
    }
    void suggestsNames()
    {
        QCOMPARE(nearestName("torch.nn.Conv2D", {"torch.nn.Conv1d", "torch.nn.Conv2d"}),
                 std::string("torch.nn.Conv2d"));
        QCOMPARE(nearestName("Linear", {"torch.nn.Linear", "torch.nn.Conv2d"}),
                 std::string("torch.nn.Linear"));
        QCOMPARE(nearestName("zebra", {"torch.nn.Linear", "reshape"}), std::string());
    }
};

QTEST_GUILESS_MAIN(TestJson)
#include "tst_json.moc"
