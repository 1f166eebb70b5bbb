// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <simdjson.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

// Read-only access to large JSON (a program of 20,000 operators has 28 MB). Only this file uses
// simdjson.

/// Thrown if JSON has another structure than its reader expects. An exception, so that accesses
/// need no checks; the importer converts it to an error.
class JsonShapeError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

class JsonItems;
class JsonMembers;

/// A value inside a JsonDocument, as cheap to copy as a pointer. Borrows the document, as do
/// returned texts. Functions that throw throw JsonShapeError.
class JsonView
{
public:
    explicit JsonView(simdjson::dom::element value)
        : m_value(value)
    {
    }

    bool isObject() const { return m_value.is_object(); }
    bool isArray() const { return m_value.is_array(); }
    bool isString() const { return m_value.is_string(); }
    bool isNumber() const { return m_value.is_number(); }

    /// Returns the member of that name, the last one if there are duplicates (as in Python);
    /// nullopt if it is absent or null, or if this is not an object.
    std::optional<JsonView> find(std::string_view key) const;
    /// Returns the member of that name, possibly null. Throws if it is absent.
    JsonView at(std::string_view key) const;
    /// The items of an array, the members of an object. Throw for other types.
    JsonItems items() const;
    JsonMembers members() const;

    /// Returns an integer; truncates a fraction. Throws if the number does not fit 64 bits.
    std::int64_t integer() const;
    /// The same for 32 bits.
    int smallInteger() const;
    double number() const;
    bool boolean() const;
    std::string_view text() const;
    /// Return a member, or `otherwise` if `find` returns nullopt. Throw if it has another type.
    std::string_view text(std::string_view key, std::string_view otherwise) const;
    bool boolean(std::string_view key, bool otherwise) const;

    /// Returns JSON text without spaces; members keep the file's order.
    std::string dump() const;

private:
    [[noreturn]] void refuse(const char* wanted) const;

    simdjson::dom::element m_value;
};

/// A parsed JSON text. Immutable; any number of threads may read it.
class JsonDocument
{
public:
    /// Fails (BadInput) on invalid JSON or UTF-8, a number outside the range of a double, or
    /// nesting that would overflow the stack. `name`: the text's name in messages.
    static Result<JsonDocument> parse(std::string text, const std::string& name);

    JsonView root() const { return JsonView(m_document->root()); }

private:
    std::unique_ptr<simdjson::dom::document> m_document;
};

/// Range over the items of an array.
class JsonItems
{
public:
    class Iterator
    {
    public:
        explicit Iterator(simdjson::dom::array::iterator at)
            : m_at(at)
        {
        }
        JsonView operator*() const { return JsonView(*m_at); }
        Iterator& operator++()
        {
            ++m_at;
            return *this;
        }
        bool operator!=(const Iterator& other) const { return m_at != other.m_at; }

    private:
        simdjson::dom::array::iterator m_at;
    };

    explicit JsonItems(simdjson::dom::array items)
        : m_items(items)
    {
    }
    Iterator begin() const { return Iterator(m_items.begin()); }
    Iterator end() const { return Iterator(m_items.end()); }
    std::vector<JsonView> all() const
    {
        std::vector<JsonView> views;
        for (const JsonView item : *this)
            views.push_back(item);
        return views;
    }

private:
    simdjson::dom::array m_items;
};

/// Range over the members of an object, in the order of the file.
class JsonMembers
{
public:
    struct Member
    {
        std::string_view key;
        JsonView value;
    };
    class Iterator
    {
    public:
        explicit Iterator(simdjson::dom::object::iterator at)
            : m_at(at)
        {
        }
        Member operator*() const { return {m_at.key(), JsonView(m_at.value())}; }
        Iterator& operator++()
        {
            ++m_at;
            return *this;
        }
        bool operator!=(const Iterator& other) const { return m_at != other.m_at; }

    private:
        simdjson::dom::object::iterator m_at;
    };

    explicit JsonMembers(simdjson::dom::object members)
        : m_members(members)
    {
    }
    Iterator begin() const { return Iterator(m_members.begin()); }
    Iterator end() const { return Iterator(m_members.end()); }

private:
    simdjson::dom::object m_members;
};

} // namespace qs
