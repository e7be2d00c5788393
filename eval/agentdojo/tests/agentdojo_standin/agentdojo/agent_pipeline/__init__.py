from agentdojo.agent_pipeline.base_pipeline_element import BasePipelineElement
from agentdojo.agent_pipeline.tool_execution import ToolsExecutionLoop, ToolsExecutor
from agentdojo.functions_runtime import EmptyEnv
from agentdojo.types import text_content_block_from_string


class InitQuery(BasePipelineElement):
    def query(self, query, runtime, env=EmptyEnv(), messages=(), extra_args=None):
        said = {"role": "user", "content": [text_content_block_from_string(query)]}
        return query, runtime, env, [*messages, said], extra_args


class PipelineConfig:
    def __init__(self, **options):
        vars(self).update(options)


class AgentPipeline(BasePipelineElement):
    def __init__(self, elements):
        self.elements = elements

    def query(self, query, runtime, env=EmptyEnv(), messages=(), extra_args=None):
        extra_args = extra_args or {}
        for element in self.elements:
            query, runtime, env, messages, extra_args = element.query(query, runtime, env, messages, extra_args)
        return query, runtime, env, messages, extra_args

    @classmethod
    def from_config(cls, config):
        pipeline = cls([InitQuery(), config.llm, ToolsExecutionLoop([ToolsExecutor(), config.llm])])
        pipeline.name = config.llm.name
        return pipeline
