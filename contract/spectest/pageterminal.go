package spectest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/contract/spectest/stage"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/lazy"
)

// terminalKeys is the terminal of a block, and its keyboard input.
type terminalKeys struct {
	columns, rows int // 0: the block asks for no terminal
	keys          []stage.Key
}

// terminalSize matches the value of tty=.
var terminalSize = lazy.Pattern(`^([1-9]\d{0,2})x([1-9]\d{0,2})$`)

func (t *terminalKeys) sized(size string, given bool, wrong func(key, message, hint string)) *terminalKeys {
	if t == nil {
		t = &terminalKeys{}
	}
	if t.columns, t.rows = 80, 24; !given {
		return t
	}
	m := terminalSize().FindStringSubmatch(size)
	if m == nil {
		wrong("tty", fmt.Sprintf("%q is not a size of a terminal", size), "columns and rows, such as tty=100x30")
		return t
	}
	t.columns, _ = strconv.Atoi(m[1]) // digits
	t.rows, _ = strconv.Atoi(m[2])
	return t
}

// env are the variables of commands at a terminal that replace the usual ones.
func (t *terminalKeys) env() [][2]string {
	if t == nil {
		return nil
	}
	return [][2]string{{"TERM", "xterm"}, {"COLUMNS", strconv.Itoa(t.columns)}, {"LINES", strconv.Itoa(t.rows)}}
}

// keyNames are the keys without a character of their own.
var keyNames = map[string]string{
	"enter": "\r", "tab": "\t", "esc": "\x1b", "space": " ", "backspace": "\x7f", "delete": "\x1b[3~",
	"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "home": "\x1b[H", "end": "\x1b[F",
	"pageup": "\x1b[5~", "pagedown": "\x1b[6~",
}

// keyMark matches a key by its name, or a text to wait for, which may begin as Python's prompt
// does.
var keyMark = lazy.Pattern(`<([a-z]+|ctrl-[a-z]|wait:>*[^>]+)>`)

func (t *terminalKeys) typed(text string, wrong func(key, message, hint string)) *terminalKeys {
	if t == nil {
		t = &terminalKeys{}
	}
	k, at := stage.Key{}, 0
	end := func() {
		if k.Text != "" || k.After != "" {
			t.keys = append(t.keys, k)
		}
	}
	for _, m := range keyMark().FindAllStringSubmatchIndex(text, -1) {
		k.Text += text[at:m[0]]
		at = m[1]
		name := text[m[2]:m[3]]
		if after, waits := strings.CutPrefix(name, "wait:"); waits {
			end()
			k = stage.Key{After: after}
			continue
		}
		char, known := keyNames[name]
		if letter, held := strings.CutPrefix(name, "ctrl-"); held {
			char, known = string(letter[0]&0x1f), true
		}
		if !known {
			names := append(slices.Sorted(maps.Keys(keyNames)), "ctrl-c", "wait:TEXT")
			wrong("keys", fmt.Sprintf("there is no key <%s>", name), cmp.Or(diag.DidYouMean(name, names), "known are "+oneOf(names)))
		}
		k.Text += char
	}
	k.Text += text[at:]
	end()
	if strings.Contains(keyMark().ReplaceAllString(text, ""), "<wait:") {
		wrong("keys", "<wait: needs a text, and a > behind it", "such as <wait:Name?>")
	}
	return t
}

// checkTerminalKeys reports keys of a block that its language does not support.
func (d *document) checkTerminalKeys(a *act, faults *diag.List) {
	wrong := func(key, message, hint string) {
		*faults = append(*faults, d.problem(doctree.Pos{Line: a.line, Col: 1}, "console-key", key, message, hint))
	}
	if t := a.terminal; t != nil {
		switch {
		case t.columns == 0:
			wrong("keys", "keys need a terminal, and the block has none", "add tty")
		case a.background:
			wrong("tty", "tty and background exclude each other", "")
		case a.stdin != "":
			wrong("tty", "tty and stdin exclude each other", "write what the program reads as keys")
		case len(t.keys) > 0 && strings.HasSuffix(t.keys[len(t.keys)-1].Text, `\n`): // otherwise the command waits until its time limit
			p := d.problem(doctree.Pos{Line: a.line, Col: 1}, "console-key", "keys", `keys end in \n, which types a backslash and an n`, "write <enter>")
			p.Level = diag.Warning
			*faults = append(*faults, p)
		}
	}
	if sh := a.language.shell; sh != nil && (a.terminal != nil || sh == powerShell && a.stdin != "") {
		wrong("tty", "PowerShell and cmd support neither tty nor keys, PowerShell no stdin", "a block of sh does")
	}
	if a.language == pythonSession && (a.terminal != nil || a.stdin != "" || a.background) {
		wrong(a.language.names[0], "a block with Python's prompts supports neither tty, keys, stdin nor background", "a block of a program does: ```python run tty")
	}
}

// screened is the terminal output of a block as it looks on the screen, separately for each
// command.
func screened(b []byte, rows int) []byte {
	parts := strings.Split(strings.ReplaceAll(validText(b), "\r\n", "\n"), "\n"+pageMark)
	for i, p := range parts {
		head, rest := "", p
		if i > 0 {
			code, after, _ := strings.Cut(p, "\n")
			head, rest = code+"\n", after
		}
		parts[i] = head + stage.Screen(rest, rows)
	}
	return []byte(strings.Join(parts, "\n"+pageMark))
}
