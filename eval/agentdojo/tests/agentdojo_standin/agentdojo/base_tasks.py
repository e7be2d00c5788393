"""Tasks of users, and goals of injections."""


class BaseUserTask:
    ID: str
    PROMPT: str
    GROUND_TRUTH_OUTPUT = ""

    @staticmethod
    def init_environment(environment):
        return environment

    def utility_from_traces(self, model_output, pre_environment, post_environment, traces):
        return None


class BaseInjectionTask:
    ID: str
    GOAL: str
    GROUND_TRUTH_OUTPUT = ""

    def security_from_traces(self, model_output, pre_environment, post_environment, traces):
        return None
