# SPDX-License-Identifier: Apache-2.0
import torch
from my_model import MyModel  # your own class

model = MyModel().eval()
example = torch.randn(2, 3, 224, 224)  # of one the size would be fixed
batch = torch.export.Dim("batch")

program = torch.export.export(model, (example,), dynamic_shapes=({0: batch},))
torch.export.save(program, "model.pt2")
