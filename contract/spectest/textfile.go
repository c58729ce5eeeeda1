package spectest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/speclang"
)

// maxSubject is the maximum size of a file that a case examines.
const maxSubject = 64 << 20

// fileText is the subject of a text.file case.
type fileText struct {
	text    speclang.Value
	invalid bool // it is not UTF-8
}

func (s *fileText) subject(target string) (speclang.Value, *Failure) {
	if target != "text" {
		return speclang.Value{}, &Failure{Category: Schema, Message: "unknown assert target for text.file: " + target}
	}
	return s.text, nil
}

// readText reads the subject of a text.file case.
func (x *executor) readText(c *Case) (subjects, *Failure) {
	if c.text.self {
		own := x.session.own()
		if own.invalid {
			return nil, &Failure{Category: Schema, Message: "the document is not UTF-8 text"}
		}
		return own, nil
	}
	data, f := x.readInRoot(c.text.path, "text.file path")
	if f != nil {
		return nil, f
	}
	if !utf8.Valid(data) {
		return nil, &Failure{Category: Schema, Message: fmt.Sprintf("%s is not UTF-8 text", c.text.path)}
	}
	return &fileText{text: speclang.StringValue(unixLines(string(data)))}, nil
}

// unixLines converts all line ends to line feeds.
func unixLines(s string) string {
	if !strings.ContainsRune(s, '\r') {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// readInRoot reads a file that a document names relative to itself. Messages use the name in the
// document, so that they do not depend on where the document lies.
func (x *executor) readInRoot(name, what string) ([]byte, *Failure) {
	if strings.ContainsRune(name, 0) {
		return nil, &Failure{Category: Runtime, Message: what + " holds a NUL character"}
	}
	local := filepath.FromSlash(name)
	real := x.dir + string(filepath.Separator) + local
	if x.c.set.root != "" || !isInside(x.dir, local) {
		dir, root, err := x.real()
		if err != nil {
			return nil, &Failure{Category: Runtime, Message: "finding the folder of the document: " + diag.Reason(err)}
		}
		escapes := &Failure{Category: Schema, Message: what + " escapes contract root: " + name}
		// Not cleaned: ".." after a link is relative to the link's target.
		real, err = filepath.EvalSymlinks(dir + string(filepath.Separator) + local)
		if err != nil {
			if !within(root, filepath.Join(dir, local)) {
				return nil, escapes
			}
			return nil, &Failure{Category: Runtime, Message: fmt.Sprintf("%s: %s", name, diag.Reason(err))}
		}
		if !within(root, real) {
			return nil, escapes
		}
	}
	data, err := readFile(real)
	if err != nil {
		return nil, &Failure{Category: Runtime, Message: fmt.Sprintf("%s: %s", name, diag.Reason(err))}
	}
	return data, nil
}

func within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// readFile reads a regular file of bounded size.
func readFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a pipe would wait for its writer
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	switch {
	case st.IsDir():
		return nil, errors.New("it is a directory")
	case !st.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case st.Size() > maxSubject:
		return nil, fmt.Errorf("it is larger than %d MiB", maxSubject>>20)
	}
	data := make([]byte, st.Size())
	n, err := io.ReadFull(f, data)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return data[:n], nil
}

// places finds the beginnings of a text's lines. It stores only one in every stride lines, because
// a long document has many times more lines than cases.
type places struct {
	count int
	marks []int // offsets of lines 1, 1+stride, 1+2*stride, ...
}

const stride = 64

func findLines(text []byte, release func()) places {
	var p places
	at := 0
	for from, piece := range pieces(text, release) {
		for ; at < from+len(piece); at = lineEnd(text, at) {
			if p.count%stride == 0 {
				p.marks = append(p.marks, at)
			}
			p.count++
		}
	}
	return p
}

// start is the offset of a line, numbered from 1, which must exist.
func (p *places) start(text []byte, n int) int {
	at := p.marks[(n-1)/stride]
	for range (n - 1) % stride {
		at = lineEnd(text, at)
	}
	return at
}

// of is the line, from 1, that contains an offset; the last line for any offset beyond.
func (p *places) of(text []byte, offset int) int {
	i, exact := slices.BinarySearch(p.marks, offset)
	if !exact {
		i--
	}
	if i < 0 {
		return 1
	}
	n := i*stride + 1 + bytes.Count(text[p.marks[i]:min(offset, len(text))], []byte("\n"))
	return min(n, p.count)
}
