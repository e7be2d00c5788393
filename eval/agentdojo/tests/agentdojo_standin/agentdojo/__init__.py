"""A small stand-in for AgentDojo, for tests: the names and shapes of the package's API that the programs here use, and
one suite of its own. It holds no code, task or text of AgentDojo's."""
