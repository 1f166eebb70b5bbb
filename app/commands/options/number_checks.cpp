// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/number_checks.h"

#include "engine/base/text.h"

namespace qs {

namespace {

CLI::Validator numberCheck(bool takesZero, const std::string& wanted, const std::string& name)
{
    return {[=](const std::string& given) {
                double number = 0;
                const bool isNumber = CLI::detail::lexical_cast(given, number);
                if (isNumber && (number > 0 || (takesZero && number == 0)))
                    return std::string();
                return inQuotes(given) + " is not " + wanted;
            },
            name};
}

} // namespace

CLI::Validator positiveNumber()
{
    return numberCheck(false, "a number above 0", "POSITIVE");
}

CLI::Validator notNegativeNumber()
{
    return numberCheck(true, "a number of 0 or more", "NONNEGATIVE");
}

} // namespace qs
