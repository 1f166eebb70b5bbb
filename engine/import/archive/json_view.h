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

// Large JSON, read only: a program of twenty thousand operators is 28 MB of it. The one place that
// knows simdjson.

/// JSON of another shape than its reader expects. Thrown, so that not every access needs a check;
/// the importer turns it into one error.
class JsonShapeError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

class JsonItems;
class JsonMembers;

/// A value inside a JsonDocument, as cheap to copy as a pointer. Borrows the document, as do the
/// texts it gives; what throws throws JsonShapeError.
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

    /// The member of that name, the last one where the file has several (as Python reads it);
    /// nothing if it is absent or null, or if this is not an object.
    std::optional<JsonView> find(std::string_view key) const;
    /// The member of that name, which may be null. Throws if it is absent.
    JsonView at(std::string_view key) const;
    /// The items of an array, the members of an object. Throw on anything else.
    JsonItems items() const;
    JsonMembers members() const;

    /// A whole number; one with a fraction loses it. Throws on what 64 bits do not hold.
    std::int64_t integer() const;
    /// The same in 32 bits.
    int smallInteger() const;
    double number() const;
    bool boolean() const;
    std::string_view text() const;
    /// A member, or `otherwise` where `find` has nothing. Throw when it is of another type.
    std::string_view text(std::string_view key, std::string_view otherwise) const;
    bool boolean(std::string_view key, bool otherwise) const;

    /// As JSON text without spaces, members in the order of the file.
    std::string dump() const;

private:
    [[noreturn]] void refuse(const char* wanted) const;

    simdjson::dom::element m_value;
};

/// A parsed JSON text. Immutable; any number of threads may read it.
class JsonDocument
{
public:
    /// Errors (BadInput): not JSON, bad UTF-8, a number beyond a double; nested so deeply that
    /// walking it would overflow the stack. `name` names the text in messages.
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
