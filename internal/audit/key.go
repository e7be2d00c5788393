package audit

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// The key pair stands beside the log, in the Bouncer home: guard keeps tools out of there. Whoever can read audit.key
// can write a log of their own; what that means is in docs/audit.md.
const (
	keyFile = "audit.key"
	pubFile = "audit.pub"
	keyName = "bouncer-audit"
)

// loadKey reads the key in dir, or makes it. The caller holds the lock: two processes that start together must not
// make two keys.
func loadKey(dir string) (note.Signer, error) {
	path := filepath.Join(dir, keyFile)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		made, _, err := note.GenerateKey(rand.Reader, keyName)
		if err != nil {
			return nil, fmt.Errorf("make the log's key: %w", err)
		}
		text = []byte(made + "\n")
		if err := writeNew(path, text); err != nil {
			return nil, fmt.Errorf("write the log's key: %w", err)
		}
	case err != nil:
		return nil, fmt.Errorf("read the log's key: %w", err)
	}
	if err := tighten(path); err != nil {
		return nil, fmt.Errorf("the log's key: %w", err)
	}
	secret := strings.TrimSpace(string(text))
	signer, err := note.NewSigner(secret)
	if err != nil {
		return nil, fmt.Errorf("the log's key %s: %w", path, err)
	}
	if err := publish(dir, secret); err != nil {
		return nil, fmt.Errorf("write the log's public key: %w", err)
	}
	return signer, nil
}

// publish writes the public half where it is missing. An existing one is not replaced: verify then says that it does
// not fit, and that is for a person to look at.
func publish(dir, secret string) error {
	path := filepath.Join(dir, pubFile)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	parts := strings.SplitN(secret, "+", 5) // PRIVATE, KEY, name, hash and the key, whose base64 may have a plus in it
	seed, err := base64.StdEncoding.DecodeString(parts[len(parts)-1])
	if err != nil || len(parts) != 5 || len(seed) != 1+ed25519.SeedSize {
		return errors.New("the key is not an Ed25519 key")
	}
	public, err := note.NewEd25519VerifierKey(keyName, ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey))
	if err != nil {
		return err
	}
	return writeNew(path, []byte(public+"\n"))
}

// writeNew writes a file that is either whole or not there.
func writeNew(path string, text []byte) error {
	temp := path + ".new"
	if err := os.WriteFile(temp, text, 0o600); err != nil {
		os.Remove(temp)
		return err
	}
	return os.Rename(temp, path)
}

// tighten takes group and others out of a file's mode.
func tighten(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return os.Chmod(path, 0o600)
}

// verifier reads a public key file.
func verifier(path string) (note.Verifier, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the log's public key: %w", err)
	}
	v, err := note.NewVerifier(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("the log's public key %s: %w", path, err)
	}
	return v, nil
}
