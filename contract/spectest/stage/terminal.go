package stage

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/engine/seq"
)

// Key is a text to type at a terminal, after another text was printed there.
type Key struct{ After, Text string }

// Terminal is a pseudo-terminal for one command, with its keyboard input.
type Terminal struct {
	Path  string // the command opens it
	near  *os.File
	far   *os.File // held open until the command ends, so that the terminal persists
	most  int
	ended chan struct{}
	grown chan struct{} // signals more output

	mu   sync.Mutex
	keys []Key // not yet typed
	seen []byte
	from int // end of the output when the last key was typed
}

// ErrNoTerminal is the error on systems without supported pseudo-terminals.
var ErrNoTerminal = errors.New("pseudo-terminals exist only on Linux")

// OpenTerminal makes a pseudo-terminal. It keeps up to most bytes of output.
func OpenTerminal(columns, rows, most int, keys []Key) (*Terminal, error) {
	t, err := terminal(columns, rows)
	if err != nil {
		return nil, err
	}
	t.keys, t.most, t.ended, t.grown = keys, most, make(chan struct{}), make(chan struct{}, 1)
	t.grown <- struct{}{} // for keys that wait for no output
	go t.read()
	go t.press()
	return t, nil
}

func (t *Terminal) read() {
	defer close(t.ended)
	defer close(t.grown)
	part := make([]byte, 32<<10)
	for late, over := 0, false; ; {
		n, err := t.near.Read(part)
		t.mu.Lock()
		t.seen = append(t.seen, part[:min(n, max(t.most+1-len(t.seen), 0))]...)
		t.mu.Unlock()
		select {
		case t.grown <- struct{}{}:
		default: // press has yet to look at earlier output
		}
		if errors.Is(err, os.ErrDeadlineExceeded) && late < 5 { // a busy machine, before anything was read
			late++
			_ = t.near.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			continue
		}
		if err != nil {
			if over {
				return
			}
			over = true // the last writer has closed it; Linux may report that before all output is read
		}
	}
}

// press types the keys that are due, in parallel with the reader: a program that prints without end
// takes no input while nobody reads. A terminal buffers some thousand characters, so a program that
// does not read its input blocks nothing.
func (t *Terminal) press() {
	for range t.grown {
		for text, due := t.due(); due; text, due = t.due() {
			if t.send(text) != nil {
				return
			}
		}
	}
}

// due returns the next key if the text it waits for was printed.
func (t *Terminal) due() (text string, due bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.keys) == 0 {
		return "", false
	}
	k := t.keys[0]
	at := bytes.Index(t.seen[t.from:], []byte(k.After))
	if at < 0 {
		return "", false
	}
	t.from += at + len(k.After)
	t.keys = t.keys[1:]
	return k.Text, true
}

// Close ends the terminal. It returns the output and the keys that were not typed because the text
// they wait for never came.
func (t *Terminal) Close() (printed []byte, left []Key, err error) {
	err = t.far.Close()
	_ = t.near.SetReadDeadline(time.Now().Add(time.Second)) // for processes that left its process group
	<-t.ended
	return t.seen, t.keys, errors.Join(err, t.near.Close())
}

// Screen returns what a terminal with so many rows shows after some output. It follows carriage
// returns, backspaces and the sequences that move the cursor or erase, and skips colours.
func Screen(printed string, rows int) string {
	lines, row, col := [][]rune{nil}, 0, 0
	to := func(r int) {
		row = max(r, 0)
		for len(lines) <= row {
			lines = append(lines, nil)
		}
	}
	text := []rune(printed)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\n':
			to(row + 1)
			col = 0
		case '\r':
			col = 0
		case '\b':
			col = max(col-1, 0)
		case '\t':
			col = col/8*8 + 8
		case '\x1b':
			n, final, args := sequence(text[i:])
			i += n - 1
			first := func(otherwise int) int {
				if len(args) > 0 && args[0] > 0 {
					return args[0]
				}
				return otherwise
			}
			top := max(len(lines)-rows, 0)
			switch final {
			case 'A':
				to(row - first(1))
			case 'B':
				to(row + first(1))
			case 'C':
				col += first(1)
			case 'D':
				col = max(col-first(1), 0)
			case 'G':
				col = first(1) - 1
			case 'H', 'f':
				to(top + first(1) - 1)
				if col = 0; len(args) > 1 {
					col = max(args[1]-1, 0)
				}
			case 'J':
				switch first(0) {
				case 0:
					lines[row], lines = lines[row][:min(col, len(lines[row]))], lines[:row+1]
				case 1:
					clear(lines[min(top, row):row])
					blank(lines[row], col)
				default:
					row = top
					lines[row], lines = nil, lines[:row+1]
				}
			case 'K':
				switch first(0) {
				case 0:
					lines[row] = lines[row][:min(col, len(lines[row]))]
				case 1:
					blank(lines[row], col)
				default:
					lines[row] = nil
				}
			}
		default:
			if c < ' ' && c != '\x1e' { // the mark between commands contains \x1e
				break
			}
			for len(lines[row]) <= col {
				lines[row] = append(lines[row], ' ')
			}
			lines[row][col] = c
			col++
		}
	}
	return strings.Join(seq.Map(lines, func(l []rune) string { return strings.TrimRight(string(l), " ") }), "\n")
}

// blank erases a line up to the cursor.
func blank(line []rune, col int) {
	for i := range line[:min(col+1, len(line))] {
		line[i] = ' '
	}
}

// maxMove limits how far one sequence moves the cursor.
const maxMove = 1000

// sequence parses the escape sequence at the beginning of a text.
func sequence(text []rune) (length int, final rune, args []int) {
	if len(text) < 2 {
		return len(text), 0, nil
	}
	if text[1] == ']' { // a title or a link, up to a bell or ESC \
		for i := 2; i < len(text); i++ {
			if text[i] == '\a' {
				return i + 1, 0, nil
			}
			if text[i] == '\\' && text[i-1] == '\x1b' {
				return i + 1, 0, nil
			}
		}
		return len(text), 0, nil
	}
	if text[1] != '[' {
		if strings.ContainsRune("()*+#%", text[1]) {
			return min(3, len(text)), 0, nil
		}
		return 2, 0, nil
	}
	args = []int{0}
	for i := 2; i < len(text); i++ {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			last := &args[len(args)-1]
			*last = min(*last*10+int(c-'0'), maxMove)
		case c == ';':
			args = append(args, 0)
		case c >= '@' && c <= '~':
			return i + 1, c, args
		}
	}
	return len(text), 0, nil
}
