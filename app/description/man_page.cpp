// SPDX-License-Identifier: Apache-2.0
#include "app/description/command_tree.h"

namespace qs {

namespace {

/// Escapes text for roff: no escape sequences, no line that begins with a request.
std::string roff(const std::string& text)
{
    std::string out;
    for (const char letter : text) {
        if ((letter == '.' || letter == '\'') && (out.empty() || out.back() == '\n'))
            out += "\\&";
        if (letter == '\\')
            out += "\\e";
        else if (letter == '-')
            out += "\\-";
        else
            out += letter;
    }
    return out;
}

std::string bold(const std::string& text)
{
    return "\\fB" + roff(text) + "\\fR";
}

std::string valueText(const DescribedOption& option)
{
    if (option.choices.empty())
        return "\\fI" + roff(option.type) + "\\fR";
    std::string text;
    for (const std::string& choice : option.choices)
        text += (text.empty() ? "" : "|") + bold(choice);
    return text;
}

std::string entry(const std::string& title, const std::string& text)
{
    return ".TP\n" + title + "\n" + roff(text) + "\n";
}

std::string optionEntry(const DescribedOption& option)
{
    std::string title;
    for (const std::string& name : option.names)
        title += (title.empty() ? "" : ", ") + bold(name);
    if (!option.type.empty())
        title += " " + valueText(option);
    return entry(title, option.text + (option.required ? " (required)" : ""));
}

std::string synopsis(const DescribedCommand& command, const std::string& path)
{
    std::string text = bold(path);
    for (const DescribedOption& option : command.options)
        if (option.required)
            text += " " + bold(option.names.back()) + " " + valueText(option);
    text += " [\\fIOPTIONS\\fR]";
    for (const DescribedOption& word : command.positionals) {
        const std::string name = "\\fI" + roff(word.names.front()) + "\\fR";
        text += word.required ? " " + name : " [" + name + "]";
    }
    return text + (command.commands.empty() ? "" : " [\\fICOMMAND\\fR]");
}

/// Returns a section per verb, each followed by those of its subcommands.
std::string sections(const DescribedCommand& command, const std::string& path)
{
    std::string text = ".SS " + roff(path) + "\n" + roff(command.text) + "\n.PP\n"
        + synopsis(command, path) + "\n";
    for (const DescribedOption& word : command.positionals)
        text += entry("\\fI" + roff(word.names.front()) + "\\fR", word.text);
    for (const DescribedOption& option : command.options)
        text += optionEntry(option);
    for (const DescribedCommand& part : command.commands)
        text += sections(part, path + " " + part.name);
    return text;
}

} // namespace

std::string manPage(const DescribedCommand& program, const std::string& version)
{
    std::string text
        = ".\\\" Made from the command line's own description; do not edit.\n.TH QUANTSCOPE 1 \"\" "
          "\"Quantscope "
        + version + "\" \"User commands\"\n.SH NAME\n"
        + roff(program.name + " - quantize PyTorch models and see what every layer loses")
        + "\n.SH SYNOPSIS\n" + synopsis(program, program.name) + "\n.SH DESCRIPTION\n"
        + roff(program.text) + "\n.SH OPTIONS\n";
    for (const DescribedOption& option : program.options)
        text += optionEntry(option);
    text += ".SH COMMANDS\n";
    for (const DescribedCommand& verb : program.commands)
        text += sections(verb, program.name + " " + verb.name);
    text += ".SH EXIT STATUS\n" + entry("0", "done")
        + entry("1", "the input or the result is bad; one line on stderr says where and what to do")
        + entry("2", "wrong usage");
    return text;
}

} // namespace qs
