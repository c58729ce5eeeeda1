package spectest

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/contract/spectest/stage"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// typePage is the type of a case that is a page's transcripts.
const typePage = "console"

// page is what the console blocks of a page say: one case with steps. They run
// in their order, in one folder that is made for the case.
type page struct {
	acts   []act
	rules  redactions
	link   []string // what is linked into the folder, relative to the document
	serves bool     // there is a background block
}

// act is a block of a page: a file, or commands with what they print.
type act struct {
	stage.File
	blockKeys
	line  int // of the fence
	steps []pageStep
}

// blockKeys are the words of a console block's first line.
type blockKeys struct {
	id, skip, stdin, ready string
	needs                  []string
	env                    [][2]string
	timeout                time.Duration
	background, once, own  bool
	captures               []capture
}

// pageStep is one command and what the page says of it.
type pageStep struct {
	command    string
	line       int // of the prompt
	from, to   int // offsets of the lines that follow it, without the exit code's
	want       []string
	exit       int
	exitAt     int // offset of the line of the exit code; 0: there is none
	exitLength int
	indent     int // of the block
}

// consoleRun is a line that opens a block of commands.
var consoleRun = regexp.MustCompile("(?m)^[ \t]*(?:```+|~~~+)[ \t]*console[ \t]+run\\b")

// pageFence is a fenced block, found line by line.
type pageFence struct {
	open, start, end, line, indent int
	words                          []string
	closed                         bool
}

// pageFences are the fenced blocks of a page. A block within a longer fence is
// text of that one.
func pageFences(text []byte) []pageFence {
	var list []pageFence
	var char byte
	length, number := 0, 0
	for at := 0; at < len(text); at = lineEnd(text, at) {
		number++
		l := line(text, at)
		if length > 0 {
			if closes(l, char, length) {
				f := &list[len(list)-1]
				f.end, f.closed, length = at, true, 0
			}
			continue
		}
		c, n, info, ok := fenceOf(l)
		if !ok {
			continue
		}
		char, length = c, n
		list = append(list, pageFence{open: at, start: lineEnd(text, at), end: len(text), line: number, indent: len(l) - len(strings.TrimLeft(string(l), " \t")), words: infoWords(info)})
	}
	return list
}

// infoWords are the words behind a fence; quotes hold blanks together.
func infoWords(info string) []string {
	var words []string
	var b strings.Builder
	quoted, in := false, false
	for _, r := range info {
		switch {
		case r == '"':
			quoted, in = !quoted, true
		case !quoted && (r == ' ' || r == '\t'):
			if in {
				words = append(words, b.String())
			}
			b.Reset()
			in = false
		default:
			b.WriteRune(r)
			in = true
		}
	}
	if in {
		words = append(words, b.String())
	}
	return words
}

// pages reads the console blocks of a document: those of the page as one case,
// each that is isolated as one of its own.
func (d *document) pages(s *settings) (cases []*Case, faults diag.List) {
	if d.format != "md" || !consoleRun.Match(d.text) {
		return nil, nil
	}
	whole := &page{}
	d.frontMatter(whole, s, &faults)
	var files []act
	number := 0
	add := func(p *page, at act) *Case {
		number++
		c := &Case{ID: "transcript", Type: typePage, Title: "what the page shows is what is printed", From: at.line, To: at.line, page: p}
		if p != whole {
			c.ID = fmt.Sprintf("transcript-%d", number)
		}
		if at.id != "" {
			c.ID = at.id
		}
		c.at = doctree.Pos{Line: at.line, Col: 1}
		cases = append(cases, c)
		return c
	}
	var main *Case
	for _, f := range pageFences(d.text) {
		a := act{line: f.line, blockKeys: blockKeys{timeout: s.timeout}}
		if len(f.words) < 2 || f.words[0] != "console" || f.words[1] != "run" {
			if name, ok := fileOf(f.words); ok {
				a.Path, a.Text = name, body(d.text[f.start:f.end], f.indent)
				d.checkFile(f, name, &faults)
				files = append(files, a)
				whole.acts = append(whole.acts, a)
			}
			continue
		}
		if !f.closed {
			faults = append(faults, d.problem(doctree.Pos{Line: f.line, Col: 1}, "unclosed-block", "", "the block is never closed", "close it with a fence of the same characters, at least as long"))
		}
		d.blockKeys(f, &a, &faults)
		a.steps = d.steps(f, &a, &faults)
		to := d.lineOf(max(f.end-1, f.open)) + 1
		if a.own {
			p := &page{rules: whole.rules, link: whole.link, acts: append(slices.Clone(files), a)}
			c := add(p, a)
			c.To, c.unrepeatable = to, onceReason(a)
			continue
		}
		if main == nil {
			main = add(whole, a)
		}
		whole.acts = append(whole.acts, a)
		whole.serves = whole.serves || a.background
		if main.To = to; main.unrepeatable == "" {
			main.unrepeatable = onceReason(a)
		}
	}
	return cases, faults
}

func onceReason(a act) string {
	if !a.once {
		return ""
	}
	return fmt.Sprintf("the block on line %d is marked once", a.line)
}

func fileOf(words []string) (string, bool) {
	for _, w := range words {
		if name, ok := strings.CutPrefix(w, "file="); ok && !slices.Contains(words, "spec-test") {
			return name, true
		}
	}
	return "", false
}

func (d *document) checkFile(f pageFence, name string, faults *diag.List) {
	if !stage.Local(name) {
		*faults = append(*faults, d.problem(doctree.Pos{Line: f.line, Col: 1}, "page-file", "file", fmt.Sprintf("%q leads out of the folder of the page", name), "name a file relative to it"))
	}
}

// body is the text of a block whose fence is indented.
func body(text []byte, indent int) string {
	var b strings.Builder
	for l := range strings.Lines(string(text)) {
		n := 0
		for n < indent && n < len(l) && (l[n] == ' ' || l[n] == '\t') {
			n++
		}
		b.WriteString(l[n:])
	}
	return b.String()
}

// consoleKeys are the words that a console block may have.
func consoleKeys() []string {
	return []string{"background", "capture", "env", "id", "isolate", "needs", "once", "ready", "skip", "stdin", "timeout"}
}

func (d *document) blockKeys(f pageFence, a *act, faults *diag.List) {
	wrong := func(key, message, hint string) {
		*faults = append(*faults, d.problem(doctree.Pos{Line: f.line, Col: 1}, "console-key", key, message, hint))
	}
	for _, w := range f.words[2:] {
		key, value, valued := strings.Cut(w, "=")
		flag := map[string]*bool{"background": &a.background, "once": &a.once, "isolate": &a.own}[key]
		text := map[string]*string{"id": &a.id, "skip": &a.skip, "stdin": &a.stdin, "ready": &a.ready}[key]
		switch {
		case flag != nil:
			if *flag = !valued; valued {
				wrong(key, key+" takes no value", "")
			}
		case !slices.Contains(consoleKeys(), key):
			wrong(key, fmt.Sprintf("a console block has no key %q", key), cmpHint(diag.DidYouMean(key, consoleKeys()), "known are "+oneOf(consoleKeys())))
		case value == "":
			wrong(key, key+" needs a value", fmt.Sprintf(`such as %s="..."`, key))
		case text != nil:
			*text = value
		case key == "needs":
			a.needs = strings.Split(value, ",")
		case key == "env":
			for pair := range strings.SplitSeq(value, ",") {
				name, v, ok := strings.Cut(pair, "=")
				if !ok || name == "" {
					wrong(key, fmt.Sprintf("%q is no NAME=VALUE", pair), "")
				}
				a.env = append(a.env, [2]string{name, v})
			}
		case key == "capture":
			a.captures = pageCaptures(value, f.line, wrong)
		case key == "timeout":
			limit, err := time.ParseDuration(value)
			if err != nil || limit <= 0 {
				wrong(key, fmt.Sprintf("%q is no time", value), "such as 90s or 2m")
			}
			a.timeout = limit
		}
	}
	if a.ready != "" && !a.background {
		wrong("ready", "ready is for background blocks", "")
	}
	if a.stdin != "" && !stage.Local(a.stdin) {
		wrong("stdin", fmt.Sprintf("%q leads out of the folder of the page", a.stdin), "name a file relative to it")
	}
}

// pageCaptures reads what a block captures of what its last command prints:
// NAME=$.JSON.PATH, NAME=/REGEX/ or NAME= for all of it, with commas between.
func pageCaptures(text string, line int, wrong func(key, message, hint string)) (list []capture) {
	at := captureName.FindAllStringSubmatchIndex(text, -1)
	if len(at) == 0 || at[0][0] != 0 {
		wrong("capture", fmt.Sprintf("%q is no NAME=$.PATH, NAME=/REGEX/ or NAME=", text), "")
	}
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		c := capture{name: text[m[2]:m[3]], what: text[m[1]:end], line: line, source: "text", target: "stdout"}
		var err error
		switch {
		case strings.HasPrefix(c.what, "$"):
			c.source = "json"
			c.path, err = agentcall.ParsePath(c.what)
		case len(c.what) > 1 && strings.HasPrefix(c.what, "/") && strings.HasSuffix(c.what, "/"):
			c.source, c.what = "regex", c.what[1:len(c.what)-1]
			c.pattern, err = regexp.Compile(c.what)
		case c.what != "":
			err = fmt.Errorf("%q is no $.PATH and no /REGEX/", c.what)
		}
		if err != nil {
			wrong("capture", c.name+": "+err.Error(), "")
		}
		list = append(list, c)
	}
	return list
}

// captureName is a name and the sign behind it, in the list of a block's captures.
var captureName = regexp.MustCompile(`(?:^|,)([A-Za-z_][A-Za-z0-9_]*)=`)

func cmpHint(first, otherwise string) string {
	if first != "" {
		return first
	}
	return otherwise
}

// exitLine is the last line of what a command prints, where it does not end by 0.
var exitLine = regexp.MustCompile(`^(?:exit status (\d{1,3})|\[(?:exit )?(\d{1,3})\])$`)

// steps reads the commands of a block.
func (d *document) steps(f pageFence, a *act, faults *diag.List) []pageStep {
	var list []pageStep
	wrong := func(line int, message, hint string) {
		*faults = append(*faults, d.problem(doctree.Pos{Line: line, Col: 1}, "console-line", "", message, hint))
	}
	number := f.line
	continues := false
	for at := f.start; at < f.end; at = lineEnd(d.text, at) {
		number++
		l := strings.TrimSuffix(body(line(d.text, at), f.indent), "\n")
		next := lineEnd(d.text, at)
		command, prompt := strings.CutPrefix(l, "$ ")
		switch {
		case prompt:
			list = append(list, pageStep{command: command, indent: f.indent, line: number, from: next, to: next})
			continues = true
		case len(list) == 0:
			if strings.TrimSpace(l) != "" {
				wrong(number, "a line before the first command", "commands begin with \"$ \", what they print follows")
			}
		case continues && (strings.HasPrefix(l, "> ") || l == ">" || strings.HasSuffix(list[len(list)-1].command, `\`)):
			s := &list[len(list)-1]
			s.command += "\n" + strings.TrimPrefix(strings.TrimPrefix(l, ">"), " ")
			s.from, s.to = next, next
		default:
			continues = false
			s := &list[len(list)-1]
			if s.exitAt > 0 {
				s.want = append(s.want, string(line(d.text, s.exitAt))) // no last line
				s.exit, s.exitAt, s.to = 0, 0, at
			}
			if m := exitLine.FindStringSubmatch(l); m != nil {
				s.exit, _ = strconv.Atoi(m[1] + m[2])
				s.exitAt, s.exitLength = at, next-at
				continue
			}
			s.want = append(s.want, strings.TrimRight(l, " \t\r"))
			s.to = next
		}
	}
	if len(list) == 0 {
		wrong(f.line, "the block has no command", "commands begin with \"$ \", what they print follows")
	}
	for i := range list {
		if i == 0 && a.background && len(a.captures) > 0 {
			wrong(f.line, "nothing is captured of a background block", "")
		}
		if a.background && (len(list[i].want) > 0 || list[i].exitAt > 0) {
			wrong(list[i].line, "what a background command prints is not compared", "leave it out, or have another block look at what it does")
		}
	}
	return list
}

// frontMatter reads the keys redact and link of the YAML between two lines of
// three dashes that a page may begin with; options add to them.
func (d *document) frontMatter(p *page, s *settings, faults *diag.List) {
	p.rules, p.link = slices.Clone(s.redact), slices.Clone(s.link)
	if string(line(d.text, 0)) != "---" {
		return
	}
	start := lineEnd(d.text, 0)
	end := start
	for end < len(d.text) && string(line(d.text, end)) != "---" {
		end = lineEnd(d.text, end)
	}
	root, _, fault := d.tree(start, end)
	if fault != nil || end == len(d.text) {
		return // some other program's
	}
	rules := root.Get("redact")
	for i := 0; rules != nil && i < len(rules.Members); i++ {
		m := &rules.Members[i]
		if err := p.rules.add(textOf(&m.Key), textOf(&m.Value)); err != nil {
			*faults = append(*faults, d.problem(m.Value.Pos, "redact", "redact", err.Error(), ""))
		}
	}
	links := root.Get("link")
	for i := 0; links != nil && i < len(links.Items); i++ {
		p.link = append(p.link, textOf(&links.Items[i]))
	}
}

// missing says why a block cannot be run here; "" if it can.
func (a *act) missing(lookPath func(string) bool, getenv func(string) string) string {
	if a.skip != "" {
		return a.skip
	}
	for _, n := range a.needs {
		name, variable := strings.CutPrefix(n, "$")
		switch {
		case variable && getenv(name) == "":
			return "needs the variable " + name
		case variable:
		case slices.Contains([]string{"linux", "darwin", "windows", "freebsd"}, n):
			if n != runtime.GOOS {
				return "needs " + n
			}
		case !lookPath(n):
			return "needs " + n
		}
	}
	return ""
}

// blocks is how many blocks of commands the page has.
func (p *page) blocks() int {
	n := 0
	for i := range p.acts {
		if p.acts[i].steps != nil {
			n++
		}
	}
	return n
}
