// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/number_checks.h"

#include "engine/base/text.h"

namespace qs {

namespace {

CLI::Validator numberFrom(double least, bool isIncluded, const std::string& wanted,
                          const std::string& name)
{
    return {[=](std::string& given) {
                double number = 0;
                const bool isNumber = CLI::detail::lexical_cast(given, number);
                if (isNumber && (number > least || (isIncluded && number == least)))
                    return std::string();
                return inQuotes(given) + " is not " + wanted;
            },
            name};
}

} // namespace

CLI::Validator positiveNumber()
{
    return numberFrom(0, false, "a number above 0", "POSITIVE");
}

CLI::Validator notNegativeNumber()
{
    return numberFrom(0, true, "a number of 0 or more", "NONNEGATIVE");
}

} // namespace qs
