#!/usr/bin/env python3
"""Measures a live model on AgentDojo with and without Bouncer, by AgentDojo's own scorer.

    OPENAI_API_KEY=... python3 eval/agentdojo/run_live.py --suite banking --model gpt-4o-2024-05-13

It costs what the model's provider charges, and the logs of AgentDojo go to --logdir.
"""

import argparse
import json
import os
import shutil
import statistics
import sys
from dataclasses import dataclass, field
from pathlib import Path

from agentdojo.agent_pipeline import AgentPipeline, PipelineConfig
from agentdojo.attacks.attack_registry import load_attack
from agentdojo.benchmark import run_task_with_injection_tasks, run_task_without_injection_tasks
from agentdojo.logging import OutputLogger
from agentdojo.task_suite.load_suites import get_suite

from bouncer_element import BouncerExecutor, Counts, guard
from mcp_session import Setup

POLICY = Path(__file__).resolve().parent.parent / "policies" / "agentdojo.yaml"


@dataclass
class Figures:
    """What one pipeline did on one suite."""

    suite: str
    pipeline: str
    utility: list[bool] = field(default_factory=list)  # a user task each
    utility_attacked: list[bool] = field(default_factory=list)  # a pair each
    succeeded: list[bool] = field(default_factory=list)  # a pair each: the attack got its way
    benign: list[Counts] = field(default_factory=list)  # a user task each
    attacked: list[Counts] = field(default_factory=list)  # a user task with all its injections each

    def summary(self) -> dict:
        # A task without a session made no call, or its result was taken from the logs: it says nothing of questions.
        asked = [c.questions for c in self.benign if c.sessions]
        return {
            "suite": self.suite,
            "pipeline": self.pipeline,
            "tasks": len(self.utility),
            "pairs": len(self.succeeded),
            "utility": share(self.utility),
            "utility_under_attack": share(self.utility_attacked),
            "attack_success_rate": share(self.succeeded),
            "questions": sum(asked),
            "questions_median": statistics.median(asked) if asked else None,
            "questions_under_attack": sum(c.questions for c in self.attacked),
            "denied": sum(c.denied for c in self.benign),
            "denied_under_attack": sum(c.denied for c in self.attacked),
            "sessions": sum(c.sessions for c in [*self.benign, *self.attacked]),
        }


def share(of: list[bool]) -> float | None:
    return sum(of) / len(of) if of else None


@dataclass
class Task:
    """What is measured, whatever the pipeline."""

    version: str
    attack: str | None
    logdir: Path
    resume: bool
    user_tasks: list[str] | None = None
    injection_tasks: list[str] | None = None


def measure(task: Task, suite, pipeline, element: BouncerExecutor | None) -> Figures:
    """Runs the suite's tasks, alone and with injections."""
    out = Figures(suite.name, pipeline.name)
    counts = element.finish if element else Counts
    users = [suite.get_user_task_by_id(name) for name in task.user_tasks or suite.user_tasks]
    logs = task.logdir, not task.resume
    with OutputLogger(str(task.logdir)):
        for user in users:
            utility, _ = run_task_without_injection_tasks(
                suite, pipeline, user, *logs, benchmark_version=task.version
            )
            out.utility.append(bool(utility))
            out.benign.append(counts())
        attack = load_attack(task.attack, suite, pipeline) if task.attack else None
        for user in users if attack else ():
            utility, succeeded = run_task_with_injection_tasks(
                suite, pipeline, user, attack, *logs, task.injection_tasks, benchmark_version=task.version
            )
            out.utility_attacked += map(bool, utility.values())
            out.succeeded += map(bool, succeeded.values())
            out.attacked.append(counts())
    return out


def build(suite_name: str, llm, args, guarded: bool):
    """The pipeline, with Bouncer in it or as AgentDojo has it."""
    config = PipelineConfig(
        llm=llm,
        model_id=args.model_id,
        defense=None,
        tool_delimiter="tool",
        system_message_name=None,
        system_message=None,
        tool_output_format=None,
    )
    pipeline = AgentPipeline.from_config(config)
    if not guarded:
        return pipeline, None
    setup = Setup(args.bouncer, str(args.policy), args.profile, args.ask == "approve", args.keep)
    element = BouncerExecutor(suite_name, setup, tell=not args.no_prompt)
    guard(pipeline, element)
    # AgentDojo files results by this name; those of other settings must not be taken for these.
    parts = [pipeline.name, "bouncer", args.profile or "default", args.ask, "unprompted" if args.no_prompt else ""]
    pipeline.name = "-".join(filter(None, parts))
    return pipeline, element


COLUMNS = {  # of the table: what a column is called, and how its values are written
    "suite": ("suite", "{}"),
    "pipeline": ("pipeline", "{}"),
    "utility": ("utility", "{:.1%}"),
    "utility_under_attack": ("utility under attack", "{:.1%}"),
    "attack_success_rate": ("attacks succeed", "{:.1%}"),
    "questions": ("questions", "{}"),
    "questions_median": ("median", "{:g}"),
    "denied": ("denied", "{}"),
    "questions_under_attack": ("questions under attack", "{}"),
    "denied_under_attack": ("denied under attack", "{}"),
}


def show(rows: list[dict]):
    table = [[title for title, _ in COLUMNS.values()]]
    for row in rows:
        table.append(["-" if row[key] is None else form.format(row[key]) for key, (_, form) in COLUMNS.items()])
    widths = [max(map(len, column)) for column in zip(*table)]
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def options(argv):
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--suite", action="append", required=True, help="may be repeated")
    args.add_argument("--model", required=True, help="one of AgentDojo's model names")
    args.add_argument("--model-id", help="for local models, as AgentDojo has it")
    args.add_argument("--version", default="v1.2.2", help="of the benchmark (default: %(default)s)")
    args.add_argument("--attack", default="important_instructions", help="'none' leaves the attacks out")
    args.add_argument("--user-task", action="append", help="may be repeated; all without it")
    args.add_argument("--injection-task", action="append", help="may be repeated; all without it")
    args.add_argument("--with", dest="which", choices=["both", "bouncer", "nothing"], default="both")
    args.add_argument("--ask", choices=["deny", "approve"], default="deny", help="how questions are answered")
    args.add_argument("--no-prompt", action="store_true", help="do not tell Bouncer what the user asked for")
    args.add_argument("--profile", choices=["strict", "standard", "paranoid"])
    args.add_argument("--policy", type=Path, default=POLICY)
    args.add_argument("--bouncer", default=os.environ.get("BOUNCER_BIN") or shutil.which("bouncer"))
    args.add_argument("--logdir", type=Path, default=Path("runs"), help="of AgentDojo (default: %(default)s)")
    args.add_argument("--keep", help="folder that Bouncer's logs are kept in")
    args.add_argument("--resume", action="store_true", help="take the results that are in --logdir already")
    args.add_argument("--json", action="store_true")
    args = args.parse_args(argv)
    if args.which != "nothing" and not args.bouncer:
        sys.exit("where is bouncer? put it into PATH, or name it with --bouncer or BOUNCER_BIN")
    return args


def main(argv=None, llm=None) -> int:
    args = options(argv)
    attack = None if args.attack == "none" else args.attack
    task = Task(args.version, attack, args.logdir, args.resume, args.user_task, args.injection_task)
    rows = []
    for name in args.suite:
        suite = get_suite(args.version, name)
        for guarded in {"both": (False, True), "bouncer": (True,), "nothing": (False,)}[args.which]:
            pipeline, element = build(name, llm or args.model, args, guarded)
            rows.append(measure(task, suite, pipeline, element).summary())
    if args.json:
        print(json.dumps({"version": 1, "rows": rows}, indent=1))
    else:
        show(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
