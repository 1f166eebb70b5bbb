// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/device_option.h"

#include <CLI/CLI.hpp>
#include <regex>

namespace qs {

void addDeviceOption(CLI::App& verb, std::string& device)
{
    verb.add_option("--device", device, "auto (default), cpu, cuda or cuda:N")
        ->check([](const std::string& word) {
            static const std::regex kDevice("auto|cpu|cuda(:[0-9]{1,3})?");
            return std::regex_match(word, kDevice)
                ? std::string()
                : "'" + word + "' is not a device: give auto, cpu, cuda or cuda:N";
        });
}

} // namespace qs
