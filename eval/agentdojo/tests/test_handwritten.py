"""The hand-written calls, against recordings of the real workspace suite."""

import json
import unittest

import paths

import handwritten


def rows(name):
    with open(paths.shared(f"benchmarks/agentdojo/workspace-{name}.jsonl"), encoding="utf-8") as file:
        yield from map(json.loads, file)


def made(goal, name, outputs):
    """The calls that a plan makes when it is sent these outputs in turn."""
    plan, calls = handwritten.PLANS["workspace", name](goal), []
    answer = None
    for output in [*outputs, None]:
        try:
            calls.append(plan.send(answer))
        except StopIteration:
            break
        answer = output
    return calls


class Recorded(unittest.TestCase):
    def test_every_plan_makes_the_recorded_calls(self):
        outputs = {row["id"]: row["structured"] for row in rows("outputs")}
        seen = set()
        for row in rows("attacked"):
            name = row["injection_task"]
            if row["order"] != "user-first" or ("workspace", name) not in handwritten.PLANS:
                continue
            if any(call["writes"] for call in row["calls"] if call["phase"] == "user"):
                continue  # the plan is sent what there was at the start, which such a row has not recorded
            with self.subTest(user=row["user_task"], injection=name):
                calls = [call for call in row["calls"] if call["phase"] == "injection"]
                want = [(call["function"], call["args"]) for call in calls]
                self.assertEqual(made(row["goal"], name, [outputs[call["out"]] for call in calls]), want)
            seen.add(("workspace", name))
        self.assertEqual(seen, set(handwritten.PLANS))


if __name__ == "__main__":
    unittest.main()
