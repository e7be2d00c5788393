/*
 * An MCP server that does nothing, quickly: whatever stands between it and the client is what is measured. It answers
 * initialize, ping, tools/list and tools/call; its tools, echo and read_notes, answer with n bytes of text. The texts of
 * two calls differ, and hold addresses and links, so that a proxy that observes them has honest work.
 *
 * It finds members by their spelling and not by parsing. That is good enough for the frames that the programs of this
 * benchmark write, and for nothing else.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	LINE = 96,              /* bytes of one line of text; escapes never cross its end */
	LINES = 1 << 16,
	STEP = 4099,            /* lines between the texts of two calls; prime, so that all lines come up */
	MOST = LINE * LINES / 2 /* bytes of the longest text */
};

static char *text;
static size_t turn;

static void make_text(void)
{
	static const char *const words[] = {"invoice", "meeting", "quarter", "the", "report", "of", "and", "please", "ticket",
		"budget", "to", "review", "Monday", "with", "summary", "a", "contract", "draft", "attached", "for"};
	unsigned long seed = 20261201;
	if ((text = malloc((size_t)LINE * LINES + LINE)) == NULL)
		_exit(2);
	for (size_t i = 0; i < LINES; i++) {
		char line[2 * LINE];
		int n = 0;
		while (n < LINE - 40) {
			seed = seed * 6364136223846793005UL + 1442695040888963407UL;
			n += sprintf(line + n, "%s ", words[(seed >> 40) % (sizeof words / sizeof *words)]);
		}
		seed = seed * 6364136223846793005UL + 1442695040888963407UL;
		if (i % 4 == 3)
			n += sprintf(line + n, "https://h%lx.example/%lx", seed >> 52, seed >> 44 & 0xff);
		else
			n += sprintf(line + n, "p%lx@c%lx.example", seed >> 44, seed >> 32 & 0xfff);
		while (n < LINE - 2)
			line[n++] = '.';
		memcpy(line + LINE - 2, "\\n", 2);
		memcpy(text + i * LINE, line, LINE);
	}
}

static void put(struct iovec *part, int parts)
{
	while (parts > 0) {
		ssize_t sent = writev(1, part, parts);
		if (sent < 0) {
			if (errno == EINTR)
				continue;
			_exit(0); /* nobody listens any more */
		}
		while (parts > 0 && (size_t)sent >= part->iov_len) {
			sent -= (ssize_t)part->iov_len;
			part++, parts--;
		}
		if (parts > 0) {
			part->iov_base = (char *)part->iov_base + sent;
			part->iov_len -= (size_t)sent;
		}
	}
}

/* member returns what stands behind a name, or NULL. */
static const char *member(const char *line, size_t len, const char *name)
{
	size_t n = strlen(name);
	const char *at = memmem(line, len, name, n);
	if (at == NULL)
		return NULL;
	for (at += n; *at == ' '; at++)
		;
	return at;
}

static void answer_call(const char *line, size_t len, const char *id, int idlen)
{
	static char head[8192];
	const char *size = member(line, len, "\"n\":");
	size_t n = size == NULL ? 100 : strtoul(size, NULL, 10);
	if (text == NULL)
		make_text();
	if (n > MOST)
		n = MOST;
	turn = (turn + STEP) % (LINES / 2);
	char *from = text + turn * LINE;
	if (n > 0 && from[n - 1] == '\\')
		n--; /* half an escape */
	int h = snprintf(head, sizeof head,
		"{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"", idlen, id);
	struct iovec parts[] = {{head, (size_t)h}, {from, n}, {"\"}]}}\n", 6}};
	put(parts, 3);
}

static void answer(const char *line, size_t len)
{
	static char out[16384];
	const char *id = member(line, len, "\"id\":"), *method = member(line, len, "\"method\":\"");
	int n;
	if (id == NULL || method == NULL)
		return; /* a notification, or an answer */
	int idlen = (int)strcspn(id, ",} \n");
	if (idlen > 4096)
		return;
	if (strncmp(method, "tools/call\"", 11) == 0) {
		answer_call(line, len, id, idlen);
		return;
	}
	if (strncmp(method, "initialize\"", 11) == 0) {
		const char *version = member(line, len, "\"protocolVersion\":\"");
		if (version == NULL)
			version = "2025-06-18\"";
		n = snprintf(out, sizeof out, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"protocolVersion\":\"%.*s\","
			"\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"null\",\"version\":\"1\"}}}\n",
			idlen, id, (int)strcspn(version, "\"\n"), version);
	} else if (strncmp(method, "tools/list\"", 11) == 0) {
		n = snprintf(out, sizeof out, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"tools\":[{\"name\":\"echo\","
			"\"description\":\"Answers with n bytes of text.\",\"inputSchema\":{\"type\":\"object\",\"properties\":"
			"{\"n\":{\"type\":\"integer\"},\"to\":{\"type\":\"string\"}}}},{\"name\":\"read_notes\",\"description\":"
			"\"Reads n bytes of notes.\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}}]}}\n",
			idlen, id);
	} else if (strncmp(method, "ping\"", 5) == 0) {
		n = snprintf(out, sizeof out, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{}}\n", idlen, id);
	} else {
		n = snprintf(out, sizeof out, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":-32601,\"message\":"
			"\"method not found\"}}\n", idlen, id);
	}
	struct iovec part = {out, (size_t)n};
	put(&part, 1);
}

int main(void)
{
	size_t room = 1 << 20, have = 0;
	char *in = malloc(room + 1);
	for (;;) {
		char *line = in, *end;
		if (in == NULL)
			return 2;
		while ((end = memchr(line, '\n', have - (size_t)(line - in))) != NULL) {
			answer(line, (size_t)(end - line));
			line = end + 1;
		}
		have -= (size_t)(line - in);
		memmove(in, line, have);
		if (have == room)
			in = realloc(in, (room *= 2) + 1);
		if (in == NULL)
			return 2;
		ssize_t got = read(0, in + have, room - have);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return 0;
		have += (size_t)got;
	}
}
