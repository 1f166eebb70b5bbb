// SPDX-License-Identifier: Apache-2.0
#include "app/commands/model/input_files.h"

#include <filesystem>

namespace qs {

Result<void> checkSpared(const std::string& option, const std::vector<std::string>& written,
                         const std::vector<std::string>& read)
{
    for (const std::string& output : written)
        for (const std::string& input : read) {
            std::error_code code;
            if (std::filesystem::equivalent(output, input, code) && !code)
                return fail(makeError(ErrorCode::Usage, option + " would overwrite an input file")
                                .inFile(input)
                                .withHint("name another place"));
        }
    return {};
}

} // namespace qs
