"""A pipeline element for AgentDojo that stands where its ToolsExecutor stands and has Bouncer decide about every call.

    pipeline = AgentPipeline.from_config(config)
    guard(pipeline, BouncerExecutor("workspace", Setup(policy="eval/policies/agentdojo.yaml")))

The executor that was there goes on doing its work: it reads the model's calls and words the results. Only the runtime
that it is handed is another one, whose calls go through `bouncer run`. A denied call comes back as the tool's error.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agentdojo.agent_pipeline import BasePipelineElement, ToolsExecutionLoop, ToolsExecutor
from agentdojo.agent_pipeline.tool_execution import tool_result_to_str
from agentdojo.functions_runtime import EmptyEnv, FunctionCall, FunctionsRuntime

from mcp_session import Session, Setup
from plain import definitions, plain
from tool_server import Result, ToolServer


@dataclass
class Counts:
    """What became of the calls of one session or more."""

    sessions: int = 0
    calls: int = 0
    denied: int = 0
    questions: int = 0

    def add(self, other: "Counts"):
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(other, name))


class GatedRuntime(FunctionsRuntime):
    """AgentDojo's runtime, with Bouncer between whoever calls a function and the function."""

    def __init__(self, inner: FunctionsRuntime, server: str, intent: str | None, setup: Setup, formatter):
        super().__init__()
        self.inner, self.functions, self.formatter = inner, inner.functions, formatter
        self.env = None
        tools = ToolServer(definitions(inner.functions.values()), self._run)
        self.session = Session(setup, server, intent, tools)

    def _run(self, name: str, args: dict) -> Result:
        """Makes a call that Bouncer has let through, with the arguments that came through."""
        value, error = self.inner.run_function(self.env, name, args)
        if error is not None:
            return Result(error, failed=True)
        return Result(self.formatter(value), plain(value))

    def run_function(self, env, function: str, kwargs: Mapping, raise_on_error: bool = False):
        self.env = env
        value, error = self._through(env, function, kwargs)
        if error is not None and raise_on_error:
            raise RuntimeError(error)
        return value, error

    def _through(self, env, function: str, kwargs: Mapping):
        args = {}
        for name, value in kwargs.items():
            if isinstance(value, FunctionCall):  # a call inside a call goes through Bouncer as well
                value, error = self._through(env, value.function, value.args)
                if error is not None:
                    return "", error
            args[name] = plain(value)
        try:
            json.dumps(args, allow_nan=False)
        except ValueError as err:  # a number that JSON does not have
            return "", f"ValueError: {err}"
        got = self.session.call(function, args)
        return ("", got.text) if got.failed else (got.text, None)


@dataclass(eq=False)
class BouncerExecutor(BasePipelineElement):
    """Executes a model's calls through Bouncer. Each conversation gets a session, and a Bouncer home, of its own."""

    server: str  # the suite's name: policies scope their rules by it
    setup: Setup = field(default_factory=Setup)
    tell: bool = True  # the user's prompt is made known with --intent
    executor: ToolsExecutor = field(default_factory=ToolsExecutor)
    formatter: object = tool_result_to_str  # how the tools' side words its results
    name: str | None = "bouncer"

    def __post_init__(self):
        self._gated: GatedRuntime | None = None
        self._counts = Counts()

    def query(self, query: str, runtime: FunctionsRuntime, env=EmptyEnv(), messages: Sequence = (), extra_args=None):
        extra_args = {} if extra_args is None else extra_args
        if not messages or messages[-1]["role"] != "assistant" or not messages[-1]["tool_calls"]:
            return query, runtime, env, messages, extra_args
        begins = not any(m["role"] == "tool" for m in messages)
        if begins or self._gated is None or self._gated.inner is not runtime:
            self._end()
            intent = query if self.tell else None
            self._gated = GatedRuntime(runtime, self.server, intent, self.setup, self.formatter)
        try:
            *_, env, messages, extra_args = self.executor.query(query, self._gated, env, messages, extra_args)
        except BaseException:
            gated, self._gated = self._gated, None
            gated.session.abort()
            raise
        return query, runtime, env, messages, extra_args

    def finish(self) -> Counts:
        """Ends the session and says what happened since the last time."""
        self._end()
        counts, self._counts = self._counts, Counts()
        return counts

    def _end(self):
        if self._gated is None:
            return
        session, self._gated = self._gated.session, None
        session.close()
        self._counts.add(Counts(1, session.calls, session.denied, session.asked))


def guard(pipeline, element: BouncerExecutor):
    """Puts the element where the pipeline's ToolsExecutor stands. Anything but exactly one place is an error: a
    pipeline that only looks guarded would be measured as if it were."""
    found = []
    for loop in pipeline.elements:
        if isinstance(loop, ToolsExecutionLoop):
            found += [(loop, i) for i, e in enumerate(loop.elements) if isinstance(e, ToolsExecutor)]
    if len(found) != 1 or any(isinstance(e, ToolsExecutor) for e in pipeline.elements):
        raise ValueError(f"the pipeline has {len(found)} places where tools are executed in a loop, not one")
    ((loop, i),) = found
    element.executor = loop.elements[i]
    loop.elements = [*loop.elements[:i], element, *loop.elements[i + 1 :]]
    return pipeline
