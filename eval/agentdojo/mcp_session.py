"""One MCP session through the real `bouncer run`, for one task of AgentDojo's.

The client's side and the tools' side are both in this process:

    Session.call -> bouncer run -> relay.py -> ToolServer -> the tool -> ... and all the way back

so what runs is what Bouncer forwarded, and nothing else. Everything here fails loudly: a session that breaks raises
BouncerError, since a figure from a run without Bouncer would be worse than none. It knows nothing of AgentDojo.
"""

import contextlib
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from relay import TOKEN
from tool_server import LONGEST, PROTOCOL, Result, ToolServer

BLOCKED = "[bouncer blocked]"
PATIENCE = 120  # seconds for one answer; the tools work in memory
READING = 0.3  # seconds a question is on the screen: what is answered faster, no person saw

# What the processes get of this one's environment. A model's key is not their business.
PASSED_ON = ("PATH", "HOME", "USERPROFILE", "LANG", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT")


class BouncerError(RuntimeError):
    """Bouncer could not be started, or broke off."""


@dataclass
class Setup:
    """How every session of a run is started."""

    bouncer: str = "bouncer"
    policy: str | None = None
    profile: str | None = None
    approve: bool = False  # every question is answered with yes; else nobody can be asked
    keep: str | None = None  # folder that the sessions' logs are kept in

    def command(self, server: str, intent: str | None) -> list[str]:
        out = [self.bouncer, "run", "--name", server]
        if self.policy:
            out += ["--policy", self.policy]
        if self.profile:
            out += ["--profile", self.profile]
        if intent:
            out.append("--intent=" + intent)  # one word: a prompt may begin with a dash
        return out


@dataclass
class Session:
    """A client's session. Use it from one thread, and close it."""

    setup: Setup
    server: str
    intent: str | None
    tools: ToolServer
    calls: int = 0
    denied: int = 0
    refused: int = 0  # of the denied, those that were no call: frames that Bouncer did not let through
    asked: int = 0  # questions, whether anybody could answer them or not; known when the session is closed
    _next: int = 0
    _lines: queue.Queue = field(default_factory=queue.Queue)

    def __post_init__(self):
        self.home = Path(tempfile.mkdtemp(prefix="bouncer-eval-"))
        self.process = None
        self.stderr = open(self.home / "stderr", "w+b")
        try:
            self._start()
            self._handshake()
        except BaseException:
            self.abort()
            raise

    def _start(self):
        env = {k: os.environ[k] for k in PASSED_ON if k in os.environ}
        env |= {"BOUNCER_HOME": str(self.home / "home"), TOKEN: self.tools.token}
        relay = [sys.executable, "-I", str(Path(__file__).with_name("relay.py")), str(self.tools.port)]
        command = [*self.setup.command(self.server, self.intent), "--", *relay]
        try:
            self.process = subprocess.Popen(
                command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr
            )
        except (OSError, ValueError) as err:
            raise BouncerError(f"start {self.setup.bouncer}: {err}") from err
        threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True).start()

    def _read(self, out):
        with out:
            while line := out.readline(LONGEST):
                self._lines.put(line)
        self._lines.put(None)

    def _handshake(self):
        capabilities = {"elicitation": {}} if self.setup.approve else {}
        info = {"name": "agentdojo", "version": "1"}
        self._must("initialize", {"protocolVersion": PROTOCOL, "capabilities": capabilities, "clientInfo": info})
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self._must("tools/list", {})

    def _must(self, method: str, params: dict):
        answer = self._request(method, params)
        if "error" in answer:
            raise self._gone(f"{method}: {answer['error']}")

    def call(self, name: str, args: dict) -> Result:
        """Makes a call, and answers the question about it if there is one."""
        answer = self._request("tools/call", {"name": name, "arguments": args})
        self.calls += 1
        if self.tools.broken is not None:
            raise self.tools.broken
        if "error" in answer:  # a frame that Bouncer does not let through
            self.denied, self.refused = self.denied + 1, self.refused + 1
            return Result(str(answer["error"].get("message", "")), failed=True, blocked=True)
        got = answer["result"]
        text = "".join(c.get("text", "") for c in got.get("content", []))
        out = Result(text, got.get("structuredContent"), bool(got.get("isError")))
        out.blocked = out.failed and text.startswith(BLOCKED)
        self.denied += out.blocked
        return out

    def _request(self, method: str, params: dict) -> dict:
        self._next += 1
        me = self._next
        self._write({"jsonrpc": "2.0", "id": me, "method": method, "params": params})
        until = time.monotonic() + PATIENCE
        while True:
            message = self._receive(until)
            if "method" in message:
                if "id" in message:
                    self._write(self._reply(message))
            # An answer without an id is to a frame whose id could not be read; there is only one.
            elif message.get("id") == me or "error" in message and message.get("id") is None:
                return message
            else:
                raise self._gone(f"an answer to {message.get('id')} instead of {me}")

    def _receive(self, until: float) -> dict:
        try:
            line = self._lines.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            raise self._gone(f"no answer for {PATIENCE} seconds") from None
        if line is None:
            raise self._gone("it ended")
        try:
            message = json.loads(line)
        except ValueError:
            raise self._gone("it wrote what is no JSON") from None
        if not isinstance(message, dict):
            raise self._gone("it wrote what is no message")
        return message

    def _reply(self, message: dict) -> dict:
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        match message["method"]:
            case "elicitation/create" if self.setup.approve:
                time.sleep(READING)
                answer["result"] = approve(message["params"])
            case "ping":
                answer["result"] = {}
            case _:
                answer["error"] = {"code": -32601, "message": "no such method"}
        return answer

    def _write(self, message: dict):
        # Escapes keep what is no Unicode out of the bytes; Bouncer refuses it by its own reading.
        frame = json.dumps(message, allow_nan=False).encode() + b"\n"
        try:
            self.process.stdin.write(frame)
            self.process.stdin.flush()
        except OSError as err:
            raise self._gone(str(err)) from err

    def _gone(self, why: str) -> BouncerError:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.stderr.seek(0)
        said = self.stderr.read()[-2000:].decode(errors="replace").strip()
        return BouncerError(f"bouncer run: {why}" + (f"; it said: {said}" if said else ""))

    def close(self):
        """Ends the session in peace and counts its questions."""
        try:
            self.process.stdin.close()
            if self.process.wait(PATIENCE) != 0:
                raise self._gone(f"exit status {self.process.returncode}")
            self.asked = self._questions()
            if self.setup.keep:
                self._keep()
        except subprocess.TimeoutExpired:
            raise self._gone("it does not end") from None
        finally:
            self.abort()

    def _questions(self) -> int:
        """Counts the calls that were a question at first. A call's later lines say how it ended."""
        asked, seen = 0, set()
        with open(self.home / "home" / "audit.jsonl", encoding="utf-8") as log:
            for line in log:
                entry = json.loads(line)
                if "verdict" in entry and entry.get("id") not in seen:
                    seen.add(entry.get("id"))
                    asked += entry["verdict"] == "ask"
        if not self.calls - self.refused <= len(seen) <= self.calls:
            raise BouncerError(f"the log has {len(seen)} calls, and {self.calls} were made")
        return asked

    def _keep(self):
        os.makedirs(self.setup.keep, exist_ok=True)
        target = tempfile.mkdtemp(prefix=f"{self.server}-", dir=self.setup.keep)
        shutil.copy(self.home / "home" / "audit.jsonl", target)

    def abort(self):
        """Ends the session at once, in whatever state it is."""
        if self.process is not None:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            with contextlib.suppress(OSError):  # what was not written yet has nowhere to go
                self.process.stdin.close()
        self.tools.close()
        self.stderr.close()
        shutil.rmtree(self.home, ignore_errors=True)


def approve(params: dict) -> dict:
    """Says yes as a tired person does: for the whole session, if that can be chosen."""
    properties = params["requestedSchema"]["properties"]
    ((name, choice),) = properties.items()
    yes = [word for word in choice["enum"] if word.startswith("Allow")]
    word = next((w for w in yes if "session" in w), yes[0])
    return {"action": "accept", "content": {name: word}}
