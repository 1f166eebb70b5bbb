# SPDX-License-Identifier: Apache-2.0
import torch
from my_model import MyModel  # your own: forward(self, tokens, mask)

model = MyModel().eval()
tokens = torch.randint(0, 1000, (1, 16))
mask = torch.ones(1, 16)

# In the order of forward, or by name, as mask here.
program = torch.export.export(model, (tokens,), {"mask": mask})
torch.export.save(program, "model.pt2")
