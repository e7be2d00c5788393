"""Functions, calls of them, and what runs them."""

import copy
import inspect


class TaskEnvironment:
    """What a task's functions work on. Its fields are its attributes."""

    def __init__(self, **fields):
        vars(self).update(fields)

    def model_copy(self, deep=False):
        return copy.deepcopy(self) if deep else copy.copy(self)

    def model_dump(self, mode="python"):
        return copy.deepcopy(vars(self))


class EmptyEnv(TaskEnvironment):
    pass


class FunctionCall:
    def __init__(self, function, args, id=None, placeholder_args=None):
        self.function, self.args, self.id, self.placeholder_args = function, args, id, placeholder_args


class Parameters:
    """A function's parameters; the real one is a pydantic model."""

    TYPES = {str: "string", int: "integer", list: "array", bool: "boolean"}

    def __init__(self, function):
        all_of = list(inspect.signature(function).parameters.values())[1:]  # the first is the environment
        self.properties = {p.name: {"type": self.TYPES[p.annotation]} for p in all_of}
        self.required = [p.name for p in all_of if p.default is p.empty]

    def model_json_schema(self):
        return {"type": "object", "properties": self.properties, "required": self.required}

    def complaint(self, args):
        missing = [name for name in self.required if name not in args]
        return f"missing {', '.join(missing)}" if missing else None


class Function:
    def __init__(self, function):
        self.name, self.description, self.run = function.__name__, function.__doc__, function
        self.parameters = Parameters(function)


class FunctionsRuntime:
    def __init__(self, functions=()):
        self.functions = {f.name: f for f in functions}

    def run_function(self, env, function, kwargs, raise_on_error=False):
        try:
            return self._run(env, function, kwargs), None
        except Exception as err:
            if raise_on_error:
                raise
            return "", f"{type(err).__name__}: {err}"

    def _run(self, env, function, kwargs):
        args = {}
        for name, value in kwargs.items():
            nested = isinstance(value, FunctionCall)
            args[name] = self._run(env, value.function, value.args) if nested else value
        wanted = self.functions[function]
        if complaint := wanted.parameters.complaint(args):
            raise ValueError(complaint)
        return wanted.run(env, **args)
