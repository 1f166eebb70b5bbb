# SPDX-License-Identifier: Apache-2.0
# In a terminal, with the Python environment that holds the model.
quantscope export my_model.py:MyModel --input 1x3x224x224

# From a function that loads the weights, and one that yields your data:
quantscope export my_model.py:load --data my_model.py:images \
    --samples 128 --test-samples 500
