package command

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/thresh-dev/thresh/port/process"
)

// witness keeps of a result, for comparison, everything a contract could judge by except times and
// memory sizes.
type witness struct {
	ending         string
	stdout, stderr []byte
	outSize        int64
	errSize        int64
	files          string
}

func (l *lane) witness(res process.Result) (witness, error) {
	files, err := listing(l.outDir)
	if err != nil {
		return witness{}, fmt.Errorf("list the output folder: %w", err)
	}
	return witness{
		ending: ending(res), files: files,
		stdout: bytes.Clone(res.Stdout), outSize: res.StdoutSize,
		stderr: bytes.Clone(res.Stderr), errSize: res.StderrSize,
	}, nil
}

// ending describes how a case ended.
func ending(res process.Result) string {
	switch res.Status {
	case process.TimedOut:
		return "timed out"
	case process.Signaled:
		if res.CoreDumped {
			return fmt.Sprintf("signal %d with core", res.Signal)
		}
		return fmt.Sprintf("signal %d", res.Signal)
	}
	return fmt.Sprintf("exit status %d", res.ExitCode)
}

// differs describes how w differs from the truth, or returns "".
func (w witness) differs(truth witness, endAlone bool) string {
	switch {
	case w.ending != truth.ending:
		return fmt.Sprintf("%s, spawn says %s", w.ending, truth.ending)
	case endAlone:
		return ""
	case w.outSize != truth.outSize || !bytes.Equal(w.stdout, truth.stdout):
		return "standard output: " + contrast(w.stdout, truth.stdout)
	case w.errSize != truth.errSize || !bytes.Equal(w.stderr, truth.stderr):
		return "standard error: " + contrast(w.stderr, truth.stderr)
	case w.files != truth.files:
		return "files in the output folder: " + contrast([]byte(w.files), []byte(truth.files))
	}
	return ""
}

// contrast shows two byte strings from a little before their first difference.
func contrast(a, b []byte) string {
	const before, show = 16, 48
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	from := max(0, i-before)
	part := func(s []byte) string { return fmt.Sprintf("%q", s[min(from, len(s)):min(from+show, len(s))]) }
	return fmt.Sprintf("%s at byte %d, spawn says %s", part(a), from, part(b))
}

// listing lists a folder's contents recursively, with kinds and digests.
func listing(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	var b bytes.Buffer
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) {
			fmt.Fprintf(&b, "%s unreadable\n", name)
			return nil
		}
		if errors.Is(err, fs.ErrNotExist) && name == dir {
			b.WriteString("removed\n")
			return nil
		}
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		switch {
		case d.Type().IsRegular():
			sum, err := digest(name)
			if err != nil {
				sum = "unreadable"
			}
			fmt.Fprintf(&b, "%s %s\n", rel, sum)
		case d.Type()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(name)
			fmt.Fprintf(&b, "%s -> %q\n", rel, to)
		default:
			fmt.Fprintf(&b, "%s %s\n", rel, d.Type())
		}
		return nil
	})
	return b.String(), err
}

func digest(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
