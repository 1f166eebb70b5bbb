# SPDX-License-Identifier: Apache-2.0
import torch
from my_model import MyModel  # your own class

model = MyModel()
# model.load_state_dict(torch.load("weights.pt"))
example = torch.randn(1, 3, 224, 224)  # an input as your model takes it

program = torch.export.export(model.eval(), (example,))
torch.export.save(program, "model.pt2")
