package cli

import (
	"fmt"
	"os"
	"path/filepath"
)

// home returns the Bouncer home: $BOUNCER_HOME, else ~/.bouncer. It is not made here.
func home() (string, error) {
	if dir := os.Getenv("BOUNCER_HOME"); dir != "" {
		return filepath.Abs(dir)
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the Bouncer home: %w", err)
	}
	return filepath.Join(user, ".bouncer"), nil
}

// makeHome makes the Bouncer home, for its owner alone.
func makeHome() (string, error) {
	dir, err := home()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the Bouncer home: %w", err)
	}
	return dir, nil
}
