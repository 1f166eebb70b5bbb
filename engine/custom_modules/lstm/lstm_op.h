// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace qs {

/// The parts of an `aten.lstm.input` node.
struct LstmOp
{
    ValueRef input, hidden, cell; ///< sequence and the two initial states
    std::size_t layers = 1;
    std::size_t directions = 1;
    bool hasBiases = true;
    bool batchFirst = false;
    std::size_t cells() const { return layers * directions; }
    /// Parameters of one layer and direction: weight_ih, weight_hh and, with biases, two of them.
    std::size_t parametersPerCell() const { return hasBiases ? 4 : 2; }
};

/// The values inside a cell that carry an observer, in the order in which they are computed (the
/// submodules of torch.ao.nn.quantizable.LSTMCell).
inline constexpr std::array<std::string_view, 7> kLstmCellValues {
    "igates", "hgates", "gates", "fgate_cx", "igate_cgate", "fgate_cx_igate_cgate", "ogate_cy"};

/// "layers.0.layer_fw.cell": a cell's place within the LSTM, as torch.ao's module names it. Cells
/// count as their parameters do: forward, then backward, layer by layer.
std::string lstmCellPath(const LstmOp& op, std::size_t cell);
/// "layers.0.layer_fw.cell.gates".
std::string lstmInterior(const LstmOp& op, std::size_t cell, std::string_view value);

/// The parts of an LSTM node; nothing for other nodes and for LSTMs of another form.
std::optional<LstmOp> readLstm(const Node& node);

/// Why an LSTM node cannot be quantized statically, or empty: projections, packed sequences,
/// training mode, states that are not two tensors. One clause without a subject.
std::string whyNoStaticLstm(const Node& node);

/// True where the initial states are zeros that the LSTM's module makes itself: its caller gave
/// none.
bool startsFromZeros(const Graph& graph, const Node& node);

} // namespace qs
