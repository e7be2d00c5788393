package session

import "os"

// On Windows there is no board: every decision looks at the files.

func openBoth(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR, 0) }

func mapFile(*os.File, int) ([]byte, error) { return nil, nil }

func unmap([]byte) error { return nil }
