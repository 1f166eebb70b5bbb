// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/against_option.h"

#include <CLI/CLI.hpp>

namespace qs {

void addAgainstOption(CLI::App& verb, std::string& against)
{
    verb.add_option("--against", against,
                    "what a model with edits is measured against: 'edited' (itself in float, the "
                    "default) or 'original' (the file's model; cumulative errors alone)")
        ->check(CLI::IsMember({kAgainstOriginal, "edited"}));
}

} // namespace qs
