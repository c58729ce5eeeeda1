package demo

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// init runs the program if the command line requests it. Thresh starts it for every case, and most of a start goes
// into initializing packages that this one does not need. Importing only the standard library, it is initialized
// before them, so a start takes 7 ms of processor time instead of 17.
func init() {
	if len(os.Args) > 1 && os.Args[1] == Command {
		os.Exit(Main(os.Args[2:]))
	}
}

// Main runs the program: args is just the scroll's file name. The result is
// written to scroll.json in the folder that LLMFUZZ_OUT_DIR names. It returns
// the exit code, or does not return if a planted bug ends the process.
func Main(args []string) int {
	// Infinite recursion must end before it uses a gigabyte.
	debug.SetMaxStack(8 << 20)
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "usage: scroll FILE")
		return 64
	}
	b, err := os.ReadFile(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, "scroll:", err)
		return 66
	}
	s, err := decode(b, os.Stdout)
	if r := (*refused)(nil); errors.As(err, &r) {
		fmt.Fprintln(os.Stderr, r.text)
		return r.code
	}
	dir := os.Getenv("LLMFUZZ_OUT_DIR")
	if dir == "" {
		return 0
	}
	var out strings.Builder
	writeJSON(&out, s)
	if err := os.WriteFile(filepath.Join(dir, "scroll.json"), []byte(out.String()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "scroll:", err)
		return 73
	}
	return 0
}

// writeJSON writes a scroll, or that it could not be read.
func writeJSON(w io.Writer, s *scroll) {
	if s == nil {
		io.WriteString(w, "{\"ok\": false}\n")
		return
	}
	fmt.Fprintf(w, "{\"ok\": true, \"date\": %s, \"depth\": %d, \"buffer\": %d, \"titles\": [", quote(s.date), s.depth, s.buffer)
	for i, t := range append(s.titles, s.order...) {
		if i > 0 {
			io.WriteString(w, ", ")
		}
		io.WriteString(w, quote(t))
	}
	io.WriteString(w, "]}\n")
}

// BUG (wrong output): it escapes quotes and control characters, but not the
// backslash.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, "?") {
		switch {
		case r == '"':
			b.WriteString(`\"`)
		case r < ' ':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
