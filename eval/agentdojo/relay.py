"""The tool server that `bouncer run` starts here: it passes lines between its stdin and stdout and a socket.

The tools themselves live in AgentDojo's process, with the environment that they change. Nothing is read or judged here.
"""

import os
import socket
import sys
import threading

TOKEN = "BOUNCER_EVAL_TOKEN"  # environment variable; an argument could be read by other users


def pump(source, target):
    """Copies lines until source ends."""
    for line in source:
        target.write(line)
        target.flush()


def answers(lines):
    pump(lines, sys.stdout.buffer)
    os._exit(0)  # whoever answers is gone; the other thread sits in a read


def main():
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as sock:
        lines = sock.makefile("rwb")
        lines.write(os.environ[TOKEN].encode() + b"\n")
        threading.Thread(target=answers, args=(lines,), daemon=True).start()
        pump(sys.stdin.buffer, lines)


if __name__ == "__main__":
    main()
