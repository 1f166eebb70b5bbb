// SPDX-License-Identifier: Apache-2.0
#include "app/description/command_tree.h"

#include <CLI/CLI.hpp>

namespace qs {

namespace {

/// Returns the choices in a type such as "TEXT:{a,b}"; "INT:NONNEGATIVE" and "TEXT" have none.
std::vector<std::string> choicesIn(const std::string& type)
{
    const std::size_t from = type.find('{'), to = type.find('}');
    std::vector<std::string> choices;
    if (from == std::string::npos || to == std::string::npos)
        return choices;
    std::string word;
    for (const char letter : type.substr(from + 1, to - from - 1) + ",") {
        if (letter != ',') {
            word += letter;
            continue;
        }
        choices.push_back(word);
        word.clear();
    }
    return choices;
}

DescribedOption describedOption(const CLI::Option& option)
{
    DescribedOption found;
    if (option.get_positional()) {
        found.names.push_back(option.get_name(true));
    } else {
        for (const std::string& name : option.get_snames())
            found.names.push_back("-" + name);
        for (const std::string& name : option.get_lnames())
            found.names.push_back("--" + name);
    }
    found.text = option.get_description();
    if (option.get_items_expected_max() > 0) {
        const std::string type = option.get_type_name();
        found.choices = choicesIn(type);
        found.type = type.substr(0, type.find(':'));
    }
    found.required = option.get_required();
    return found;
}

} // namespace

DescribedCommand describedCommand(const CLI::App& app)
{
    DescribedCommand command {app.get_name(), app.get_description(), {}, {}, {}};
    for (const CLI::Option* option : app.get_options())
        if (!option->get_group().empty())
            (option->get_positional() ? command.positionals : command.options)
                .push_back(describedOption(*option));
    for (const CLI::App* part : app.get_subcommands(std::function<bool(const CLI::App*)> {}))
        if (!part->get_group().empty())
            command.commands.push_back(describedCommand(*part));
    return command;
}

} // namespace qs
