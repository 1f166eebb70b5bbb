// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/compared_options.h"

#include "engine/compare/comparison.h"

#include <CLI/CLI.hpp>

namespace qs {

void addAgainstOption(CLI::App& verb, std::string& against)
{
    verb.add_option("--against", against,
                    "float side of a model with edits: 'edited' (the edited model, the "
                    "default) or 'original' (the file's model; only cumulative errors)")
        ->check(CLI::IsMember({kAgainstOriginal, "edited"}));
}

void addLocalTermsOption(CLI::App& verb, std::string& terms)
{
    verb.add_option("--local-terms", terms,
                    "errors isolated, inherited and born here: 'sampled' (on as many batches as "
                    "a standard error of 0.1 dB asks for, the default) or 'all' data")
        ->check(CLI::IsMember({kSampledLocalTerms, kAllLocalTerms}));
}

} // namespace qs
