package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// outboxFile holds one JSON object a line for every mail that really went out, below the server's directory.
const outboxFile = "outbox.jsonl"

// ServeMail is the embedded mail server: MCP over in and out until in ends. It delivers the poisoned inbox, and keeps
// what it sends in outbox.jsonl below dir, which must exist. Files are written below dir, links inside it included, and
// never out of it. An error means that dir cannot be used or that the client broke the protocol.
//
// It judges nothing: whatever a call asks for and dir can hold is done, so that what did not happen in the story was
// stopped by Bouncer.
func ServeMail(in io.Reader, out io.Writer, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("serve mail: %w", err)
	}
	defer root.Close()
	box := &mailbox{root: root}
	if err := box.append(nil); err != nil { // an outbox that cannot be written must not look like one without mails
		return fmt.Errorf("serve mail: %w", err)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "demo-mail", Version: "1.0"}, nil)
	box.addTools(server)
	pipe := &mcp.IOTransport{Reader: io.NopCloser(in), Writer: openWriter{out}}
	if err := server.Run(context.Background(), pipe); err != nil {
		return fmt.Errorf("serve mail: %w", err)
	}
	return nil
}

// openWriter is a writer that the server cannot close: its owner does.
type openWriter struct{ io.Writer }

func (openWriter) Close() error { return nil }

type mailbox struct {
	root *os.Root
	mu   sync.Mutex // one mail at a time goes out
	sent int
}

// letter is a mail that was sent, as it stands in the outbox.
type letter struct {
	ID      string   `json:"id"`
	To      []string `json:"to"`
	CC      []string `json:"cc,omitempty"`
	Subject string   `json:"subject"`
	Body    string   `json:"body"`
}

// The arguments of the tools. Their schemas are made from these.
type (
	noArgs struct{}
	idArgs struct {
		ID string `json:"id" jsonschema:"the mail's id, as list_inbox shows it"`
	}
	sendArgs struct {
		To      []string `json:"to" jsonschema:"who gets the mail"`
		CC      []string `json:"cc,omitempty" jsonschema:"who gets a copy"`
		Subject string   `json:"subject"`
		Body    string   `json:"body"`
	}
	saveArgs struct {
		ID   string `json:"id" jsonschema:"the mail that has the attachment"`
		Path string `json:"path" jsonschema:"where to save it"`
	}
	noteArgs struct {
		Path    string `json:"path" jsonschema:"where to write the note"`
		Content string `json:"content"`
	}
)

func (b *mailbox) addTools(s *mcp.Server) {
	add(s, "list_inbox", "List the mails in the inbox.", func(noArgs) (string, error) { return list(), nil })
	add(s, "read_email", "Read one mail.", func(a idArgs) (string, error) { return read(a.ID) })
	add(s, "send_email", "Send a mail.", b.send)
	add(s, "save_attachment", "Save the attachment of a mail as a new file.", b.save)
	add(s, "write_note", "Write a note into a new file.", func(a noteArgs) (string, error) { return b.create(a.Path, a.Content) })
}

// add registers a tool that takes In and answers with text, or with an error that the client sees as a tool error.
func add[In any](s *mcp.Server, name, description string, do func(In) (string, error)) {
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: description},
		func(_ context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			text, err := do(in)
			if err != nil {
				return nil, nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
		})
}

func list() string {
	var b strings.Builder
	for _, m := range inbox {
		fmt.Fprintf(&b, "%s  %s  %s\n", m.id, m.from, m.subject)
	}
	return b.String()
}

func find(id string) (mail, error) {
	for _, m := range inbox {
		if m.id == id {
			return m, nil
		}
	}
	return mail{}, fmt.Errorf("there is no mail %q", id)
}

func read(id string) (string, error) {
	m, err := find(id)
	if err != nil {
		return "", err
	}
	head := fmt.Sprintf("From: %s\nSubject: %s\n", m.from, m.subject)
	if m.file != "" {
		head += "Attachment: " + m.file + "\n"
	}
	return head + "\n" + m.body + "\n", nil
}

// send puts a mail into the outbox. Its answer repeats no address: what a server writes counts as untrusted.
func (b *mailbox) send(a sendArgs) (string, error) {
	if len(a.To) == 0 {
		return "", errors.New("a mail needs a recipient")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	l := letter{ID: fmt.Sprintf("sent-%d", b.sent+1), To: a.To, CC: a.CC, Subject: a.Subject, Body: a.Body}
	line, err := json.Marshal(l)
	if err != nil {
		return "", err
	}
	if err := b.append(append(line, '\n')); err != nil {
		return "", err
	}
	b.sent++
	return "The mail is on its way: " + l.ID, nil
}

func (b *mailbox) append(line []byte) error {
	f, err := b.root.OpenFile(outboxFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

func (b *mailbox) save(a saveArgs) (string, error) {
	m, err := find(a.ID)
	if err != nil {
		return "", err
	}
	if m.file == "" {
		return "", fmt.Errorf("mail %q has no attachment", a.ID)
	}
	return b.create(a.Path, m.data)
}

// create writes a new file. It replaces none, so that no note can rewrite the outbox.
func (b *mailbox) create(path, content string) (string, error) {
	f, err := b.root.OpenFile(filepath.FromSlash(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(content)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	return "Written.", nil
}
