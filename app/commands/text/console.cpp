// SPDX-License-Identifier: Apache-2.0
#include "app/commands/text/console.h"

#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/base/time_left.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <set>
#include <unistd.h>

namespace qs {

namespace {

/// Returns the width on a terminal: UTF-8 continuation bytes count 0.
std::size_t displayWidth(const std::string& text)
{
    return std::size_t(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width, bool right)
{
    const std::size_t own = displayWidth(text);
    const std::string space(width > own ? width - own : 0, ' ');
    return right ? space + text : text + space;
}

bool stderrIsTerminal()
{
    static const bool terminal = isatty(STDERR_FILENO) == 1;
    return terminal;
}

bool stepsAreLines = false; ///< `showStepsAsLines`

/// Prints a step as a line, once for all its reports.
void showStep(const Progress& progress)
{
    static std::string last; // a process has one job
    const bool isPart = progress.fraction <= 0; // for example batches of a step
    if (!stepsAreLines || isPart || progress.what == last)
        return;
    last = progress.what;
    std::fprintf(stderr, "%3.0f %%  %s: %s\n", 100 * progress.fraction, progress.stage.c_str(),
                 asOneLine(progress.what).c_str());
}

void writeNote(LogLevel level, const std::string& text)
{
    clearProgress();
    std::fprintf(stderr, "%s: %s\n", level == LogLevel::Warning ? "warning" : "note", text.c_str());
}

} // namespace

TextTable::TextTable(std::vector<std::string> titles)
    : m_titles(std::move(titles))
{
    for (auto& title : m_titles) {
        const bool right = title.starts_with('>');
        m_right.push_back(right);
        if (right)
            title.erase(0, 1);
    }
}

void TextTable::add(std::vector<std::string> cells)
{
    cells.resize(m_titles.size());
    m_rows.push_back(std::move(cells));
}

std::string TextTable::text() const
{
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < m_titles.size(); ++c) {
        std::size_t width = displayWidth(m_titles[c]);
        for (const auto& row : m_rows)
            width = std::max(width, displayWidth(row[c]));
        widths.push_back(width);
    }
    std::string out;
    const auto addLine = [&](const std::vector<std::string>& cells) {
        std::string line;
        for (std::size_t c = 0; c < cells.size(); ++c)
            line += (c ? "  " : "") + padded(cells[c], widths[c], m_right[c]);
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    };
    addLine(m_titles);
    std::vector<std::string> rule;
    for (const std::size_t width : widths)
        rule.emplace_back(width, '-');
    addLine(rule);
    for (const auto& row : m_rows)
        addLine(row);
    return out;
}

Result<void> printOut(const std::string& raw)
{
    const std::string text = printable(raw);
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (!written || std::fflush(stdout) != 0)
        return fail(ErrorCode::Io, "cannot write to the standard output");
    return {};
}

void printErr(const std::string& text)
{
    clearProgress();
    std::fputs(printable(text).c_str(), stderr);
}

void showProgress(const Progress& progress)
{
    if (!stderrIsTerminal()) {
        showStep(progress);
        return;
    }
    static TimeLeft timeLeft; // a process has one job
    const std::string left = timeLeft.text(progress);
    const std::string what = shortened(asOneLine(progress.what), 100);
    std::fprintf(stderr, "\r\033[K%3.0f %%  %s: %s%s%s", 100 * progress.fraction,
                 progress.stage.c_str(), what.c_str(), left.empty() ? "" : ", ", left.c_str());
    std::fflush(stderr);
}

void showStepsAsLines()
{
    stepsAreLines = true;
}

void clearProgress()
{
    if (stderrIsTerminal())
        std::fputs("\r\033[K", stderr);
}

struct NoteHolder::State
{
    explicit State(const ModelWords& given)
        : words(given)
    {
    }
    void write(LogLevel level, const std::string& text) const
    {
        writeNote(level, words.named(text));
    }

    const ModelWords& words;
    std::mutex mutex;
    bool holding = !stderrIsTerminal();
    std::set<std::string> said; ///< a file that is read twice is reported once
    std::vector<std::pair<LogLevel, std::string>> held;
};

NoteHolder::NoteHolder(const ModelWords& words)
    : m_state(std::make_shared<State>(words))
{
    setLogSink([state = m_state](LogLevel level, const std::string& text) {
        if (level == LogLevel::Debug)
            return;
        const std::lock_guard lock(state->mutex);
        if (!state->said.insert(text).second)
            return;
        if (state->holding)
            state->held.emplace_back(level, text);
        else
            state->write(level, text);
    });
}

NoteHolder::~NoteHolder()
{
    setLogSink({});
}

void NoteHolder::release()
{
    const std::lock_guard lock(m_state->mutex);
    for (const auto& [level, text] : m_state->held)
        m_state->write(level, text);
    m_state->held.clear();
    m_state->holding = false;
}

std::vector<std::pair<LogLevel, std::string>> NoteHolder::take()
{
    const std::lock_guard lock(m_state->mutex);
    return std::exchange(m_state->held, {});
}

void NoteHolder::holdAll()
{
    const std::lock_guard lock(m_state->mutex);
    m_state->holding = true;
}

std::string joined(const std::vector<std::string>& words)
{
    std::string text;
    for (const auto& word : words)
        text += (text.empty() ? "" : ", ") + word;
    return text.empty() ? "none" : text;
}

} // namespace qs
