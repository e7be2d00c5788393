class OutputLogger:
    def __init__(self, logdir, live=None):
        self.logdir = logdir

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False
