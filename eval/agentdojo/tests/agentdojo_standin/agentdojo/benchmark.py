"""Runs tasks and scores them. The real one also keeps logs, and takes results from them."""


def run_task_without_injection_tasks(suite, agent_pipeline, task, logdir, force_rerun, benchmark_version=None):
    return suite.run_task_with_pipeline(agent_pipeline, task, None, {})


def run_task_with_injection_tasks(
    suite, agent_pipeline, user_task, attack, logdir, force_rerun, injection_tasks=None, benchmark_version=None
):
    utility, security = {}, {}
    for name in injection_tasks or suite.injection_tasks:
        injection = suite.get_injection_task_by_id(name)
        injections = attack.attack(user_task, injection)
        key = user_task.ID, name
        utility[key], security[key] = suite.run_task_with_pipeline(agent_pipeline, user_task, injection, injections)
    return utility, security
