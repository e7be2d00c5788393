"""Sessions with a program that is not what it should be. None of them may hang, or look like one that works."""

import os
import socket
import sys
import tempfile
import unittest
from pathlib import Path

import paths  # noqa: F401

import mcp_session
from mcp_session import BouncerError, Session, Setup, approve
from tool_server import Result, ToolServer

# A program that answers the first requests as it should, and then does what the test says.
PROGRAM = """#!{python}
import json, os, sys, time
home = os.environ["BOUNCER_HOME"]
os.makedirs(home)
log = open(home + "/audit.jsonl", "w")
def answer(message, **more):
    print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], **more}}), flush=True)
def verdict(id, word):
    print(json.dumps({{"tool": "t", "verdict": word, "id": id}}), file=log, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    if message["method"] == "initialize":
        hello = message["params"]
    if message["method"] != "tools/call":
        answer(message, result={{}})
        continue
{body}
"""

ANSWER = 'answer(message, result={"content": [{"type": "text", "text": "done"}]})'


@unittest.skipUnless(os.name == "posix", "the programs are scripts")
class Broken(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.program = Path(folder.name, "bouncer")

    def session(self, body=None, text=None, **setup):
        """A session with a program whose answer to a call is body, or which is text."""
        if text is None:
            text = PROGRAM.format(python=sys.executable, body="\n".join("    " + line for line in body.splitlines()))
        self.program.write_text(text)
        self.program.chmod(0o700)
        tools = ToolServer([], lambda name, args: Result("never"))
        self.addCleanup(tools.close)
        return Session(Setup(str(self.program), **setup), "s", "do it", tools)

    def fails(self, want, body):
        session = self.session(body)
        with self.assertRaisesRegex(BouncerError, want):
            session.call("t", {})
        session.abort()
        self.assertFalse(session.home.exists())

    def test_whole(self):
        session = self.session('verdict("1", "ask"); verdict("1", "allow")\n' + ANSWER)
        self.assertEqual(session.call("t", {}), Result("done"))
        session.close()
        self.assertEqual((session.asked, session.calls, session.denied), (1, 1, 0))
        self.assertFalse(session.home.exists())

    def test_it_is_not_there(self):
        tools = ToolServer([], None)
        with self.assertRaisesRegex(BouncerError, "start /no/such/bouncer"):
            Session(Setup("/no/such/bouncer"), "s", None, tools)
        self.assertFalse(tools.thread.is_alive())

    def test_it_does_not_start(self):
        with self.assertRaisesRegex(BouncerError, "policy.yaml:3: no such key"):
            self.session(text="#!/bin/sh\necho policy.yaml:3: no such key >&2\nexit 3\n")

    def test_it_ends_in_the_middle(self):
        self.fails("it ended; it said: oh no", 'print("oh no", file=sys.stderr); sys.exit(1)')

    def test_it_writes_garbage(self):
        self.fails("no JSON", 'print("hello", flush=True)')
        self.fails("no message", 'print("[]", flush=True)')

    def test_it_answers_something_else(self):
        self.fails("an answer to 99", 'print(json.dumps({"jsonrpc": "2.0", "id": 99, "result": {}}), flush=True)')

    def test_it_never_answers(self):
        session = self.session("time.sleep(600)")
        patience, mcp_session.PATIENCE = mcp_session.PATIENCE, 0.1
        self.addCleanup(setattr, mcp_session, "PATIENCE", patience)
        with self.assertRaisesRegex(BouncerError, "no answer"):
            session.call("t", {})
        session.abort()

    def test_a_refused_frame_is_a_denial(self):
        error = '"error": {"code": -32600, "message": "not one reading"}'
        for id in ('message["id"]', "None"):
            session = self.session('print(json.dumps({"jsonrpc": "2.0", "id": %s, %s}), flush=True)' % (id, error))
            got = session.call("t", {})
            self.assertEqual((got.text, got.failed, got.blocked), ("not one reading", True, True))
            session.close()
            self.assertEqual((session.denied, session.calls), (1, 1))

    def test_a_call_that_is_not_in_the_log(self):
        session = self.session(ANSWER)
        session.call("t", {})
        with self.assertRaisesRegex(BouncerError, "the log has 0 calls, and 1 were made"):
            session.close()
        self.assertFalse(session.home.exists())

    def test_an_exit_that_is_no_success(self):
        session = self.session('verdict("1", "allow")\n' + ANSWER + "\nbreak")
        session.call("t", {})
        session.process.wait()
        session.close()
        session = self.session('verdict("1", "allow")\n' + ANSWER + "\nsys.exit(1)")
        session.call("t", {})
        with self.assertRaisesRegex(BouncerError, "exit status 1"):
            session.close()

    def test_it_is_told_whether_anybody_can_be_asked(self):
        for approve, want in ((False, {}), (True, {"elicitation": {}})):
            check = f'assert hello["capabilities"] == {want}'
            session = self.session(f'verdict("1", "allow")\n{check}\n{ANSWER}', approve=approve)
            session.call("t", {})
            session.close()

    def test_a_question_that_was_not_to_be_asked(self):
        ask = 'answer({"id": "q"}, method="elicitation/create", params={})'
        check = 'assert "error" in json.loads(sys.stdin.readline()), "answered"'
        session = self.session(f'verdict("1", "allow")\n{ask}\n{check}\n{ANSWER}')
        self.assertEqual(session.call("t", {}).text, "done")
        session.close()


class Forms(unittest.TestCase):
    def test_approve(self):
        def form(*words):
            return {"requestedSchema": {"type": "object", "properties": {"decision": {"enum": list(words)}}}}

        for words, want in (
            (("Deny", "Allow this call", "Allow for this session"), "Allow for this session"),
            (("Deny", "Allow this call"), "Allow this call"),
        ):
            self.assertEqual(approve(form(*words)), {"action": "accept", "content": {"decision": want}})
        with self.assertRaises(IndexError):  # no choice that says yes
            approve(form("Deny"))


class Tools(unittest.TestCase):
    def server(self, run=lambda name, args: Result("ran")):
        server = ToolServer([{"name": "t"}], run)
        self.addCleanup(server.close)
        return server

    def connect(self, server, token):
        sock = socket.create_connection(("127.0.0.1", server.port), 10)
        self.addCleanup(sock.close)
        lines = sock.makefile("rwb")
        self.addCleanup(lines.close)
        lines.write(token + b"\n")
        lines.flush()
        return lines

    def test_only_the_relay_is_served(self):
        server = self.server()
        stranger = self.connect(server, b"let me in")
        self.assertEqual(stranger.readline(), b"")
        lines = self.connect(server, server.token.encode())
        lines.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        lines.flush()
        self.assertEqual(lines.readline(), b'{"jsonrpc": "2.0", "id": 1, "result": {}}\n')

    def test_close_before_anybody_came(self):
        server = self.server()
        server.close()
        self.assertFalse(server.thread.is_alive())

    def test_answers(self):
        results = {
            "text": Result("a", [1]),
            "object": Result("b", {"k": 1}),
            "none": Result("c"),
            "bad": Result("d", failed=True),
        }
        server = self.server(lambda name, args: results[name])
        for name, want in (
            ("text", {"content": [{"type": "text", "text": "a"}], "structuredContent": {"result": [1]}}),
            ("object", {"content": [{"type": "text", "text": "b"}], "structuredContent": {"k": 1}}),
            ("none", {"content": [{"type": "text", "text": "c"}]}),
            ("bad", {"content": [{"type": "text", "text": "d"}], "isError": True}),
        ):
            got = server._answer({"id": 1, "method": "tools/call", "params": {"name": name}})
            self.assertEqual(got, {"jsonrpc": "2.0", "id": 1, "result": want})
        self.assertIsNone(server.broken)
        got = server._answer({"id": 1, "method": "tools/call", "params": {"name": "new"}})
        self.assertEqual(got["error"]["code"], -32603)
        self.assertIsInstance(server.broken, KeyError)
        self.assertIn("error", server._answer({"id": 1, "method": "resources/list"}))
        self.assertIsNone(server._answer({"method": "notifications/initialized"}))


if __name__ == "__main__":
    unittest.main()
