/*
 * The yardstick: a byte relay between a client and a server, in the fewest system calls that a program in the middle
 * can do with. One thread a direction, blocking read and write, nothing looked at.
 *
 *     relay COMMAND [ARGS...]
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROOM = 256 * 1024 };

struct direction {
	int from, to;
};

static void carry(struct direction d)
{
	char *room = malloc(ROOM);
	ssize_t got, sent;
	if (room == NULL)
		return;
	for (;;) {
		do
			got = read(d.from, room, ROOM);
		while (got < 0 && errno == EINTR);
		if (got <= 0)
			break;
		for (char *at = room; got > 0; at += sent, got -= sent) {
			do
				sent = write(d.to, at, (size_t)got);
			while (sent < 0 && errno == EINTR);
			if (sent < 0)
				goto over;
		}
	}
over:
	free(room);
}

static void *to_server(void *arg)
{
	struct direction *d = arg;
	carry(*d);
	close(d->to); /* the server sees the end of its input */
	return NULL;
}

int main(int argc, char **argv)
{
	int in[2], out[2];
	pthread_t thread;
	if (argc < 2 || pipe(in) || pipe(out))
		return 2;
	pid_t child = fork();
	if (child < 0)
		return 2;
	if (child == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[0]), close(in[1]), close(out[0]), close(out[1]);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	close(in[0]), close(out[1]);
	struct direction up = {0, in[1]}, down = {out[0], 1};
	if (pthread_create(&thread, NULL, to_server, &up))
		return 2;
	carry(down);
	_exit(0);
}
