// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/value.h"

#include <concepts>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace qs {

/// An element type or layout or memory format given as an argument.
struct LayoutTag
{
    std::string name;
    friend bool operator==(const LayoutTag&, const LayoutTag&) = default;
};
struct MemoryFormatTag
{
    std::string name;
    friend bool operator==(const MemoryFormatTag&, const MemoryFormatTag&) = default;
};
struct ComplexNumber
{
    double real = 0, imaginary = 0;
    friend bool operator==(const ComplexNumber&, const ComplexNumber&) = default;
};

/// True if T itself is one of the variant's alternatives, not only convertible to one.
template<class T, class Variant>
inline constexpr bool kIsAlternative = false;
template<class T, class... Ts>
inline constexpr bool kIsAlternative<T, std::variant<Ts...>> = (std::same_as<T, Ts> || ...);
template<class T, class Variant>
concept AlternativeOf = kIsAlternative<T, Variant>;

/// One argument of a node: a reference to a value, a constant, or a list of arguments (which may
/// mix both). monostate stands for None. Symbolic integers are references to SymInt values. Graph
/// ownership is by value.
struct Argument
{
    using List = std::vector<Argument>;
    using Variant = std::variant<std::monostate, ValueRef, bool, std::int64_t, double, std::string,
                                 DType, Device, LayoutTag, MemoryFormatTag, ComplexNumber, List>;
    Variant value;

    Argument() = default;
    // NOLINTBEGIN(google-explicit-constructor): arguments read as the constants they are
    template<AlternativeOf<Variant> T>
    Argument(T v)
        : value(std::move(v))
    {
    }
    Argument(std::same_as<int> auto v)
        : value(std::int64_t(v))
    {
    }
    Argument(std::same_as<const char*> auto v)
        : value(std::string(v))
    {
    }
    // NOLINTEND(google-explicit-constructor)

    bool isNone() const { return std::holds_alternative<std::monostate>(value); }
    const ValueRef* asRef() const { return std::get_if<ValueRef>(&value); }
    const List* asList() const { return std::get_if<List>(&value); }
    const std::int64_t* asInt() const { return std::get_if<std::int64_t>(&value); }
    const double* asDouble() const { return std::get_if<double>(&value); }
    const bool* asBool() const { return std::get_if<bool>(&value); }
    const std::string* asString() const { return std::get_if<std::string>(&value); }
    const DType* asDType() const { return std::get_if<DType>(&value); }
    friend bool operator==(const Argument&, const Argument&) = default;
};

/// A named argument, in the order of the operator's schema. Arguments left at their default may be
/// absent.
struct NamedArgument
{
    std::string name;
    Argument value;
    friend bool operator==(const NamedArgument&, const NamedArgument&) = default;
};

/// Calls `visit(ValueRef)` for every reference inside `argument`, nested lists included, in order.
template<class Visit>
void forEachRef(const Argument& argument, Visit&& visit)
{
    if (const auto* ref = argument.asRef())
        visit(*ref);
    else if (const auto* list = argument.asList())
        for (const auto& item : *list)
            forEachRef(item, visit);
}

} // namespace qs
