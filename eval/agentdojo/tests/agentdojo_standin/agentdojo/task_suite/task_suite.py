"""A suite of tasks over one environment, and how a pipeline's work is scored."""

from agentdojo.base_tasks import BaseUserTask
from agentdojo.functions_runtime import Function, FunctionsRuntime
from agentdojo.types import get_text_content_as_str


class TaskSuite:
    def __init__(self, name, environment, tools, places):
        self.name, self.tools = name, [Function(tool) for tool in tools]
        self.environment, self.places = environment, places
        self.user_tasks, self.injection_tasks = {}, {}

    def add(self, task):
        kind = "user_task" if issubclass(task, BaseUserTask) else "injection_task"
        tasks = self.user_tasks if kind == "user_task" else self.injection_tasks
        task.ID = f"{kind}_{len(tasks)}"
        tasks[task.ID] = task()
        return task

    def get_user_task_by_id(self, task_id):
        return self.user_tasks[task_id]

    def get_injection_task_by_id(self, task_id):
        return self.injection_tasks[task_id]

    def get_injection_vector_defaults(self):
        return dict(self.places)

    def load_and_inject_default_environment(self, injections):
        assert set(injections) <= set(self.places)
        return self.environment(**{**self.places, **injections})

    def read_by(self, user_task):
        """The places whose texts the task's calls return."""
        env = self.load_and_inject_default_environment({place: f"<{place}>" for place in self.places})
        runtime = FunctionsRuntime(self.tools)
        read = [str(runtime.run_function(env, c.function, c.args)[0]) for c in user_task.ground_truth(env)]
        return [place for place in self.places if any(f"<{place}>" in text for text in read)]

    def run_task_with_pipeline(self, agent_pipeline, user_task, injection_task, injections):
        env = user_task.init_environment(self.load_and_inject_default_environment(injections))
        before = env.model_copy(deep=True)
        _, _, env, messages, _ = agent_pipeline.query(user_task.PROMPT, FunctionsRuntime(self.tools), env)
        output = get_text_content_as_str(messages[-1]["content"])
        trace = [c for m in messages if m["role"] == "assistant" for c in m["tool_calls"] or ()]
        args = output, before, env
        utility = user_task.utility_from_traces(*args, trace)
        utility = user_task.utility(*args) if utility is None else utility
        if injection_task is None:
            return utility, True
        security = injection_task.security_from_traces(*args, trace)
        return utility, injection_task.security(*args) if security is None else security
