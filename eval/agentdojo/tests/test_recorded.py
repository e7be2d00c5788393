"""The element on recordings of a real suite: it must refuse what `bouncer replay` refuses."""

import json
import shutil
import subprocess
import tempfile
import types
import unittest

import paths

from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime, TaskEnvironment
from bouncer_element import BouncerExecutor
from mcp_session import Setup

SUITE = "banking"
POLICY = str(paths.ROOT / "eval" / "policies" / "agentdojo.yaml")


def rows(name):
    with open(paths.shared(f"benchmarks/agentdojo/{SUITE}-{name}.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def tool(definition):
    schema = types.SimpleNamespace(model_json_schema=lambda: definition["inputSchema"])
    return types.SimpleNamespace(name=definition["name"], description=definition["description"], parameters=schema)


class Recorded(FunctionsRuntime):
    """A runtime that returns what was recorded for the call whose turn it is."""

    def run_function(self, env, function, kwargs, raise_on_error=False):
        return self.output["structured"], None


@paths.needs_bouncer
class Replayed(unittest.TestCase):
    def play(self, task, tools, outputs):
        """Makes a task's calls as a model would: how many are denied, and whether each was said to be."""
        runtime, messages = Recorded(tools), []
        element = BouncerExecutor(SUITE, Setup(paths.BOUNCER, POLICY), formatter=lambda _: runtime.output["text"])
        for call in task["calls"]:
            runtime.output = outputs[call["out"]]
            said = {"role": "assistant", "content": [], "tool_calls": [FunctionCall(call["function"], call["args"])]}
            *_, messages, _ = element.query(task["prompt"], runtime, TaskEnvironment(), [*messages, said])
        counts = element.finish()
        self.assertEqual(counts.calls, len(task["calls"]))
        self.assertEqual(counts.denied, sum(m["role"] == "tool" and m["error"] is not None for m in messages))
        return counts.denied

    def test_honest_tasks(self):
        tools = [tool(d) for d in json.loads(paths.shared(f"benchmarks/agentdojo/{SUITE}-tools.json").read_text())]
        outputs = {row["id"]: row for row in rows("outputs")}
        tasks = rows("benign")
        whole = sum(self.play(task, tools, outputs) == 0 for task in tasks)
        with tempfile.TemporaryDirectory() as folder:
            for name in ("tools.json", "benign.jsonl", "outputs.jsonl"):
                shutil.copy(paths.shared(f"benchmarks/agentdojo/{SUITE}-{name}"), folder)
            command = [paths.BOUNCER, "replay", "agentdojo", folder, "--policy", POLICY, "--headless", "--json"]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        replayed = json.loads(done.stdout)["total"]
        self.assertEqual((whole, len(tasks)), (replayed["benign_ok"], replayed["benign_total"]))


if __name__ == "__main__":
    unittest.main()
