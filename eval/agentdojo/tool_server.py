"""The tools' side of a session: an MCP server whose calls are made in this process.

It answers relay.py, which `bouncer run` starts as the tool server. It must not judge anything, and whatever breaks here
is kept in `broken`, so that the client's side can raise it instead of telling a model about it.
"""

import contextlib
import hmac
import json
import secrets
import socket
import threading
from dataclasses import dataclass

PROTOCOL = "2025-06-18"
LONGEST = 64 << 20  # one line
PATIENCE = 120  # seconds until the relay must be there


@dataclass
class Result:
    """What became of one call."""

    text: str
    structured: object = None
    failed: bool = False
    blocked: bool = False


class ToolServer:
    """Answers what Bouncer forwards. run(name, arguments) makes the call and returns a Result."""

    def __init__(self, tools: list[dict], run):
        self.tools, self.run = tools, run
        self.token = secrets.token_hex(16)
        self.broken: BaseException | None = None  # what a tool raised that no tool should
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(PATIENCE)
        self.port = self.listener.getsockname()[1]
        self.connection: socket.socket | None = None
        self.closing = False
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def close(self):
        self.closing = True
        with contextlib.suppress(OSError):  # closing a socket does not wake the thread that waits for it
            if self.connection is None:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            else:
                self.connection.shutdown(socket.SHUT_RDWR)
        self.thread.join(10)
        self.listener.close()

    def _serve(self):
        try:
            lines = self._accept()
            while line := lines.readline(LONGEST):
                answer = self._answer(json.loads(line))
                if answer is not None:
                    lines.write(json.dumps(answer).encode() + b"\n")
                    lines.flush()
        except (OSError, ValueError) as err:
            self.broken = self.broken or err
        finally:
            if self.connection is not None:
                self.connection.close()  # Bouncer sees its server end, and so does whoever waits for an answer

    def _accept(self):
        """Waits for the relay. Any process of this machine may connect; only the relay has the token."""
        while True:
            sock, _ = self.listener.accept()
            sock.settimeout(5)
            lines = sock.makefile("rwb")
            with contextlib.suppress(OSError):
                if hmac.compare_digest(lines.readline(100).strip(), self.token.encode()):
                    sock.settimeout(None)
                    self.connection = sock
            if self.connection is not None and not self.closing:
                return lines
            with contextlib.suppress(OSError):
                lines.close()  # the socket stays open as long as this is
            sock.close()
            if self.closing:
                raise OSError("the session is over")

    def _answer(self, message: dict) -> dict | None:
        if "id" not in message or "method" not in message:
            return None  # a notification, or an answer
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        match message["method"]:
            case "initialize":
                info = {"name": "agentdojo", "version": "1"}
                answer["result"] = {"protocolVersion": PROTOCOL, "capabilities": {"tools": {}}, "serverInfo": info}
            case "ping":
                answer["result"] = {}
            case "tools/list":
                answer["result"] = {"tools": self.tools}
            case "tools/call":
                answer |= self._call(message["params"])
            case _:
                answer["error"] = {"code": -32601, "message": "no such method"}
        return answer

    def _call(self, params: dict) -> dict:
        try:
            got = self.run(params["name"], params.get("arguments", {}))
            out = {"content": [{"type": "text", "text": got.text}]}
            if got.failed:
                out["isError"] = True
            elif isinstance(got.structured, dict):
                out["structuredContent"] = got.structured
            elif got.structured is not None:
                out["structuredContent"] = {"result": got.structured}
            json.dumps(out, allow_nan=False)  # or the answer's way would break, and nobody could tell why
            return {"result": out}
        except Exception as err:
            self.broken = err
            return {"error": {"code": -32603, "message": type(err).__name__}}
