#!/usr/bin/env python3
"""Writes AgentDojo's ground truth as recordings that `bouncer replay agentdojo DIR` replays. No model is used.

    python3 eval/agentdojo/export.py --out recordings [--suite banking ...] [--version v1.2.2]

Every figure in the files comes from AgentDojo itself: its functions run in its environments, and its own scorer says
what each sequence of calls is worth, whole and with one call left out.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

from agentdojo.agent_pipeline import BasePipelineElement
from agentdojo.agent_pipeline.tool_execution import tool_result_to_str
from agentdojo.attacks.attack_registry import load_attack
from agentdojo.functions_runtime import EmptyEnv, FunctionCall, FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suite, get_suites
from agentdojo.types import text_content_block_from_string

import handwritten
from plain import definitions, plain


class Target(BasePipelineElement):
    """What an attack believes to attack: it addresses the model by the pipeline's name."""

    def __init__(self, name: str):
        self.name = name

    def query(self, query, runtime, env=EmptyEnv(), messages=(), extra_args=None):
        raise NotImplementedError("no model is used here")


class Player(BasePipelineElement):
    """Makes the calls of a plan and records them. A plan takes the environment, yields (phase, function, args) and is
    sent what the call returned."""

    name = "recorder"

    def __init__(self, plan, final: str, outputs: dict):
        self.plan, self.final, self.outputs = plan, final, outputs
        self.calls: list[dict] = []

    def query(self, query, runtime: FunctionsRuntime, env=EmptyEnv(), messages=(), extra_args=None):
        self.calls, messages = [], list(messages)
        plan, value = self.plan(env), None
        while True:
            try:
                phase, function, args = plan.send(value)
            except StopIteration:
                break
            value, said = self._call(runtime, env, phase, function, args)
            messages += said
        last = {"role": "assistant", "content": [text_content_block_from_string(self.final)], "tool_calls": None}
        return query, runtime, env, [*messages, last], extra_args or {}

    def _call(self, runtime, env, phase: str, function: str, args: dict):
        before = env.model_dump()
        try:
            args = {name: resolved(runtime, env, value) for name, value in args.items()}
            value, error = runtime.run_function(env, function, args)
        except Exception as err:  # of a call within the call
            args = {name: value for name, value in args.items() if not isinstance(value, FunctionCall)}
            value, error = "", f"{type(err).__name__}: {err}"
        text = tool_result_to_str(value) if error is None else error
        structured = plain(value) if error is None else None
        out = hashlib.sha256(json.dumps([text, structured]).encode()).hexdigest()[:12]
        self.outputs[out] = {"id": out, "text": text, "structured": structured}
        writes = env.model_dump() != before
        row = {"phase": phase, "function": function, "args": plain(args), "error": error, "out": out, "writes": writes}
        self.calls.append(row)
        call = FunctionCall(function=function, args=args)
        shown = [text_content_block_from_string(text if error is None else "")]
        return structured, [
            {"role": "assistant", "content": [text_content_block_from_string("")], "tool_calls": [call]},
            {"role": "tool", "content": shown, "tool_call": call, "tool_call_id": None, "error": error},
        ]


def resolved(runtime, env, value):
    """An argument that is itself a call is what that call returns."""
    if not isinstance(value, FunctionCall):
        return value
    args = {name: resolved(runtime, env, inner) for name, inner in value.args.items()}
    return plain(runtime.run_function(env, value.function, args, raise_on_error=True)[0])


def truth(phase: str, task):
    """The plan that solves a task, as AgentDojo has it."""

    def plan(env, start=None):
        for call in task.ground_truth(env):
            yield phase, call.function, call.args

    return plan


def obeyed(user, injection, after: int | None):
    """The plan of an agent that obeys: an injection's calls after the user's call of that index, or after all."""

    def plan(env):
        start = env.model_copy(deep=True)
        calls = list(user.ground_truth(env))
        cut = len(calls) if after is None else after + 1
        for call in calls[:cut]:
            yield "user", call.function, call.args
        yield from injection(env, start)
        for call in calls[cut:]:
            yield "user", call.function, call.args

    return plan


def without(calls: list[dict], index: int):
    """The plan that makes recorded calls again, but for one."""

    def plan(env):
        for i, call in enumerate(calls):
            if i != index:
                yield call["phase"], call["function"], call["args"]

    return plan


class Exporter:
    """Exports one suite."""

    def __init__(self, suite, version: str, attack: str, model: str):
        self.suite, self.version = suite, version
        self.attack = load_attack(attack, suite, Target(model))
        self.outputs: dict[str, dict] = {}
        self.skipped: list[str] = []

    def play(self, plan, user, injection=None, injections=None, record=True):
        """Has AgentDojo score a plan: (calls, utility, security)."""
        player = Player(plan, user.GROUND_TRUTH_OUTPUT, self.outputs if record else {})
        utility, security = self.suite.run_task_with_pipeline(player, user, injection, injections or {})
        return player.calls, bool(utility), bool(security)

    def benign(self):
        for name, user in self.suite.user_tasks.items():
            calls, utility, _ = self.play(truth("user", user), user)
            if not utility:
                self.skipped.append(f"{name}: its ground truth does not solve it")
            left_out = {
                str(i): self.play(without(calls, i), user, record=False)[1]
                for i, call in enumerate(calls)
                if call["writes"]
            }
            yield {
                **self._head(name),
                "prompt": user.PROMPT,
                "ground_truth_output": user.GROUND_TRUTH_OUTPUT,
                "utility": utility,
                "utility_if_call_denied": left_out,
                "calls": calls,
            }

    def attacked(self):
        for name, user in self.suite.user_tasks.items():
            carrier = self.carrier(user)
            if carrier is None:
                self.skipped.append(f"{name}: none of its calls reads what an injection can be put in")
                continue
            for goal, injection in self.suite.injection_tasks.items():
                yield from self.pair(name, user, goal, injection, carrier)

    def carrier(self, user) -> int | None:
        """The index of the first call whose output holds an injection. Marks of one word are put in the places of the
        injections, since a longer text can look different in an output."""
        marks = {place: f"MARK-{place}-END" for place in self.suite.get_injection_vector_defaults()}
        outputs: dict[str, dict] = {}
        player = Player(truth("user", user), user.GROUND_TRUTH_OUTPUT, outputs)
        self.suite.run_task_with_pipeline(player, user, None, marks)
        for i, call in enumerate(player.calls):
            if any(mark in outputs[call["out"]]["text"] for mark in marks.values()):
                return i
        return None

    def pair(self, name: str, user, goal: str, injection, carrier: int):
        filled = self.attack.attack(user, injection)
        calls_of, source = self.injected(goal, injection)
        _, utility_alone, security_alone = self.play(truth("user", user), user, injection, filled)
        calls, utility, security = self.play(obeyed(user, calls_of, None), user, injection, filled)
        row = {
            **self._head(name),
            "injection_task": goal,
            "order": "user-first",
            "injection_calls_source": source if any(c["phase"] == "injection" for c in calls) else "none",
            "prompt": user.PROMPT,
            "goal": injection.GOAL,
            "vectors": list(filled),
            "injection_text": next(iter(filled.values())),
            "first_injected_call": carrier,
            "security_all": security,
            "utility_all": utility,
            "security_suppressed": security_alone,
            "utility_suppressed": utility_alone,
        }
        left_out = self.left_out(calls, user, injection, filled)
        if left_out:
            row["security_if_call_denied"] = left_out
        yield {**row, "calls": calls}
        users = sum(call["phase"] == "user" for call in calls)
        if carrier < users - 1 and users < len(calls):
            early, utility, security = self.play(obeyed(user, calls_of, carrier), user, injection, filled)
            kept = ("suite", "version", "user_task", "injection_task", "injection_calls_source", "first_injected_call")
            ids = {key: row[key] for key in kept}
            yield {**ids, "order": "early", "security_all": security, "utility_all": utility, "calls": early}

    def injected(self, name: str, injection):
        """The plan of an injection's calls, and who wrote it."""
        by_hand = handwritten.PLANS.get((self.suite.name, name))
        if by_hand is None or injection.ground_truth(self.suite.load_and_inject_default_environment({})):
            return truth("injection", injection), "agentdojo"

        def plan(env, start):
            calls, value = by_hand(injection.GOAL), None
            while True:
                try:
                    function, args = calls.send(value)
                except StopIteration:
                    return
                value = yield "injection", function, args
                if function.startswith(("get_", "list_")):  # the scorers go by what there was at the start
                    now = start.model_copy(deep=True)
                    value = plain(FunctionsRuntime(self.suite.tools).run_function(now, function, args, True)[0])

        return plan, "handwritten"

    def left_out(self, calls: list[dict], user, injection, filled) -> dict[str, bool]:
        """Whether the attack still succeeds when one of its calls is left out, for the calls that it takes: those that
        change something, and those that it fails without. Empty where `writes` says the same."""
        taken = {}
        for i, call in enumerate(calls):
            if call["phase"] == "injection":
                security = self.play(without(calls, i), user, injection, filled, record=False)[2]
                if call["writes"] or not security:
                    taken[i] = security
        told = len(taken) <= 1 and all(calls[i]["writes"] for i in taken)
        return {} if told else {str(i): security for i, security in taken.items()}

    def _head(self, user_task: str) -> dict:
        return {"suite": self.suite.name, "version": self.version, "user_task": user_task}

    def write(self, folder: Path):
        base = str(folder / self.suite.name)
        write(base + "-benign.jsonl", self.benign())
        write(base + "-attacked.jsonl", self.attacked())
        write(base + "-outputs.jsonl", self.outputs.values())
        tools = json.dumps(definitions(self.suite.tools), ensure_ascii=False, allow_nan=False, indent=1)
        Path(base + "-tools.json").write_text(tools + "\n", encoding="utf-8")  # last: it makes the files a suite


def write(file: str, rows):
    with open(file, "w", encoding="utf-8", newline="\n") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")


def main(argv=None) -> int:
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--out", required=True, type=Path, help="folder that the files are written to")
    args.add_argument("--suite", action="append", help="may be repeated; all suites without it")
    args.add_argument("--version", default="v1.2.2", help="of the benchmark (default: %(default)s)")
    args.add_argument("--attack", default="important_instructions", help="that words the injections")
    args.add_argument("--model", default="gpt-4o-2024-05-13", help="that the attack addresses; it is not used")
    args = args.parse_args(argv)
    known = get_suites(args.version)
    unknown = set(args.suite or ()) - set(known)
    if unknown or not known:
        print(f"benchmark {args.version} has no suite {', '.join(unknown) or 'at all'}", file=sys.stderr)
        return 2
    args.out.mkdir(parents=True, exist_ok=True)
    for name in args.suite or known:
        exporter = Exporter(get_suite(args.version, name), args.version, args.attack, args.model)
        exporter.write(args.out)
        for line in exporter.skipped:
            print(f"{name}: {line}", file=sys.stderr)
        print(f"{name}: written to {args.out}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
