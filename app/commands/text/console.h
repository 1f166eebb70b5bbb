// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/text/model_words.h"
#include "engine/base/job_context.h"
#include "engine/base/log.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace qs {

/// A plain-text table; each column has the width of its widest cell.
class TextTable
{
public:
    /// A column whose title begins with '>' is aligned to the right.
    explicit TextTable(std::vector<std::string> titles);
    void add(std::vector<std::string> cells);
    bool empty() const { return m_rows.empty(); }
    std::string text() const;

private:
    std::vector<std::string> m_titles;
    std::vector<bool> m_right;
    std::vector<std::vector<std::string>> m_rows;
};

/// Writes the text to stdout, escaped by `printable`, and flushes. Fails (Io) if the output cannot
/// be written.
Result<void> printOut(const std::string& text);

/// Writes the text to stderr, escaped by `printable`, and replaces a progress line.
void printErr(const std::string& text);

/// Shows one line of progress with the time left, rewritten in place; only if stderr is a terminal.
void showProgress(const Progress& progress);
/// From now on each step of a job is printed on its own line if stderr is not a terminal.
void showStepsAsLines();
/// Removes the progress line.
void clearProgress();

/// Routes the engine's log to stderr: on a terminal at once, else held until `release`, so that a
/// failed run prints one line only. Names nodes by `words`, which it borrows.
class NoteHolder
{
public:
    explicit NoteHolder(const ModelWords& words);
    ~NoteHolder();
    NoteHolder(const NoteHolder&) = delete;
    NoteHolder& operator=(const NoteHolder&) = delete;
    void release();
    /// Takes what is held, to be logged again elsewhere.
    std::vector<std::pair<LogLevel, std::string>> take();
    /// Holds messages on a terminal, too.
    void holdAll();

private:
    struct State;
    std::shared_ptr<State> m_state;
};

/// Returns "a, b, c"; "none" if the list is empty.
std::string joined(const std::vector<std::string>& words);

} // namespace qs
