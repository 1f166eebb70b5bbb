// SPDX-License-Identifier: Apache-2.0
#include "tests/support/decoder_graph.h"

#include "engine/graph/graph_edit.h"

namespace qs {

namespace {

constexpr std::int64_t kTokens = 128, kWidth = 512, kHeads = 8, kHead = 64;
using Sizes = std::vector<std::int64_t>;

class Decoder
{
public:
    Decoder() { m_edit.modules().add("", "transformers.DecoderForCausalLM"); }

    GraphPtr build(int layers)
    {
        const ValueRef tokens = input("input_ids", {1, kTokens}, DType::Int64);
        const ValueRef positions = input("position_ids", {1, kTokens}, DType::Int64);
        const ValueRef mask = input("mask", {1, 1, kTokens, kTokens}, DType::Float32);
        m_module = "model.embed_tokens";
        m_class = "torch.nn.Embedding";
        ValueRef x
            = op("embedding", {1, kTokens, kWidth}, {parameter("weight", {32000, kWidth}), tokens});
        m_module = "model.rotary_emb";
        m_class = "RotaryEmbedding";
        const ValueRef angles
            = op("mul", {1, kTokens, kHead}, {parameter("inv_freq", {kHead}), positions});
        m_cos = op("cos", {1, 1, kTokens, kHead}, {angles});
        m_sin = op("sin", {1, 1, kTokens, kHead}, {angles});
        m_module = "model";
        m_class = "Decoder";
        m_mask = op("mul", {1, 1, kTokens, kTokens}, {mask, 1.0});
        for (int i = 0; i < layers; ++i)
            x = layer("model.layers." + std::to_string(i), x);
        x = norm("model.norm", x);
        m_module = "lm_head";
        m_class = "torch.nn.Linear";
        x = op("linear", {1, kTokens, 32000}, {x, parameter("weight", {32000, kWidth})});
        Node out;
        out.kind = NodeKind::Output;
        out.name = "output";
        out.args = {{"output", Argument(x)}};
        m_edit.insert(std::move(out));
        ModelInfo info;
        info.path = "/models/decoder.pt2";
        info.name = "DecoderForCausalLM";
        m_edit.setInfo(info);
        return std::make_shared<const Graph>(m_edit.build());
    }

private:
    ValueRef layer(const std::string& path, ValueRef x)
    {
        m_edit.modules().add(path, "DecoderLayer");
        const ValueRef mixed = attention(path + ".self_attn", norm(path + ".input_layernorm", x));
        m_module = path;
        m_class = "DecoderLayer";
        const ValueRef middle = op("add", {1, kTokens, kWidth}, {x, mixed});
        const ValueRef fed
            = feedForward(path + ".mlp", norm(path + ".post_attention_layernorm", middle));
        m_module = path;
        m_class = "DecoderLayer";
        return op("add", {1, kTokens, kWidth}, {middle, fed});
    }

    ValueRef norm(const std::string& path, ValueRef x)
    {
        m_module = path;
        m_class = "RMSNorm";
        const Sizes rows {1, kTokens, 1}, all {1, kTokens, kWidth};
        const ValueRef scale
            = op("rsqrt", rows, {op("add", rows, {op("mean", rows, {op("pow", all, {x})}), 1e-6})});
        return op("mul", all, {parameter("weight", {kWidth}), op("mul", all, {x, scale})});
    }

    ValueRef attention(const std::string& path, ValueRef x)
    {
        const auto project = [&](const char* name) {
            const ValueRef flat = linear(path + name, x, kWidth);
            m_module = path;
            m_class = "Attention";
            const ValueRef heads = op("view", {1, kTokens, kHeads, kHead}, {flat});
            return op("transpose", {1, kHeads, kTokens, kHead}, {heads});
        };
        const ValueRef q = rotate(project(".q_proj"));
        const ValueRef k = rotate(project(".k_proj"));
        const ValueRef v = project(".v_proj");
        const ValueRef mixed
            = op("scaled_dot_product_attention", {1, kHeads, kTokens, kHead}, {q, k, v, m_mask});
        const ValueRef flat = op("reshape", {1, kTokens, kWidth},
                                 {op("transpose", {1, kTokens, kHeads, kHead}, {mixed})});
        return linear(path + ".o_proj", flat, kWidth);
    }

    ValueRef rotate(ValueRef x)
    {
        const Sizes all {1, kHeads, kTokens, kHead}, half {1, kHeads, kTokens, kHead / 2};
        const ValueRef left = op("slice", half, {x, 0.0}), right = op("slice", half, {x, 1.0});
        const ValueRef turned = op("cat", all, {op("neg", half, {right}), left});
        return op("add", all, {op("mul", all, {x, m_cos}), op("mul", all, {turned, m_sin})});
    }

    ValueRef feedForward(const std::string& path, ValueRef x)
    {
        const ValueRef gate = linear(path + ".gate_proj", x, 4 * kWidth);
        m_module = path + ".act_fn";
        m_class = "torch.nn.SiLU";
        const ValueRef open = op("silu", {1, kTokens, 4 * kWidth}, {gate});
        const ValueRef up = linear(path + ".up_proj", x, 4 * kWidth);
        m_module = path;
        m_class = "FeedForward";
        const ValueRef both = op("mul", {1, kTokens, 4 * kWidth}, {open, up});
        return linear(path + ".down_proj", both, kWidth);
    }

    ValueRef linear(const std::string& path, ValueRef x, std::int64_t width)
    {
        m_module = path;
        m_class = "torch.nn.Linear";
        return op("linear", {1, kTokens, width}, {x, parameter("weight", {width, kWidth})});
    }

    ValueRef op(const std::string& name, const Sizes& sizes, std::vector<Argument> args)
    {
        Node node;
        node.name = name;
        node.target = "aten." + name + ".default";
        node.scope = {m_module, m_class, 0};
        m_edit.modules().add(m_module, m_class);
        static const char* const names[] = {"input", "other", "value", "mask"};
        for (std::size_t i = 0; i < args.size(); ++i)
            node.args.push_back({names[i], std::move(args[i])});
        return insert(std::move(node), sizes, DType::Float32);
    }

    ValueRef parameter(const std::string& name, const Sizes& sizes)
    {
        Node node;
        node.kind = NodeKind::Parameter;
        node.target = m_module + "." + name;
        node.name = "p_" + node.target;
        for (char& c : node.name)
            c = c == '.' ? '_' : c;
        m_edit.modules().addParameter(node.target);
        return insert(std::move(node), sizes, DType::Float32);
    }

    ValueRef input(const std::string& name, const Sizes& sizes, DType dtype)
    {
        Node node;
        node.kind = NodeKind::Input;
        node.name = node.target = name;
        return insert(std::move(node), sizes, dtype);
    }

    ValueRef insert(Node node, const Sizes& sizes, DType dtype)
    {
        Value value;
        value.type.dtype = dtype;
        value.type.shapeKnown = true;
        for (const auto size : sizes)
            value.type.shape.push_back(Dim::fixed(size));
        node.outputs = {std::move(value)};
        return {m_edit.insert(std::move(node)), 0};
    }

    GraphEdit m_edit;
    std::string m_module, m_class;
    ValueRef m_cos, m_sin, m_mask;
};

} // namespace

GraphPtr decoderGraph(int layers)
{
    return Decoder().build(layers);
}

} // namespace qs
