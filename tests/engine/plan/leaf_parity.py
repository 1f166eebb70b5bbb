# SPDX-License-Identifier: Apache-2.0
"""Modules left alone and modules quantized alone, against torch.ao: the same PrepareCustomConfig, or prepare_fx of the
submodule by itself. Every observed value and every shared observer must agree."""
import torch
import torchvision
from torch.ao.quantization import get_default_qconfig_mapping
from torch.ao.quantization.backend_config.x86 import get_x86_backend_config
from torch.ao.quantization.fx.custom_config import PrepareCustomConfig

import plan_models
import plan_parity


def class_name(kind):
    return f"{kind.__module__}.{kind.__qualname__}"


def check(label, model, inputs, prepare, custom=None, part=None, inside=()):
    recipe = {**plan_parity.DEFAULT, "prepare": prepare}
    plan = plan_parity.compare(label, model, inputs, get_default_qconfig_mapping("x86"), get_x86_backend_config(), recipe,
                               "x86", custom, part)
    for node in plan["nodes"]:
        module = node["module"]
        within = any(module == path or module.startswith(path + ".") for path in inside)
        if node["target"].startswith("aten.") and within != bool(part):
            assert not node["quantized"] and next(iter(prepare)) in node["reason"], (label, node)
    assert any(node["quantized"] for node in plan["nodes"]), label


def main():
    torch.manual_seed(2)
    image = (torch.randn(2, 3, 16, 16),)
    small, resnet = plan_models.Residual(), torchvision.models.resnet18(weights=None)
    block = torchvision.models.resnet.BasicBlock
    large = (torch.randn(1, 3, 64, 64),)

    def leaf(paths):
        return PrepareCustomConfig().set_non_traceable_module_names(paths)

    def kind(classes):
        return PrepareCustomConfig().set_non_traceable_module_classes(classes)
    for paths in (["block"], ["stem"], ["stem", "block"]):
        check(f"leaf {paths}", small, image, {"non_traceable_module_name": paths},
              leaf(paths), inside=paths)
    check("leaf class Block", small, image, {"non_traceable_module_class": [class_name(plan_models.Block)]},
          kind([plan_models.Block]), inside=["block"])
    check("leaf resnet18.layer2", resnet, large, {"non_traceable_module_name": ["layer2"]}, leaf(["layer2"]),
          inside=["layer2"])
    check("leaf class BasicBlock", resnet, large, {"non_traceable_module_class": [class_name(block)]},
          kind([block]),
          inside=["layer1", "layer2", "layer3", "layer4"])
    for part in ("stem", "block"):
        check(f"only {part}", small, image, {"only_modules": [part]}, part=part, inside=[part])
    check("only resnet18.layer3", resnet, large, {"only_modules": ["layer3"]}, part="layer3", inside=["layer3"])


if __name__ == "__main__":
    main()
