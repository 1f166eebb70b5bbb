// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/against_option.h"

#include <CLI/CLI.hpp>

namespace qs {

void addAgainstOption(CLI::App& verb, std::string& against)
{
    verb.add_option("--against", against,
                    "float side of a model with edits: 'edited' (the edited model, the "
                    "default) or 'original' (the file's model; only cumulative errors)")
        ->check(CLI::IsMember({kAgainstOriginal, "edited"}));
}

} // namespace qs
