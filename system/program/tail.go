package program

import (
	"os"
	"strings"
	"sync"
)

// tailSize is how much of what a program writes is kept.
const tailSize = 16 << 10

// Tail keeps the end of what a program writes.
type Tail struct {
	mu    sync.Mutex
	from  *os.File
	kept  []byte
	fresh int    // bytes of kept that Take has not returned
	line  []byte // the last line so far, for watch
	watch func(line string)
}

func (t *Tail) add(p []byte) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - tailSize; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	t.fresh = min(t.fresh+len(p), len(t.kept))
	if t.watch == nil {
		return
	}
	for _, b := range p {
		if b == '\n' {
			t.watch(strings.TrimSuffix(string(t.line), "\r"))
			t.line = t.line[:0]
		} else if len(t.line) < tailSize {
			t.line = append(t.line, b)
		}
	}
}

// Take is what was written since it was called last.
func (t *Tail) Take() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sync()
	text := string(t.kept[len(t.kept)-t.fresh:])
	t.fresh = 0
	return strings.ToValidUTF8(text, "\uFFFD")
}

// Last is the end of all, as a clause of an error: its last lines.
func (t *Tail) Last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sync()
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "\uFFFD")), "\n")
	text := strings.Join(lines[max(0, len(lines)-5):], "\n")
	if text == "" {
		return "; it wrote nothing"
	}
	return "; it wrote last:\n" + text
}
