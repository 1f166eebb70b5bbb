# SPDX-License-Identifier: Apache-2.0
import torch
from my_model import MyModel  # your own class
from quantscope_export import export  # the file copied beside your model

model = MyModel().eval()
example = torch.randn(1, 3, 224, 224)

# Tries every way to export, says where one fails, and records what
# a .pt2 cannot hold in model.pt2.trace.json.
export(model, (example,), path="model.pt2")
