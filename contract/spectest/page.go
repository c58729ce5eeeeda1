package spectest

import (
	"cmp"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/contract/spectest/stage"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/lazy"
)

// typePage is the type of a case made of a page's transcripts.
const typePage = "console"

// page holds the console blocks of a page: one case with steps. They run in order, in one folder
// made for the case.
type page struct {
	acts      []act
	rules     redactions
	link      []string   // paths linked into the folder, relative to the document
	languages []language // defined by the page in addition to the built-in ones
	serves    bool       // there is a background block
}

// act is a block of a page: a file, or commands with their output.
type act struct {
	stage.File
	blockKeys
	line, to int // lines of the opening and closing fence
	language *language
	steps    []pageStep
}

// blockKeys are the words of a console block's opening fence.
type blockKeys struct {
	id, skip, stdin, ready string
	needs                  []string
	env                    [][2]string
	timeout                time.Duration
	background, once, own  bool
	loose                  bool // output that the page does not show is not compared
	terminal               *terminalKeys
	setup, teardown        bool // run once for the cases of the document
	captures               []capture
}

// pageStep is one command with its expected output.
type pageStep struct {
	command    string
	line       int // of the prompt
	from, to   int // offsets of the output lines, without the exit code's
	want       []string
	exit       int
	exitAt     int // offset of the line of the exit code; 0: there is none
	exitLength int
	blank      int // blank lines after the output
	indent     int // of the block
	language   *language
	unseen     bool // the page does not show the output
	anyExit    bool // nor the exit code
}

// infoWord matches a word after a fence; quotes keep blanks together, \" is a quote within them.
var infoWord = lazy.Pattern(`(?:"(?:\\"|[^"])*(?:"|$)|[^" \t])+`)

func infoWords(info string) []string {
	words := infoWord().FindAllString(info, -1)
	for i := range words {
		words[i] = strings.NewReplacer(`\"`, `"`, `"`, "").Replace(words[i])
	}
	return words
}

// pages reads the console blocks of a document: one case for the page, and one for each isolated
// block.
func (d *document) pages(s *settings) (cases []*Case, faults diag.List) {
	if d.format != "md" || !showsRuns(d.text, d.release) {
		return nil, nil
	}
	whole := &page{}
	d.frontMatter(whole, s, &faults)
	var files, fixture []act
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
	own := func(info string) bool {
		words := infoWords(info)
		_, file := fileOf(words)
		return file || whole.languageOf(words) != nil
	}
	var program *pageStep // the next fence may be its output
	for _, f := range fences(d.text, own, d.release) {
		words := infoWords(f.info)
		a := act{line: d.lineOf(f.open), blockKeys: blockKeys{timeout: s.timeout}}
		notRun := func(message, hint string) {
			w := d.problem(doctree.Pos{Line: a.line, Col: 1}, "console-key", "", message, hint)
			w.Level = diag.Warning
			faults = append(faults, w)
		}
		if f.quoted {
			if own(f.info) {
				notRun("a block in a quotation is not run", "begin its lines without >")
			}
			continue
		}
		above := program
		program = nil
		if a.language = whole.languageOf(words); a.language == nil {
			if above != nil && len(words) > 0 && words[0] == "output" {
				d.output(f, above)
				continue
			}
			if len(words) > 1 && words[1] == "run" {
				notRun(whole.unknownLanguage(words[0]))
				continue
			}
			if name, ok := fileOf(words); ok {
				a.Path, a.Text = name, body(d.text[f.start:f.end], f.indent)
				if !stage.Local(name) {
					faults = append(faults, d.problem(doctree.Pos{Line: a.line, Col: 1}, "page-file", "file", fmt.Sprintf("%q leaves the folder of the page", name), "name a file relative to it"))
				}
				files = append(files, a)
				whole.acts = append(whole.acts, a)
			} else if name := whole.resembling(f.info); name != "" {
				notRun("the block is not run: its fence must open with ```"+name+" run", "")
			}
			continue
		}
		if !f.closed {
			faults = append(faults, d.problem(doctree.Pos{Line: a.line, Col: 1}, "unclosed-block", "", "the block is never closed", "close it with a fence of the same characters, at least as long"))
		}
		d.blockKeys(words[2:], &a, &faults)
		a.language = a.language.prompted(d.text[f.start:f.end])
		if a.language.program == "" {
			a.steps = d.steps(f, &a, &faults)
		} else {
			a.steps = d.programSteps(f, &a)
			program = &a.steps[0]
		}
		d.checkTerminalKeys(&a, &faults)
		to := d.lineOf(max(f.end-1, f.open)) + 1
		a.to = to
		if a.own {
			p := &page{rules: whole.rules, link: whole.link, acts: append(slices.Clone(files), a)}
			c := add(p, a)
			c.To, c.unrepeatable = to, onceReason(a)
			continue
		}
		if cases := d.units() > 0; cases && (a.setup || a.teardown) {
			fixture = append(fixture, a)
			if main == nil {
				whole.acts, whole.serves = append(whole.acts, a), whole.serves || a.background
				continue
			}
		} else if main == nil {
			main = add(whole, a)
		}
		whole.acts = append(whole.acts, a)
		whole.serves = whole.serves || a.background
		if main.To = to; main.unrepeatable == "" {
			main.unrepeatable = onceReason(a)
		}
	}
	if fixture != nil {
		p := &page{rules: whole.rules, link: whole.link, acts: slices.Concat(files, fixture), serves: true}
		d.fixture = &Case{ID: "setup", Type: typePage, From: fixture[0].line, To: fixture[0].line, page: p}
	}
	return cases, faults
}

// resembling is the language of a block that may be meant to run; "": none.
func (p *page) resembling(info string) string {
	words := looseWords(info)
	if slices.Contains(words, "run") {
		for _, w := range words {
			if p.languageOf([]string{w, "run"}) != nil {
				return w
			}
		}
	}
	return ""
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

// body is the text of a block, without the indentation of its fence.
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

// consoleKeys are the words that a console block accepts.
func consoleKeys() []string {
	return []string{"background", "capture", "env", "id", "isolate", "keys", "loose", "needs", "once", "ready", "setup", "skip", "stdin", "teardown", "timeout", "tty"}
}

func (d *document) blockKeys(words []string, a *act, faults *diag.List) {
	wrong := func(key, message, hint string) {
		*faults = append(*faults, d.problem(doctree.Pos{Line: a.line, Col: 1}, "console-key", key, message, hint))
	}
	for _, w := range words {
		key, value, valued := strings.Cut(w, "=")
		flag := map[string]*bool{"background": &a.background, "once": &a.once, "isolate": &a.own, "loose": &a.loose, "setup": &a.setup, "teardown": &a.teardown}[key]
		text := map[string]*string{"id": &a.id, "skip": &a.skip, "stdin": &a.stdin, "ready": &a.ready}[key]
		switch {
		case flag != nil:
			if *flag = !valued; valued {
				wrong(key, key+" takes no value", "")
			}
		case !slices.Contains(consoleKeys(), key):
			wrong(key, fmt.Sprintf("a console block has no key %q", key), cmp.Or(diag.DidYouMean(key, consoleKeys()), "known are "+oneOf(consoleKeys())))
		case key == "tty":
			a.terminal = a.terminal.sized(value, valued, wrong)
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
					wrong(key, fmt.Sprintf("%q is not NAME=VALUE", pair), "")
				}
				a.env = append(a.env, [2]string{name, v})
			}
		case key == "capture":
			a.captures = pageCaptures(value, a.line, wrong)
		case key == "keys":
			a.terminal = a.terminal.typed(value, wrong)
		case key == "timeout":
			limit, err := time.ParseDuration(value)
			if err != nil || limit <= 0 {
				wrong(key, fmt.Sprintf("%q is not a time", value), "such as 90s or 2m")
			}
			a.timeout = limit
		}
	}
	if a.ready != "" && !a.background {
		wrong("ready", "ready is for background blocks", "")
	}
	if a.setup && a.teardown || (a.setup || a.teardown) && a.own {
		wrong("setup", "setup, teardown and isolate exclude each other", "")
	}
	if a.teardown && a.background {
		wrong("teardown", "teardown does not run in the background", "")
	}
	if a.stdin != "" && !stage.Local(a.stdin) {
		wrong("stdin", fmt.Sprintf("%q leaves the folder of the page", a.stdin), "name a file relative to it")
	}
}

// pageCaptures reads what a block captures from the output of its last command: NAME=$.JSON.PATH,
// NAME=/REGEX/ or NAME= for all of it, separated by commas.
func pageCaptures(text string, line int, wrong func(key, message, hint string)) (list []capture) {
	at := captureName().FindAllStringSubmatchIndex(text, -1)
	if len(at) == 0 || at[0][0] != 0 {
		wrong("capture", fmt.Sprintf("%q is not NAME=$.PATH, NAME=/REGEX/ or NAME=", text), "")
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
			err = c.readPath()
		case len(c.what) > 1 && strings.HasPrefix(c.what, "/") && strings.HasSuffix(c.what, "/"):
			c.source, c.what = "regex", c.what[1:len(c.what)-1]
			c.pattern, err = regexp.Compile(c.what)
		case c.what != "":
			err = fmt.Errorf("%q is neither $.PATH nor /REGEX/", c.what)
		}
		if err != nil {
			wrong("capture", c.name+": "+err.Error(), "")
		}
		list = append(list, c)
	}
	return list
}

// captureName matches a name and its equals sign in the list of a block's captures.
var captureName = lazy.Pattern(`(?:^|,)([A-Za-z_][A-Za-z0-9_]*)=`)

// frontMatter reads the keys redact, link and interpreters of the YAML front matter; options add to
// them.
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
		return // front matter of another program
	}
	rules := root.Get("redact")
	for i := 0; rules != nil && i < len(rules.Members()); i++ {
		m := &rules.Members()[i]
		if err := p.rules.add(textOf(&m.Key), textOf(&m.Value)); err != nil {
			*faults = append(*faults, d.problem(m.Value.Pos, "redact", "redact", err.Error(), ""))
		}
	}
	known := root.Get("interpreters")
	for i := 0; known != nil && i < len(known.Members()); i++ {
		m := &known.Members()[i]
		if err := p.interpreter(textOf(&m.Key), textOf(&m.Value)); err != nil {
			*faults = append(*faults, d.problem(m.Value.Pos, "console-key", "interpreters", err.Error(), "such as lua5.4 FILE"))
		}
	}
	links := root.Get("link")
	for i := 0; links != nil && i < len(links.Items()); i++ {
		p.link = append(p.link, textOf(&links.Items()[i]))
	}
}

// missing says why a block cannot run here; "" if it can.
func (a *act) missing(lookPath func(string) bool, getenv func(string) string) string {
	if a.skip != "" {
		return a.skip
	}
	for _, n := range a.needs {
		name, variable := strings.CutPrefix(n, "$")
		switch {
		case n == "":
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
	if list := a.language.programs(); list != nil && !slices.ContainsFunc(list, lookPath) {
		return "needs " + list[0]
	}
	return ""
}

// blocks is the number of command blocks of the page.
func (p *page) blocks() int {
	n := 0
	for i := range p.acts {
		if p.acts[i].steps != nil {
			n++
		}
	}
	return n
}
