// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace qs {

/// Every command of the window, menu by menu. The table in action_table.h has their names.
// clang-format off
enum class ActionId
{
    // File
    Open, Reload, OpenRecipe, SaveProject, SaveProjectAs, SaveRecipe, SaveReport, SaveNodeData,
    ImportNodeData, SaveGraph, SaveEdited, SavePicture, Quit,
    // Edit
    Undo, Redo, Find, FindNext, FindPrevious, SelectFound, StyleFound, Bookmark, NextBookmark,
    SelectAll, SelectNone, CopyName,
    // View
    ZoomIn, ZoomOut, ZoomReset, Fit, Reveal, Worst, Better, BoxRepeats, Sideways,
    // Graph
    Expand, Collapse, ExpandAll, FoldAll, ExpandRepeats, ExpandOne, TraceBefore, TraceAfter,
    FormFloat, FormPrepared, FormReference, FormLowered, SplitForms, LookInside, LookOutside,
    NextNode, PreviousNode, NextEdge, PreviousEdge,
    // Recipe
    Assign, Cycle, KeepFloat, ClearRule, NewQConfig, LeafModule, OnlyModule, WrapModule,
    ApplyRemedy, Backend, EditBackend, Replacements, Lowering, Packs,
    // Change
    InsertAfter, InsertOnInput, RemoveNode, ReplaceNode, ReplaceEvery, SetArguments, RewireInput,
    DuplicateNode, RenameNode, MakeOutput, DropOutput, LoadConstant, FoldConstants,
    ExtractSelection, SavePartData,
    // Run
    Plan, Train, Calibrate, Convert, Compare, FindCauses, AgainstOriginal, AllLocalTerms, Metric, Export, Verify, RunAll, CompareAfterEach,
    KeepRun, SwitchRun, LeaveRun, Cancel,
    // Window
    ShowModules, ShowProperties, ShowBottom, ShowRecipe, ShowCode, ShowFindings, ShowEdits,
    ShowForms, ShowCure, ShowSensitivity, ShowSamples, ShowRuns, ShowStyles, NextPanel, PreviousPanel, FullScreen,
    // Help
    Palette, Help, Guide, Keys, About
};
// clang-format on
inline constexpr auto kActionCount = std::size_t(ActionId::About) + 1;

/// Each shows or hides a panel.
inline constexpr ActionId kPanelActions[]
    = {ActionId::ShowModules, ActionId::ShowProperties, ActionId::ShowBottom};

} // namespace qs
