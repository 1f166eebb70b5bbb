# SPDX-License-Identifier: Apache-2.0
"""Networks of torchvision and timm, small inputs, batch norms warmed up, never a download."""
import copy

import torch
from torch import nn

TORCHVISION = {"alexnet": 64, "vgg11_bn": 32, "resnet18": 32, "resnext50_32x4d": 32, "mobilenet_v2": 32,
               "mobilenet_v3_small": 32, "mobilenet_v3_large": 32, "mnasnet0_5": 32, "shufflenet_v2_x0_5": 32,
               "squeezenet1_1": 64, "densenet121": 32, "googlenet": 64, "inception_v3": 96, "regnet_x_400mf": 32,
               "regnet_y_400mf": 32, "efficientnet_b0": 32, "efficientnet_v2_s": 32, "convnext_tiny": 32, "vit_b_16": 32,
               "segmentation.fcn_resnet50": 32, "segmentation.lraspp_mobilenet_v3_large": 64,
               "segmentation.deeplabv3_mobilenet_v3_large": 64, "video.r3d_18": (3, 4, 32, 32)}
TIMM = {"resnet10t": 64, "resnest14d": 64, "mobilenetv3_small_050": 64, "efficientnet_lite0": 64, "lcnet_050": 64,
        "tinynet_e": 64, "semnasnet_075": 64, "ghostnet_050": 64, "repvgg_a0": 64, "hrnet_w18_small": 64, "dla34": 64,
        "mixer_s32_224": 224, "resmlp_12_224": 224, "convnext_atto": 64, "poolformer_s12": 64, "cspresnet50": 64,
        "mobileone_s0": 64, "vit_tiny_patch16_224": 224, "deit_tiny_patch16_224": 224, "fbnetc_100": 64, "hardcorenas_a": 64,
        "edgenext_xx_small": 64, "levit_128s": 224, "regnetz_005": 64, "res2net50_14w_8s": 64,
        "skresnet18": 64, "ecaresnet26t": 64, "pit_ti_224": 224, "selecsls42": 64}
# Beyond what torch.ao can trace whole: a detector's backbone, attention in windows.
BACKBONES = {"detection.ssdlite320_mobilenet_v3_large": 96}
UNTRACED = {"swin_t": 64}


def names():
    return [f"torchvision.{name}" for name in TORCHVISION] + [f"timm.{name}" for name in TIMM]


def warm(model, example):
    """Batch norms that have seen data; fresh ones are nearly the identity and their folding would be no test."""
    norms = [m for m in model.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for norm in norms:
            if norm.affine:
                norm.weight.uniform_(0.5, 1.5, generator=generator)
                norm.bias.uniform_(-0.3, 0.3, generator=generator)
            norm.train()
        for _ in range(2 if norms else 0):
            model(example + 0.3 * torch.randn(example.shape, generator=generator))
    return model.eval()


class Copies(torch.fx.Interpreter):
    """Runs a trace and notes which contiguous() changed nothing."""

    def __init__(self, module):
        super().__init__(module)
        self.needless = set()

    def run_node(self, node):
        value = super().run_node(node)
        if (node.op, node.target) == ("call_method", "contiguous") and value is self.env[node.args[0]]:
            self.needless.add(node)
        return value


def traced(model, example):
    """The model's torch.fx trace without what leaves no operator behind in an export: nn.Identity, a contiguous() of what is
    contiguous already."""
    graph_module = torch.fx.symbolic_trace(copy.deepcopy(model))
    modules = dict(graph_module.named_modules())
    copies = Copies(graph_module)
    with torch.no_grad():
        copies.run(example.clone())
    for node in list(graph_module.graph.nodes):
        if (node.op == "call_module" and isinstance(modules[node.target], nn.Identity)) \
                or node in copies.needless \
                or getattr(node.target, "__name__", "") == "stochastic_depth":  # of torchvision: nothing in eval mode
            node.replace_all_uses_with(node.args[0])
            graph_module.graph.erase_node(node)
    graph_module.recompile()
    return graph_module


def make(name):
    """(model in eval mode, example input of two samples)."""
    source, _, kind = name.partition(".")
    torch.manual_seed(5)
    if source == "timm":
        import timm

        model, shape = timm.create_model(kind, pretrained=False), TIMM[kind]
    else:
        import torchvision

        place = torchvision.models
        for part in kind.split(".")[:-1]:
            place = getattr(place, part)
        options = {"weights": None}
        if kind.startswith("segmentation"):
            options["weights_backbone"] = None
        if kind in ("googlenet", "inception_v3"):
            options.update(aux_logits=False, init_weights=False)
        shape = {**TORCHVISION, **BACKBONES, **UNTRACED}[kind]
        if kind == "vit_b_16":
            options["image_size"] = shape
        if kind in BACKBONES:
            options["weights_backbone"] = None
        model = getattr(place, kind.split(".")[-1])(**options)
        model = model.backbone if kind in BACKBONES else model
    shape = (3, shape, shape) if isinstance(shape, int) else shape
    example = torch.randn(2, *shape)
    return warm(model.eval(), example), example
