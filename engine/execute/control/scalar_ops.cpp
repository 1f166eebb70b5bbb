// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/control/scalar_ops.h"

#include "engine/graph/operators/number_operators.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

namespace qs {

namespace {

using Values = std::vector<at::IValue>;

double asDouble(const at::IValue& v)
{
    return v.isDouble() ? v.toDouble() : v.isBool() ? double(v.toBool()) : double(v.toInt());
}

std::int64_t asInt(const at::IValue& v)
{
    return v.isBool()  ? std::int64_t(v.toBool())
        : v.isDouble() ? std::int64_t(v.toDouble())
                       : v.toInt();
}

bool anyDouble(const Values& args)
{
    return std::any_of(args.begin(), args.end(), [](const auto& v) { return v.isDouble(); });
}

std::int64_t floorDivide(std::int64_t a, std::int64_t b)
{
    const std::int64_t q = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

using Checked = std::optional<std::int64_t>;

Checked checkedAdd(std::int64_t a, std::int64_t b)
{
    std::int64_t out = 0;
    return __builtin_add_overflow(a, b, &out) ? Checked() : out;
}
Checked checkedSub(std::int64_t a, std::int64_t b)
{
    std::int64_t out = 0;
    return __builtin_sub_overflow(a, b, &out) ? Checked() : out;
}
Checked checkedMul(std::int64_t a, std::int64_t b)
{
    std::int64_t out = 0;
    return __builtin_mul_overflow(a, b, &out) ? Checked() : out;
}
Checked checkedFloorDivide(std::int64_t a, std::int64_t b)
{
    if (b == 0 || (a == INT64_MIN && b == -1))
        return {};
    return floorDivide(a, b);
}
Checked checkedModulo(std::int64_t a, std::int64_t b)
{
    if (b == 0)
        return {};
    return b == -1 ? 0 : a - floorDivide(a, b) * b;
}
Checked checkedPower(std::int64_t a, std::int64_t b)
{
    if (a >= -1 && a <= 1) // never overflows: avoids a loop over a large exponent
        return b == 0 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : a;
    std::int64_t out = 1;
    for (; b > 0; --b)
        if (__builtin_mul_overflow(out, a, &out))
            return {};
    return out;
}

struct Arithmetic
{
    std::string_view name;
    Checked (*ints)(std::int64_t, std::int64_t);
    double (*doubles)(double, double);
};

constexpr std::array<Arithmetic, 7> kArithmetic {{
    {"add", checkedAdd, [](double a, double b) { return a + b; }},
    {"sub", checkedSub, [](double a, double b) { return a - b; }},
    {"mul", checkedMul, [](double a, double b) { return a * b; }},
    {"floordiv", checkedFloorDivide, [](double a, double b) { return std::floor(a / b); }},
    {"mod", checkedModulo, [](double a, double b) { return a - std::floor(a / b) * b; }},
    {"pow", checkedPower, [](double a, double b) { return std::pow(a, b); }},
    {"pow_by_natural", checkedPower, [](double a, double b) { return std::pow(a, b); }},
}};

struct Compare
{
    std::string_view name;
    bool (*ints)(std::int64_t, std::int64_t);
    bool (*doubles)(double, double);
};

template<class Predicate>
constexpr Compare comparison(std::string_view name, Predicate)
{
    return {name, [](std::int64_t a, std::int64_t b) { return Predicate()(a, b); },
            [](double a, double b) { return Predicate()(a, b); }};
}

constexpr std::array<Compare, 6> kComparisons {
    comparison("eq", std::equal_to<> {}), comparison("ne", std::not_equal_to<> {}),
    comparison("lt", std::less<> {}),     comparison("le", std::less_equal<> {}),
    comparison("gt", std::greater<> {}),  comparison("ge", std::greater_equal<> {})};

struct Unary
{
    std::string_view name;
    at::IValue (*run)(const at::IValue&);
};

at::IValue keepInt(const at::IValue& v, double (*f)(double))
{
    return v.isDouble() ? at::IValue(std::int64_t(f(v.toDouble()))) : at::IValue(asInt(v));
}

const std::array<Unary, 18> kUnary {{
    {"neg",
     [](const at::IValue& v) {
         return v.isDouble() ? at::IValue(-v.toDouble()) : at::IValue(-asInt(v));
     }},
    {"abs",
     [](const at::IValue& v) {
         return v.isDouble() ? at::IValue(std::abs(v.toDouble())) : at::IValue(std::abs(asInt(v)));
     }},
    {"not_", [](const at::IValue& v) { return at::IValue(asDouble(v) == 0); }},
    {"sym_not", [](const at::IValue& v) { return at::IValue(asDouble(v) == 0); }},
    {"pos", [](const at::IValue& v) { return v; }},
    {"truth", [](const at::IValue& v) { return at::IValue(asDouble(v) != 0); }},
    {"sym_float", [](const at::IValue& v) { return at::IValue(asDouble(v)); }},
    {"float", [](const at::IValue& v) { return at::IValue(asDouble(v)); }},
    {"sym_int", [](const at::IValue& v) { return at::IValue(asInt(v)); }},
    {"int", [](const at::IValue& v) { return at::IValue(asInt(v)); }},
    {"trunc", [](const at::IValue& v) { return at::IValue(asInt(v)); }},
    {"ceil", [](const at::IValue& v) { return keepInt(v, std::ceil); }},
    {"floor", [](const at::IValue& v) { return keepInt(v, std::floor); }},
    // Python rounds halves to even, as the default floating-point mode does.
    {"round", [](const at::IValue& v) { return keepInt(v, std::nearbyint); }},
    {"sqrt", [](const at::IValue& v) { return at::IValue(std::sqrt(asDouble(v))); }},
    {"_sym_sqrt", [](const at::IValue& v) { return at::IValue(std::sqrt(asDouble(v))); }},
    {"log2", [](const at::IValue& v) { return at::IValue(std::log2(asDouble(v))); }},
    {"bool", [](const at::IValue& v) { return at::IValue(asDouble(v) != 0); }},
}};

constexpr std::array<std::string_view, 12> kOthers {
    "truediv", "sym_max", "sym_min", "max", "min",         "sym_sum",
    "sym_ite", "and_",    "or_",     "xor", "int_truediv", "IntTrueDiv"};

template<class Rows>
const auto* findRow(const Rows& rows, std::string_view name)
{
    const auto it
        = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.name == name; });
    return it == rows.end() ? nullptr : &*it;
}

/// The arguments of sym_sum come as one list; max and min may too.
Values spread(const Values& args)
{
    if (args.size() == 1 && args[0].isIntList())
        return [&] {
            Values out;
            for (const std::int64_t v : args[0].toIntVector())
                out.emplace_back(v);
            return out;
        }();
    if (args.size() == 1 && args[0].isList()) {
        const auto list = args[0].toListRef();
        return Values(list.begin(), list.end());
    }
    return args;
}

at::IValue extreme(const Values& values, bool wantMax)
{
    at::IValue best = values.front();
    for (const auto& v : values)
        if (wantMax ? asDouble(v) > asDouble(best) : asDouble(v) < asDouble(best))
            best = v;
    return anyDouble(values) ? at::IValue(asDouble(best)) : best;
}

Result<at::IValue> runOther(std::string_view name, const Values& given)
{
    const Values args = spread(given);
    if (args.empty())
        return fail(ErrorCode::BadInput, std::string(name) + " of nothing");
    if (name == "sym_max" || name == "max")
        return extreme(args, true);
    if (name == "sym_min" || name == "min")
        return extreme(args, false);
    if (name == "sym_sum") {
        std::int64_t sum = 0;
        for (const auto& v : args)
            if (__builtin_add_overflow(sum, asInt(v), &sum))
                return fail(ErrorCode::BadInput, "the sum of sizes overflows");
        return at::IValue(sum);
    }
    if (name == "sym_ite" && args.size() == 3)
        return asDouble(args[0]) != 0 ? args[1] : args[2];
    if (args.size() != 2)
        return fail(ErrorCode::BadInput,
                    "wrong number of arguments (" + std::to_string(args.size()) + ")");
    if (name == "truediv" || name == "int_truediv" || name == "IntTrueDiv") {
        if (asDouble(args[1]) == 0)
            return fail(ErrorCode::BadInput, "division by zero");
        return at::IValue(asDouble(args[0]) / asDouble(args[1]));
    }
    if (args[0].isBool() && args[1].isBool()) {
        const bool a = args[0].toBool(), b = args[1].toBool();
        return at::IValue(name == "and_" ? a && b : name == "or_" ? a || b : a != b);
    }
    const std::int64_t a = asInt(args[0]), b = asInt(args[1]);
    return at::IValue(name == "and_" ? a & b : name == "or_" ? a | b : a ^ b);
}

} // namespace

bool isScalarOp(std::string_view target)
{
    const std::string_view name = numberWord(target);
    return !name.empty()
        && (findRow(kArithmetic, name) || findRow(kComparisons, name) || findRow(kUnary, name)
            || std::find(kOthers.begin(), kOthers.end(), name) != kOthers.end());
}

Result<at::IValue> runScalarOp(std::string_view target, const std::vector<at::IValue>& args)
{
    const std::string_view name = numberWord(target);
    const auto* unary = findRow(kUnary, name);
    if (unary && args.size() == 1)
        return unary->run(args[0]);
    const auto* arithmetic = findRow(kArithmetic, name);
    if (arithmetic && args.size() == 2) {
        const bool negativePower = arithmetic->ints == checkedPower && asDouble(args[1]) < 0;
        if (anyDouble(args) || negativePower) {
            const bool divides = name == "floordiv" || name == "mod";
            if (divides && asDouble(args[1]) == 0)
                return fail(ErrorCode::BadInput, "division by zero");
            return at::IValue(arithmetic->doubles(asDouble(args[0]), asDouble(args[1])));
        }
        const Checked out = arithmetic->ints(asInt(args[0]), asInt(args[1]));
        if (!out)
            return fail(ErrorCode::BadInput,
                        std::string(name) + " of " + std::to_string(asInt(args[0])) + " and "
                            + std::to_string(asInt(args[1])) + " is not a number");
        return at::IValue(*out);
    }
    const auto* compare = findRow(kComparisons, name);
    if (compare && args.size() == 2)
        return at::IValue(anyDouble(args) ? compare->doubles(asDouble(args[0]), asDouble(args[1]))
                                          : compare->ints(asInt(args[0]), asInt(args[1])));
    return runOther(name, args);
}

} // namespace qs
