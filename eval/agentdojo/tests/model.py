"""A model that does its task and obeys every injection that it reads."""

from agentdojo.agent_pipeline import BasePipelineElement
from agentdojo.functions_runtime import EmptyEnv
from agentdojo.office import suite
from agentdojo.types import get_text_content_as_str


class Obedient(BasePipelineElement):
    name = "gpt-4o-2024-05-13"

    def query(self, query, runtime, env=EmptyEnv(), messages=(), extra_args=None):
        task = next(t for t in suite.user_tasks.values() if query == t.PROMPT)
        calls = task.ground_truth(env)
        read = " ".join(get_text_content_as_str(m["content"]) for m in messages if m["role"] == "tool")
        for injection in suite.injection_tasks.values():
            if injection.GOAL in read:
                calls += injection.ground_truth(env)
        done = sum(len(m["tool_calls"] or ()) for m in messages if m["role"] == "assistant")
        said = {"role": "assistant", "content": [{"type": "text", "content": task.GROUND_TRUTH_OUTPUT}]}
        return query, runtime, env, [*messages, {**said, "tool_calls": calls[done : done + 1] or None}], extra_args
