from agentdojo.office import suite

SUITES = {"v1.2.2": {suite.name: suite}}


def get_suites(benchmark_version):
    return SUITES.get(benchmark_version, {})


def get_suite(benchmark_version, suite_name):
    return SUITES[benchmark_version][suite_name]
