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

// Key is something typed at a terminal, once a text was printed there.
type Key struct{ After, Text string }

// Terminal is a pseudo-terminal that one command is given, with what is typed at it.
type Terminal struct {
	Path  string // what the command opens
	near  *os.File
	far   *os.File // held until the command has ended, so that the terminal is there
	most  int
	ended chan struct{}
	grown chan struct{} // more was printed

	mu   sync.Mutex
	keys []Key // that are still to be typed
	seen []byte
	from int // offset behind what was printed when the last key was typed
}

// ErrNoTerminal says that there are no pseudo-terminals on this system.
var ErrNoTerminal = errors.New("pseudo-terminals exist only on Linux")

// OpenTerminal makes a pseudo-terminal. What is printed on it is kept up to most bytes.
func OpenTerminal(columns, rows, most int, keys []Key) (*Terminal, error) {
	t, err := terminal(columns, rows)
	if err != nil {
		return nil, err
	}
	t.keys, t.most, t.ended, t.grown = keys, most, make(chan struct{}), make(chan struct{}, 1)
	t.grown <- struct{}{} // for keys that wait for nothing
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
		default: // it has yet to look at what was there before
		}
		if errors.Is(err, os.ErrDeadlineExceeded) && late < 5 { // on a busy machine before anything was read
			late++
			_ = t.near.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			continue
		}
		if err != nil {
			if over {
				return
			}
			over = true // the last one has closed it; Linux may say so before all that was printed is read
		}
	}
}

// press types what is due, beside the reader: a program that prints without end takes
// no key while nobody reads. A terminal's buffer takes some thousand characters, so
// that what the program does not read is typed behind its back.
func (t *Terminal) press() {
	for range t.grown {
		for text, due := t.due(); due; text, due = t.due() {
			if t.send(text) != nil {
				return
			}
		}
	}
}

// due takes the next key, if what it waits for was printed.
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

// Close ends the terminal. It gives what was printed, and the keys that were not
// typed because what they wait for was not.
func (t *Terminal) Close() (printed []byte, left []Key, err error) {
	err = t.far.Close()
	_ = t.near.SetReadDeadline(time.Now().Add(time.Second)) // for what has left its process group
	<-t.ended
	return t.seen, t.keys, errors.Join(err, t.near.Close())
}

// Screen returns what a person sees of what was printed on a terminal of so many rows:
// carriage returns, backspaces and the sequences that move the cursor or erase are
// followed, those that colour are skipped.
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
			if c < ' ' && c != '\x1e' { // the mark between commands has that one
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

// maxMove bounds how far a sequence moves the cursor, whatever it says.
const maxMove = 1000

// sequence takes the escape sequence apart that a text begins with.
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
