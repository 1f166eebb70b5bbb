// SPDX-License-Identifier: Apache-2.0
#include "engine/import/operator_words.h"

#include <iterator>
#include <sstream>

namespace qs {

Words words(const std::string& text)
{
    std::istringstream in(text);
    return Words(std::istream_iterator<std::string>(in), {});
}

std::string operatorWord(const std::string& target)
{
    const auto first = target.find('.');
    const auto last = target.rfind('.');
    if (first == std::string::npos || first == last)
        return {};
    std::string name = target.substr(first + 1, last - first - 1);
    if (name.size() > 1 && name.ends_with('_') && !name.ends_with("__"))
        name.pop_back();
    return name;
}

const Argument* given(const Node& node, std::string_view name)
{
    const Argument* arg = node.tryArg(name);
    return arg && !arg->isNone() ? arg : nullptr;
}

bool isTrue(const Argument* flag)
{
    return flag && flag->asBool() && *flag->asBool();
}

const Words& floatMaking()
{
    static const Words names = words("reciprocal sqrt rsqrt exp log div true_divide sin cos erf "
                                     "atan2 tan asin acos atan sinh cosh asinh acosh atanh expm1 "
                                     "log1p log2 log10 angle sigmoid tanh");
    return names;
}

} // namespace qs
