# SPDX-License-Identifier: Apache-2.0
"""The comparison itself notices what it should: each disagreement below must be reported, and agreement must not."""
import copy
import unittest

import numpy as np

import agreement
import plan_matrix

GOLDEN = {
    "observed": [{"node": "x", "group": 0, "observer": "histogram", "dtype": "quint8", "scale": [0.5], "zero_point": [3]},
                 {"node": "relu", "group": 1, "observer": "minmax", "dtype": "quint8", "scale": [0.25], "zero_point": [0]},
                 {"node": "pool", "group": 1, "observer": "minmax", "dtype": "quint8", "scale": [0.25], "zero_point": [0]}],
    "weights": [{"node": "conv", "dtype": "qint8", "scale": np.float32([0.1, 0.2]), "zero_point": np.int64([0, 0])}],
}


def quantization(observer, scale, zero_point, shared_with=None):
    return {"dtype": "quint8", "observer": observer, "scale": [scale], "zero_point": [zero_point], "shared_with": shared_with}


def node(name, output=None, weight=None):
    return {"name": name, "output": output, "weight": weight, "inputs": []}


RESULT = {"nodes": [node("x", quantization("histogram", 0.5, 3)),
                    node("conv", weight={"dtype": "qint8", "scale": [float(np.float32(0.1)), float(np.float32(0.2))],
                                         "zero_point": [0, 0]}),
                    node("relu", quantization("minmax", 0.25, 0)),
                    node("pool", quantization("minmax", 0.25, 0, "relu")), node("sigmoid")]}


def compared(change):
    """(problems, equal to the bit) after `change` edited a copy of the agreeing result."""
    result, report = copy.deepcopy(RESULT), agreement.Report("x")
    change({entry["name"]: entry for entry in result["nodes"]})
    agreement.check_structure(report, GOLDEN, result)
    exact = agreement.check_parameters(report, GOLDEN, result)
    return report.problems, exact


class TheComparisonNotices(unittest.TestCase):
    def problems(self, change):
        return compared(change)[0]

    def test_agreement(self):
        self.assertEqual(compared(lambda nodes: None), ([], True))

    def test_a_missing_and_an_unexpected_observer(self):
        self.assertTrue(self.problems(lambda nodes: nodes["pool"].update(output=None)))
        self.assertTrue(self.problems(lambda nodes: nodes["sigmoid"].update(output=quantization("minmax", 1, 0))))

    def test_lost_and_invented_sharing(self):
        self.assertTrue(self.problems(lambda nodes: nodes["pool"]["output"].update(shared_with=None)))
        self.assertTrue(self.problems(lambda nodes: nodes["relu"]["output"].update(shared_with="x")))

    def test_dtype_and_observer(self):
        self.assertTrue(self.problems(lambda nodes: nodes["x"]["output"].update(dtype="qint8")))
        self.assertTrue(self.problems(lambda nodes: nodes["x"]["output"].update(observer="minmax")))

    def test_numbers(self):
        self.assertTrue(self.problems(lambda nodes: nodes["relu"]["output"].update(scale=[0.25 * (1 + 2e-6)])))
        self.assertTrue(self.problems(lambda nodes: nodes["relu"]["output"].update(zero_point=[1])))
        self.assertTrue(self.problems(lambda nodes: nodes["x"]["output"].update(scale=[0.5 * (1 + 2e-4)])))
        self.assertTrue(self.problems(lambda nodes: nodes["x"]["output"].update(zero_point=[6])))
        self.assertTrue(self.problems(lambda nodes: nodes["conv"]["weight"].update(scale=[0.1, 0.21])))
        self.assertTrue(self.problems(lambda nodes: nodes["conv"]["weight"].update(scale=[0.1])))
        self.assertTrue(self.problems(lambda nodes: nodes["conv"].update(weight=None)))

    def test_pairs_that_were_not_compared(self):
        self.assertEqual(plan_matrix.verdict(asked=3, compared=3, failed=0, by_name=True), 0)
        self.assertEqual(plan_matrix.verdict(asked=3, compared=1, failed=0, by_name=True), 1)
        self.assertEqual(plan_matrix.verdict(asked=3, compared=3, failed=1, by_name=True), 1)
        self.assertEqual(plan_matrix.verdict(asked=500, compared=480, failed=0, by_name=False), 0)
        self.assertEqual(plan_matrix.verdict(asked=500, compared=1, failed=0, by_name=False), 1)

    def test_near_is_not_equal(self):
        problems, exact = compared(lambda nodes: nodes["x"]["output"].update(scale=[0.5 * (1 + 1e-6)]))
        self.assertEqual((problems, exact), ([], False))


if __name__ == "__main__":
    unittest.main()
