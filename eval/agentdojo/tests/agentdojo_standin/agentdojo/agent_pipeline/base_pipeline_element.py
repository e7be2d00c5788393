import abc


class BasePipelineElement(abc.ABC):
    name = None

    @abc.abstractmethod
    def query(self, query, runtime, env, messages, extra_args): ...
