package provenance

import (
	"bytes"
	"strings"
)

// halves are members of one object that make an address together: {"user": "spy", "domain": "evil.example"} (A43).
type halves struct {
	locals, hosts [][]byte
}

const (
	maxHalves = 4
	maxHalf   = 66 // with its quotes
)

// name says what a member's name promises: "l" the part before the @, "h" the one behind it.
func (h *halves) name(quoted []byte) (kinds string) {
	if len(quoted) > 40 {
		return ""
	}
	name := strings.ToLower(string(quoted))
	for _, word := range []string{"user", "local", "mailbox", "login", "account", "alias", "name"} {
		if strings.Contains(name, word) {
			kinds += "l"
			break
		}
	}
	for _, word := range []string{"domain", "host", "server", "provider", "site"} {
		if strings.Contains(name, word) {
			return kinds + "h"
		}
	}
	return kinds
}

func (h *halves) add(kinds string, quoted []byte) {
	if kinds == "" || len(quoted) < 3 || len(quoted) > maxHalf {
		return
	}
	value := bytes.TrimPrefix(quoted[1:len(quoted)-1], []byte("@"))
	for _, c := range value {
		if c >= 0x80 || class[c|0x20]&inWord == 0 && class[c]&inWord == 0 {
			return
		}
	}
	if len(value) == 0 {
		return
	}
	if strings.Contains(kinds, "h") && bytes.IndexByte(value, '.') > 0 {
		if len(h.hosts) < maxHalves {
			h.hosts = append(h.hosts, bytes.Clone(value))
		}
	} else if strings.Contains(kinds, "l") && len(h.locals) < maxHalves {
		h.locals = append(h.locals, bytes.Clone(value))
	}
}

// joined returns every local part with every host.
func (h *halves) joined() (out [][]byte) {
	for _, local := range h.locals {
		for _, host := range h.hosts {
			out = append(out, bytes.Join([][]byte{local, host}, []byte("@")))
		}
	}
	return out
}
