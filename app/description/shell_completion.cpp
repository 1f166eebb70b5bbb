// SPDX-License-Identifier: Apache-2.0
#include "app/description/command_tree.h"

#include <functional>

namespace qs {

namespace {

using Visit = std::function<void(const DescribedCommand&, const std::string& path)>;

/// Calls `visit` for all commands with their paths: "" for the program, "runs keep" for a
/// subcommand of a verb.
void visitCommands(const DescribedCommand& command, const std::string& path, const Visit& visit)
{
    visit(command, path);
    for (const DescribedCommand& part : command.commands)
        visitCommands(part, path.empty() ? part.name : path + " " + part.name, visit);
}

std::string joinedNames(const std::vector<DescribedCommand>& commands)
{
    std::string text;
    for (const DescribedCommand& command : commands)
        text += (text.empty() ? "" : " ") + command.name;
    return text;
}

std::string joinedNames(const std::vector<DescribedOption>& options)
{
    std::string text;
    for (const DescribedOption& option : options)
        for (const std::string& name : option.names)
            text += (text.empty() ? "" : " ") + name;
    return text;
}

std::string joinedWords(const std::vector<std::string>& words)
{
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : " ") + word;
    return text;
}

/// Puts text between single quotes, as all three shells read them.
std::string quoted(const std::string& text, const std::string& quote)
{
    std::string out = "'";
    for (const char letter : text)
        out += letter == '\'' ? quote : std::string(1, letter);
    return out + "'";
}

const std::string kPosixQuote = "'\\''"; // ends the string, a quote, begins the next
const std::string kFishQuote = "\\'";

std::string bashCompletion(const DescribedCommand& program)
{
    std::string commands, options, choices;
    visitCommands(program, "", [&](const DescribedCommand& command, const std::string& path) {
        if (!command.commands.empty())
            commands += "        " + quoted(path, kPosixQuote)
                + ") words=" + quoted(joinedNames(command.commands), kPosixQuote) + " ;;\n";
        options += "        " + quoted(path, kPosixQuote)
            + ") words=" + quoted(joinedNames(command.options), kPosixQuote) + " ;;\n";
        for (const DescribedOption& option : command.options) {
            if (option.type.empty())
                continue;
            // A value without choices is a file or free text: bash completes files.
            for (const std::string& name : option.names)
                choices += "        " + quoted(path + " " + name, kPosixQuote) + ") words="
                    + quoted(joinedWords(option.choices), kPosixQuote) + "; valued=yes ;;\n";
        }
    });
    return "# bash completion for quantscope, made from its own description\n"
           "_quantscope() {\n"
           "    local now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    local path='' commands='' words='' valued=no i word\n"
           "    commandsOf() {\n        local words=''\n        case \"$1\" in\n"
        + commands
        + "        esac\n        commands=$words\n    }\n"
          "    commandsOf ''\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        word=${COMP_WORDS[i]}\n"
          "        case \" $commands \" in *\" $word \"*)\n"
          "            path=\"${path:+$path }$word\"; commandsOf \"$path\" ;;\n        esac\n"
          "    done\n"
          "    unset -f commandsOf\n"
          "    COMPREPLY=()\n"
          "    case \"$path $before\" in\n"
        + choices
        + "    esac\n"
          "    if [ $valued = no ]; then\n"
          "        case \"$now\" in\n"
          "        -*) case \"$path\" in\n"
        + options
        + "        esac ;;\n"
          "        *) words=$commands ;;\n"
          "        esac\n"
          "    fi\n"
          "    [ -z \"$words\" ] || COMPREPLY=($(compgen -W \"$words\" -- \"$now\"))\n"
          "}\n"
          "complete -o bashdefault -o default -F _quantscope quantscope\n";
}

std::string fishCompletion(const DescribedCommand& program)
{
    std::string text = "# fish completion for quantscope, made from its own description\n";
    visitCommands(program, "", [&](const DescribedCommand& command, const std::string& path) {
        // The condition for fish: all commands of the path are on the line, and none of the next.
        std::string condition = "true";
        for (std::size_t from = 0; from < path.size();) {
            const std::size_t to = std::min(path.find(' ', from), path.size());
            condition += "; and __fish_seen_subcommand_from " + path.substr(from, to - from);
            from = to + 1;
        }
        const std::string next = joinedNames(command.commands);
        if (!next.empty())
            condition += "; and not __fish_seen_subcommand_from " + next;
        const std::string start
            = "complete -c " + program.name + " -n " + quoted(condition, kFishQuote);
        for (const DescribedCommand& part : command.commands)
            text += start + " -f -a " + part.name + " -d " + quoted(part.text, kFishQuote) + "\n";
        for (const DescribedOption& option : command.options) {
            text += start;
            for (const std::string& name : option.names)
                text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
            if (!option.type.empty())
                text += " -r";
            if (!option.choices.empty())
                text += " -f -a " + quoted(joinedWords(option.choices), kFishQuote);
            text += " -d " + quoted(option.text, kFishQuote) + "\n";
        }
    });
    return text;
}

/// zsh runs bash's completions, so that they need no second table.
std::string zshCompletion(const DescribedCommand& program)
{
    return "#compdef " + program.name + "\nautoload -U +X bashcompinit && bashcompinit\n"
        + bashCompletion(program);
}

} // namespace

std::vector<std::string> completedShells()
{
    return {"bash", "zsh", "fish"};
}

std::string shellCompletion(const DescribedCommand& program, const std::string& shell)
{
    if (shell == "fish")
        return fishCompletion(program);
    return shell == "zsh" ? zshCompletion(program) : bashCompletion(program);
}

} // namespace qs
