// SPDX-License-Identifier: Apache-2.0
#include "engine/import/functionalize/functionalize.h"
#include "engine/import/functionalize/mutated_state.h"
#include "engine/import/functionalize/view_updates.h"
#include "engine/import/fused_layers.h"
#include "engine/import/recurrent_shapes.h"
#include "engine/import/trained/fake_quantizers.h"
#include "tests/support/graph_text_case.h"

using namespace qs;
using namespace qs::test;

namespace {

const Pass kFunctionalize("functionalize",
                          [](const Graph& g) { return functionalize(withMutatedState(g)); });
const Pass kIdle("drop-idle-updates", withoutIdleUpdates);
const Pass kFakeQuantizers("remove-fake-quantizers", withoutFakeQuantizers,
                           PassTraits {.isVerified = false});
const Pass kFused("part-fused-activations", withFusedActivations, PassTraits {.isVerified = false});
const Pass kRecurrent("correct-recurrent-shapes", withRecurrentShapes);
const Pass kReadBacks("drop-read-backs", withoutReadBacks);

const std::vector<PassCase> kCases {
    {kFunctionalize, "an operator in place becomes its twin", R"(
        x: float32[2] = input
        a: float32[2] = aten.neg.default(self=%x)
        y: float32[2] = aten.dropout_.default(self=%a, p=0.5, train=False) scope="drop" line=7
        return %y, %a
    )",
     R"(
        x: float32[2] = input
        a: float32[2] = aten.neg.default(self=%x)
        y: float32[2] = aten.dropout.default(input=%a, p=0.5, train=False) scope="drop" line=7 original="aten.dropout_.default"
        return %y, %y
    )"},
    {kFunctionalize, "the element type stays that of what is written", R"(
        x: float32[2] = input
        n: int64[2] = aten.ones_like.default(self=%x)
        y: int64[2] = aten.mul_.Tensor(self=%n, other=%x)
        return %y
    )",
     R"(
        x: float32[2] = input
        n: int64[2] = aten.ones_like.default(self=%x)
        y: int64[2] = aten.mul.Tensor(self=%n, other=%x) original="aten.mul_.Tensor"
        y_as: int64[2] = aten.to.dtype(self=%y, dtype=dtype(int64))
        return %y_as
    )"},
    {kFunctionalize, "a buffer has a new value for the next call", R"(
        n: int64[] = parameter buffer=1
        x: float32[2] = input
        more: int64[] = aten.add_.Tensor(self=%n, other=1)
        return %x
    )",
     R"(
        n: int64[] = parameter buffer=1
        x: float32[2] = input
        more: int64[] = aten.add.Tensor(self=%n, other=1) original="aten.add_.Tensor"
        n_next: int64[] = quantscope.set_state.default(holder="n", value=%more) opaque="keeps the new value of 'n' for the next call"
        return %x
    )"},
    {kFunctionalize, "what a slice shows is put into the whole", R"(
        x: float32[4] = input
        a: float32[4] = aten.neg.default(self=%x)
        part: float32[2] = aten.slice.Tensor(self=%a, dim=0, start=0, end=2)
        y: float32[2] = aten.relu_.default(self=%part)
        return %a
    )",
     R"(
        x: float32[4] = input
        a: float32[4] = aten.neg.default(self=%x)
        part: float32[2] = aten.slice.Tensor(self=%a, dim=0, start=0, end=2)
        y: float32[2] = aten.relu.default(self=%part) original="aten.relu_.default"
        slice_scatter: float32[4] = aten.slice_scatter.default(self=%a, src=%y, dim=0, start=0, end=2)
        return %slice_scatter
    )"},
    {kFunctionalize, "what another view shows is kept in a region", R"(
        x: float32[4] = input
        a: float32[4] = aten.neg.default(self=%x)
        rows: float32[2, 2] = aten.view.default(self=%a, size=[2, 2])
        y: float32[4] = aten.relu_.default(self=%a)
        return %rows
    )",
     R"(
        x: float32[4] = input
        a: float32[4] = aten.neg.default(self=%x)
        region (rows_1: float32[2, 2]) = quantscope.region.default(operands=[%a], written=[0]) original="aten.relu_.default" opaque="'aten.relu_.default' changes a tensor in place that is also seen through a view; kept as it is"
        subgraph
            module "" ""
            a: float32[4] = input
            rows: float32[2, 2] = aten.view.default(self=%a, size=[2, 2]) origin=3
            y: float32[4] = aten.relu_.default(self=%a) origin=4
            return %rows
        end
        return %rows_1
    )"},
    {kFunctionalize, "no write, no change: unread values stay", R"(
        n: int64[] = parameter buffer=1
        x: float32[2] = input
        more: int64[] = aten.add.Tensor(self=%n, other=1)
        y: bool[2] = aten.__and__.Tensor(self=%x, other=%x)
        return %y
    )",
     ""},
    {kFakeQuantizers, "readers of a fake quantizer read its input", R"(
        x: float32[2] = input
        a: float32[2] = aten.fake_quantize_per_tensor_affine.default(self=%x, scale=0.5, zero_point=3, quant_min=0, quant_max=255)
        y: float32[2] = aten.neg.default(self=%a)
        b: float32[2] = aten.fake_quantize_per_tensor_affine.default(self=%y, scale=0.25, zero_point=0, quant_min=-128, quant_max=127)
        return %b
    )",
     R"(
        x: float32[2] = input
        y: float32[2] = aten.neg.default(self=%x)
        return %y
    )"},
    {kFakeQuantizers, "a batch norm that is simulated in the weight leaves it", R"(
        x: float32[1, 2, 4, 4] = input
        w: float32[3, 2, 1, 1] = parameter
        bias: float32[3] = parameter
        std: float32[3] = parameter
        wide: float32[3, 1, 1, 1] = aten.reshape.default(self=%std, shape=[-1, 1, 1, 1])
        scaled: float32[3, 2, 1, 1] = aten.mul.Tensor(self=%w, other=%wide)
        q: float32[3, 2, 1, 1] = aten.fake_quantize_per_tensor_affine.default(self=%scaled, scale=0.5, zero_point=0, quant_min=-128, quant_max=127)
        none: float32[3] = aten.zeros_like.default(self=%bias)
        y: float32[1, 3, 4, 4] = aten.conv2d.default(input=%x, weight=%q, bias=%none) scope="conv"
        high: float32[1, 3, 1, 1] = aten.reshape.default(self=%std, shape=[1, -1, 1, 1])
        back: float32[1, 3, 4, 4] = aten.div.Tensor(self=%y, other=%high)
        add: float32[1, 3, 1, 1] = aten.reshape.default(self=%bias, shape=[1, -1, 1, 1])
        sum: float32[1, 3, 4, 4] = aten.add.Tensor(self=%back, other=%add)
        return %sum
    )",
     R"(
        x: float32[1, 2, 4, 4] = input
        w: float32[3, 2, 1, 1] = parameter
        bias: float32[3] = parameter
        std: float32[3] = parameter
        y: float32[1, 3, 4, 4] = aten.conv2d.default(input=%x, weight=%w, bias=%bias) scope="conv"
        return %y
    )"},
    {kFakeQuantizers, "a quotient of something else stays", R"(
        x: float32[2] = input
        s: float32[2] = parameter
        a: float32[2] = aten.fake_quantize_per_tensor_affine.default(self=%x, scale=0.5, zero_point=3, quant_min=0, quant_max=255)
        y: float32[2] = aten.div.Tensor(self=%a, other=%s)
        return %y
    )",
     R"(
        x: float32[2] = input
        s: float32[2] = parameter
        y: float32[2] = aten.div.Tensor(self=%x, other=%s)
        return %y
    )"},
    {kFused, "a relu that the file gives to a convolution is a module below it", R"(
        module "" ""
        module "conv" "torch.nn.Conv2d"
        x: float32[1, 2, 4, 4] = input
        w: float32[3, 2, 1, 1] = parameter
        y: float32[1, 3, 4, 4] = aten.conv2d.default(input=%x, weight=%w) scope="conv" class="torch.nn.Conv2d"
        z: float32[1, 3, 4, 4] = aten.relu_.default(self=%y) scope="conv" class="torch.nn.Conv2d"
        e: float32[1, 3, 4, 4] = aten.relu.default(self=%z)
        return %e
    )",
     R"(
        module "" ""
        module "conv" "torch.nn.Conv2d"
        module "conv.relu" "torch.nn.ReLU"
        x: float32[1, 2, 4, 4] = input
        w: float32[3, 2, 1, 1] = parameter
        y: float32[1, 3, 4, 4] = aten.conv2d.default(input=%x, weight=%w) scope="conv" class="torch.nn.Conv2d"
        z: float32[1, 3, 4, 4] = aten.relu_.default(self=%y) scope="conv.relu" class="torch.nn.ReLU"
        e: float32[1, 3, 4, 4] = aten.relu.default(self=%z)
        return %e
    )"},
    {kRecurrent, "the last states are as large as the first, and what reads them follows", R"(
        x: float32[5, 3, 8] = input
        h: float32[2, 3, 8] = input
        w: float32[32, 8] = parameter
        lstm (y: float32[5, 3, 8], hn: float32[2, 1, 3, 8], cn: float32[2, 1, 3, 8]) = aten.lstm.input(input=%x, hx=[%h, %h], params=[%w, %w], has_biases=False, num_layers=2, dropout=0.0, train=False, bidirectional=False, batch_first=False)
        z: float32[2, 1, 3, 8] = aten.relu.default(self=%hn)
        t: float32[3, 5, 8] = aten.transpose.int(self=%y, dim0=0, dim1=1)
        return %z, %cn, %t
    )",
     R"(
        x: float32[5, 3, 8] = input
        h: float32[2, 3, 8] = input
        w: float32[32, 8] = parameter
        lstm (y: float32[5, 3, 8], hn: float32[2, 3, 8], cn: float32[2, 3, 8]) = aten.lstm.input(input=%x, hx=[%h, %h], params=[%w, %w], has_biases=False, num_layers=2, dropout=0.0, train=False, bidirectional=False, batch_first=False)
        z: float32[2, 3, 8] = aten.relu.default(self=%hn)
        t: float32[3, 5, 8] = aten.transpose.int(self=%y, dim0=0, dim1=1)
        return %z, %cn, %t
    )"},
    {kIdle, "a holder that keeps its value needs no update", R"(
        n: int64[] = parameter buffer=1
        m: int64[] = parameter buffer=1
        next (next: int64[]) = quantscope.set_state.default(holder="n", value=%n)
        other (other: int64[]) = quantscope.set_state.default(holder="n", value=%m)
        return %m
    )",
     R"(
        n: int64[] = parameter buffer=1
        m: int64[] = parameter buffer=1
        other (other: int64[]) = quantscope.set_state.default(holder="n", value=%m)
        return %m
    )"},
    {kIdle, "one that is read stays", R"(
        n: int64[] = parameter buffer=1
        next: int64[] = quantscope.set_state.default(holder="n", value=%n)
        return %next
    )",
     ""},
    {kReadBacks, "what was just put in is read directly", R"(
        x: float32[4] = input
        a: float32[2] = input
        all: float32[4] = aten.slice_scatter.default(self=%x, src=%a, dim=0, start=0, end=2)
        part: float32[2] = aten.slice.Tensor(self=%all, dim=0, start=0, end=2)
        y: float32[2] = aten.relu.default(self=%part)
        return %y
    )",
     R"(
        x: float32[4] = input
        a: float32[2] = input
        y: float32[2] = aten.relu.default(self=%a)
        return %y
    )"},
    {kReadBacks, "another place is not what was put in", R"(
        x: float32[4] = input
        a: float32[2] = input
        all: float32[4] = aten.slice_scatter.default(self=%x, src=%a, dim=0, start=0, end=2)
        part: float32[2] = aten.slice.Tensor(self=%all, dim=0, start=2, end=4)
        return %part
    )",
     ""},
    {kReadBacks, "another type is not what was put in", R"(
        x: float32[4] = input
        a: float16[2] = input
        all: float32[4] = aten.slice_scatter.default(self=%x, src=%a, dim=0, start=0, end=2)
        part: float32[2] = aten.slice.Tensor(self=%all, dim=0, start=0, end=2)
        return %part
    )",
     ""},
};

} // namespace

class TestImportPasses : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void rewrites_data() { addRows(kCases); }
    void rewrites() { compareRow(kCases); }
};

QTEST_GUILESS_MAIN(TestImportPasses)
#include "tst_import_passes.moc"
