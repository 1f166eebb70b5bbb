// SPDX-License-Identifier: Apache-2.0
#include "engine/base/plain_cause.h"

#include <array>
#include <cctype>
#include <string_view>
#include <utility>

namespace qs {

namespace {

constexpr const char* kBlank = " \t\r\n";

std::string withoutMarks(const std::string& text)
{
    constexpr const char* kEnds = " \t\r\n.:;,";
    const auto begin = text.find_first_not_of(" \t\r\n:;,");
    if (begin == std::string::npos)
        return {};
    return text.substr(begin, text.find_last_not_of(kEnds) - begin + 1);
}

/// Returns the first non-empty line: TorchScript's errors begin with an empty one.
std::string firstLine(const std::string& text)
{
    const auto begin = text.find_first_not_of(kBlank);
    return begin == std::string::npos ? text : text.substr(begin, text.find('\n', begin) - begin);
}

std::string lastLine(const std::string& text)
{
    const auto end = text.find_last_not_of(kBlank);
    if (end == std::string::npos)
        return text;
    const auto begin = text.rfind('\n', end);
    return begin == std::string::npos ? text.substr(0, end + 1)
                                      : text.substr(begin + 1, end - begin);
}

/// Replacements for the texts of a standard or JSON library's exceptions.
constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kStandard {{
    {"stoll", "it contains an invalid or too large number"},
    {"stoull", "it contains an invalid or too large number"},
    {"stoi", "it contains an invalid or too large number"},
    {"stol", "it contains an invalid or too large number"},
    {"stoul", "it contains an invalid or too large number"},
    {"stod", "it contains an invalid or too large number"},
    {"stof", "it contains an invalid or too large number"},
    {"map::at", "it refers to something that it does not hold"},
    {"_Map_base::at", "it refers to something that it does not hold"},
    {"unordered_map::at", "it refers to something that it does not hold"},
    {"vector::", "a list in it is shorter, or longer, than it should be"},
    {"basic_string", "a text in it is shorter than it should be"},
    {"bad optional access", "something that belongs into it is missing"},
    {"std::bad_alloc", "out of memory"},
    {"Can't hash IValue", "a dictionary in it has a key that is neither a text nor a number"},
    {"ZeroDivisionError", "an integer is divided by zero"},
    {"CUDA error: device-side assert triggered",
     "the GPU was given an index outside a tensor, or another value that its kernel cannot take, "
     "and is lost to this run of the program: start it again on the CPU (--device cpu), which "
     "names the node"},
}};

void removeAll(std::string& text, std::string_view part)
{
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at))
        text.erase(at, part.size());
}

/// Removes all spans from `begin` through `end`, or to the end of the text without `end`.
void removeSpan(std::string& text, std::string_view begin, std::string_view end)
{
    for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
        const auto stop = text.find(end, at + begin.size());
        text.erase(at, stop == std::string::npos ? stop : stop + end.size() - at);
    }
}

/// True for a location in a library's sources, not in the user's files: "inline_container.cc:229".
bool isPlaceInSource(std::string_view word)
{
    constexpr std::array<std::string_view, 7> kEndings {".cpp", ".cc",  ".h", ".cu",
                                                        ".hpp", ".cuh", ".py"};
    while (!word.empty() && std::string_view("\"'():,;[]").find(word.front()) != word.npos)
        word.remove_prefix(1);
    for (const std::string_view ending : kEndings)
        if (const auto at = word.find(ending); at != word.npos && ending != ".py"
            && at + ending.size() < word.size()
            && std::string_view("\":,()").find(word[at + ending.size()]) != word.npos)
            return true;
    return false;
}

void removePlaces(std::string& text)
{
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find(' ', at), text.size());
        const std::string_view word(text.data() + at, end - at);
        if (!isPlaceInSource(word))
            out.append(out.empty() ? "" : " ").append(word);
        else if (out.ends_with(" at") || out.ends_with(" from"))
            out.erase(out.rfind(' '));
        at = end + 1;
    }
    text = std::move(out);
}

void removeNamespaces(std::string& text)
{
    for (const std::string_view name :
         {"torch::jit::", "torch::", "c10::impl::", "c10::", "at::native::", "at::",
          "caffe2::serialize::", "caffe2::", "std::"}) {
        for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
            const bool begins = at == 0
                || !(std::isalnum(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '_'
                     || text[at - 1] == ':');
            if (begins)
                text.erase(at, name.size());
            else
                at += name.size();
        }
    }
}

/// Returns the text between the first occurrences of `begin` and `end`.
std::string between(const std::string& text, std::string_view begin, std::string_view end)
{
    const auto at = text.find(begin);
    if (at == std::string::npos)
        return {};
    const auto from = at + begin.size();
    const auto to = text.find(end, from);
    return to == std::string::npos ? std::string() : text.substr(from, to - from);
}

/// Replaces LibTorch's names of element types in a text about types.
void renameTypes(std::string& text)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kNames {{
        {"Half", "float16"},
        {"BFloat16", "bfloat16"},
        {"Float", "float32"},
        {"Double", "float64"},
        {"Byte", "uint8"},
        {"Char", "int8"},
        {"Short", "int16"},
        {"Int", "int32"},
        {"Long", "int64"},
        {"Bool", "bool"},
        {"long int", "int64"},
        {"ComplexFloat", "complex64"},
    }};
    if (text.find("type") == std::string::npos && text.find("floating point") == std::string::npos)
        return;
    const auto isLetter = [&](std::size_t at) {
        return at < text.size()
            && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
    };
    for (const auto& [name, plain] : kNames)
        for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
            if (!(at > 0 && isLetter(at - 1)) && !isLetter(at + name.size()))
                text.replace(at, name.size(), plain);
}

/// Replaces sentences that name LibTorch's machinery instead of the user's input.
void sayPlainly(std::string& text)
{
    if (const std::string op = between(text, "Could not run '", "' with arguments from the '");
        !op.empty()) {
        const std::string where = between(text, "arguments from the '", "' backend");
        text = "PyTorch has no kernel of " + op + " for "
            + (where == "CPU"                ? "values of this type"
                   : where == "QuantizedCPU" ? "quantized values"
                                             : "values on " + where + ": run it on the CPU");
    } else if (const std::string type = between(text, "not implemented for '", "'");
               !type.empty()) {
        text = "PyTorch has no kernel for the type " + type;
    } else if (const std::string held = between(text, "Expected ", " to be true, but got false");
               !held.empty() && text.starts_with("Expected ")) {
        text = "it needs " + held;
    } else if (const std::string bytes = between(text, "you tried to allocate ", " bytes");
               !bytes.empty()) {
        text = "out of memory: " + bytes + " bytes were asked for at once";
    } else if (const std::string wanted
               = between(text, "CUDA out of memory. Tried to allocate ", ". ");
               !wanted.empty()) {
        text = "the GPU's memory is full: " + wanted
            + " were asked for at once; give smaller batches, or run it on the CPU";
    } else if (text.starts_with("There were no tensor arguments to this function")) {
        text = "it got no tensor, where it needs one";
    } else if (text.starts_with("Didn't find engine for")) {
        const std::string op = between(text + " ", "for operation ", " ");
        text = "the int8 engine in use has no " + (op.empty() ? "such operator" : op);
    }
    removeSpan(text, " (of Python compilation unit at", ")");
    removeAll(text, "__torch__.torch.classes.");
    for (const std::string_view link : {"see https://", "https://"})
        if (const auto at = text.find(link); at != std::string::npos)
            text.erase(at);
    renameTypes(text);
}

/// Removes the assertion from texts such as "isTuple() INTERNAL ASSERT FAILED at "x.h":5, please
/// report a bug to PyTorch. Wanted a tuple".
std::string withoutAssertion(const std::string& text)
{
    const auto found = text.find("INTERNAL ASSERT FAILED");
    if (found == std::string::npos)
        return text;
    std::string rest = text.substr(found + std::string_view("INTERNAL ASSERT FAILED").size());
    if (const auto asks = rest.find("please report a bug to PyTorch"); asks != std::string::npos)
        rest.erase(0, asks + std::string_view("please report a bug to PyTorch").size());
    rest.erase(0, rest.find_first_not_of(". "));
    rest = withoutMarks(rest);
    return rest.empty() ? "PyTorch rejects it: inconsistent data" : rest;
}

} // namespace

std::string plainCause(const std::string& what)
{
    constexpr std::string_view kInterpreter = "The following operation failed in the TorchScript";
    std::string text
        = what.find(kInterpreter) != std::string::npos ? lastLine(what) : firstLine(what);
    for (const auto& [begin, meaning] : kStandard)
        if (text.starts_with(begin))
            return std::string(meaning);
    if (text.starts_with("[json.exception"))
        text.erase(0, text.find(']') == std::string::npos ? 0 : text.find(']') + 1);
    text = withoutAssertion(text);
    removeSpan(text, "(Could this error message be improved?", ")");
    removeSpan(text, "[enforce fail at ", "]");
    removeSpan(text, "Exception raised from ", "\n");
    for (const std::string_view asks :
         {"This is an internal miniz error", "Please report this issue",
          "please report a bug to PyTorch", "Please report a bug", "please report this error",
          "Please file"})
        if (const auto at = text.find(asks); at != std::string::npos)
            text.erase(at);
    constexpr std::string_view kReader = "PytorchStreamReader failed";
    if (const auto at = text.find(kReader); at != std::string::npos)
        text.replace(at, kReader.size(), "its archive is not sound:");
    removeAll(text, "RuntimeError: ");
    sayPlainly(text);
    removePlaces(text);
    removeNamespaces(text);
    text = withoutMarks(text);
    return text.empty() ? "PyTorch rejects it" : text;
}

} // namespace qs
