"""What executes a model's calls."""

import json

from agentdojo.agent_pipeline.base_pipeline_element import BasePipelineElement
from agentdojo.functions_runtime import EmptyEnv
from agentdojo.types import text_content_block_from_string


def tool_result_to_str(tool_result):
    """The real one writes YAML, which the standard library does not have."""
    return tool_result if isinstance(tool_result, str) else json.dumps(tool_result, indent=1)


class ToolsExecutor(BasePipelineElement):
    def __init__(self, tool_output_formatter=tool_result_to_str):
        self.output_formatter = tool_output_formatter

    def query(self, query, runtime, env=EmptyEnv(), messages=(), extra_args=None):
        results = []
        for call in messages[-1]["tool_calls"]:
            if call.function in runtime.functions:
                value, error = runtime.run_function(env, call.function, call.args)
                text = self.output_formatter(value)
            else:
                text, error = "", f"Invalid tool {call.function} provided."
            content = [text_content_block_from_string(text)]
            results.append(
                {"role": "tool", "content": content, "tool_call": call, "tool_call_id": call.id, "error": error}
            )
        return query, runtime, env, [*messages, *results], extra_args


class ToolsExecutionLoop(BasePipelineElement):
    def __init__(self, elements, max_iters=15):
        self.elements, self.max_iters = elements, max_iters

    def query(self, query, runtime, env=EmptyEnv(), messages=(), extra_args=None):
        for _ in range(self.max_iters):
            if messages[-1]["role"] != "assistant" or not messages[-1]["tool_calls"]:
                break
            for element in self.elements:
                query, runtime, env, messages, extra_args = element.query(query, runtime, env, messages, extra_args)
        return query, runtime, env, messages, extra_args
