// Command record runs thresh and draws its output as an animated SVG picture of a terminal, light
// or dark like the reader's screen:
//
//	go run -C tools/record . -o docs/pictures/demo.svg
//
// The commands really run; the pace is the picture's own, and what varies between equal runs is
// replaced, so that the same program gives the same bytes.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// commands are the first commands of a new user.
var commands = []string{
	"thresh demo --quiet",
	"thresh replay F-43dc605528",
	"thresh show F-43dc605528 | head -n 16",
}

const label = "Terminal: thresh demo finds the planted bugs of every format; thresh replay shows one of them again; thresh show prints its evidence"

// varies lists what equal runs print differently, with replacements.
var varies = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`in \d[\d.]* ?(ms|s)\b`), "in 9.8s"},
	{regexp.MustCompile(`\br[0-9a-f]{8}-\d+\b`), "r0123abcd-1"},
	{regexp.MustCompile(`[\d,]+/s · [\d.]+ (ms|s)`), "1,000/s · 9.8 s"},
}

// columns is the number of characters per line.
const columns = 96

// Measures of the picture, in pixels, and its pace, in seconds.
const (
	width, margin, lineHeight, letter = 860, 18, 19, 8.43
	perLetter, perLine, pause         = 0.045, 0.05, 1.4
)

var styles = []struct {
	class string
	what  *regexp.Regexp
}{
	{"bad", regexp.MustCompile(`\b(CRITICAL|HIGH|FAIL)\b`)},
	{"mid", regexp.MustCompile(`\b(MEDIUM|LOW)\b`)},
	{"good", regexp.MustCompile(`all held|PASS`)},
}

func main() {
	out := flag.String("o", "docs/pictures/demo.svg", "the picture; a path from the root of the repository")
	flag.Parse()
	if err := record(*out); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func record(out string) error {
	root, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return fmt.Errorf("find the repository: %w", err)
	}
	dir, err := os.MkdirTemp("", "record")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "bin", "thresh"), "./cmd/thresh")
	build.Dir = strings.TrimSpace(string(root))
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	var p picture
	for _, c := range commands {
		lines, err := run(dir, c)
		if err != nil {
			return err
		}
		p.command(c, lines)
	}
	if !filepath.IsAbs(out) {
		out = filepath.Join(build.Dir, out)
	}
	return os.WriteFile(out, p.svg(), 0o644)
}

// run is the output of a command on a terminal of 80 columns.
func run(dir, command string) ([]string, error) {
	c := exec.Command("sh", "-c", command)
	c.Dir = dir
	c.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "COLUMNS=80", "NO_COLOR=1")
	text, err := c.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() != 1 || err != nil && exit == nil { // 1: findings
		return nil, fmt.Errorf("%s: %w: %s", command, err, text)
	}
	for _, v := range varies {
		text = v.what.ReplaceAll(text, []byte(v.as))
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n"), nil
}

// picture is the text of a terminal so far, and the time of the next line.
type picture struct {
	body bytes.Buffer
	rows int
	at   float64
}

// command adds a line that is typed letter by letter, and its output.
func (p *picture) command(words string, lines []string) {
	p.at += 0.6
	typed := perLetter * float64(len(words))
	y := p.next()
	fmt.Fprintf(&p.body, `<text class="p" x="%d" y="%d" style="animation-delay:%.2fs">$</text>`+"\n", margin, y, p.at)
	for i, r := range words {
		if r != ' ' {
			fmt.Fprintf(&p.body, `<text class="c" x="%.1f" y="%d" style="animation-delay:%.2fs">%s</text>`+"\n",
				margin+letter*float64(i+2), y, p.at+perLetter*float64(i), html.EscapeString(string(r)))
		}
	}
	p.at += typed + 0.5
	for _, l := range lines {
		for r := []rune(l); ; r = r[columns:] { // as a terminal wraps it
			p.line(string(r[:min(len(r), columns)]))
			if len(r) <= columns {
				break
			}
		}
	}
	p.rows++
	p.at += pause
}

func (p *picture) line(text string) {
	y := p.next()
	if strings.TrimSpace(text) == "" {
		return
	}
	marked := html.EscapeString(text)
	for _, s := range styles {
		marked = s.what.ReplaceAllString(marked, `<tspan class="`+s.class+`">$0</tspan>`)
	}
	fmt.Fprintf(&p.body, `<text x="%d" y="%d" style="animation-delay:%.2fs">%s</text>`+"\n", margin, y, p.at, marked)
	p.at += perLine
}

func (p *picture) next() int {
	p.rows++
	return 44 + p.rows*lineHeight
}

func (p *picture) svg() []byte {
	height := 44 + p.rows*lineHeight + margin
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">
<!-- Made by: go run -C tools/record . -->
<style>
:root { --paper: #ffffff; --edge: #d0d7de; --ink: #1f2328; --quiet: #59636e; --bad: #b3261e; --mid: #845306; --good: #116329; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #0d1117; --edge: #3d444d; --ink: #e6edf3; --quiet: #9198a1; --bad: #ff8a80; --mid: #e3b341; --good: #56d364; }
}
rect { fill: var(--paper); stroke: var(--edge); }
circle { fill: var(--edge); }
text { font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre; fill: var(--ink); opacity: 0; animation: appear 1ms linear forwards; }
.p { fill: var(--quiet); }
.c { font-weight: bold; }
.bad { fill: var(--bad); font-weight: bold; }
.mid { fill: var(--mid); font-weight: bold; }
.good { fill: var(--good); }
@keyframes appear { to { opacity: 1; } }
@media (prefers-reduced-motion: reduce) { text { animation: none; opacity: 1; } }
</style>
<rect x="0.5" y="0.5" width="%d" height="%d" rx="8"/>
<circle cx="22" cy="22" r="6"/><circle cx="42" cy="22" r="6"/><circle cx="62" cy="22" r="6"/>
`, width, height, width, height, html.EscapeString(label), width-1, height-1)
	b.Write(p.body.Bytes())
	b.WriteString("</svg>\n")
	return b.Bytes()
}
