package spectest

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/contract/spectest/stage"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/engine/speclang"
)

// pythonEntry matches module:function: dotted names, a colon, a name.
var pythonEntry = lazy.Pattern(`^\s*[\pL_][\pL\pN_]*(\.[\pL_][\pL\pN_]*)*\s*:\s*[\pL_][\pL\pN_]*\s*$`)

// DefaultTimeout is the time limit of a command whose case gives none.
const DefaultTimeout = 60 * time.Second

func (d *decoder) cliRun(s *doctree.Section) {
	h := d.harness
	r := &cliRun{timeout: d.set.timeout, hasTitle: !s.Raw().Get("title").IsNull(), stubs: texts(h.Value("stub_modules")), blocks: texts(h.Value("block_imports")), isolate: h.True("isolate")}
	d.c.cli = r
	d.argv(s.Value("argv"))
	if k := h.Value("hook_kwargs"); k != nil {
		r.kwargs = jsonBytes(k)
	}
	d.setupFiles(h.Value("setup_files"))
	d.env(h.Value("env"))
	if t := h.Node("stdin_text"); !t.IsNull() {
		r.stdin = textOf(t)
	}
	r.tty = h.Node("stdin_isatty").Truthy()
	d.limit(&r.timeout)
	d.repeatable(true)
	d.hooks(s.Raw())
	d.entrypoint()
	if x := s.Node("exit_code"); x != nil {
		v, ok := integer(x)
		switch {
		case !ok:
			d.schema(x, "exit-code", "exit_code", "exit_code must be an integer, not %s", x.Kind)
		case !v.IsInt64():
			d.schema(x, "exit-code", "exit_code", "exit_code is not an exit code of a process")
		default:
			r.exit, r.exitAt, r.exitRaw = v.Int64(), x.Pos, x.Raw()
		}
	}
}

// texts converts a list of texts, or a single text, to a list.
func texts(n *doctree.Node) []string {
	switch {
	case n == nil:
		return nil
	case n.Kind == doctree.String:
		return []string{n.Text}
	case n.Kind == doctree.Map:
		return keys(n)
	}
	list := make([]string, len(n.Items()))
	for i := range n.Items() {
		list[i] = textOf(&n.Items()[i])
	}
	return list
}

func (d *decoder) argv(n *doctree.Node) {
	if d.c.cli.argv = texts(n); n != nil && n.Kind == doctree.Map {
		d.warn(n, "argv", "argv", "argv is a mapping: only its keys are passed", "write a list")
	}
	for i, a := range d.c.cli.argv {
		if strings.ContainsRune(a, 0) {
			d.schema(n, "argv", fmt.Sprintf("argv[%d]", i), "an argument cannot hold a NUL character")
		}
	}
}

func (d *decoder) setupFiles(n *doctree.Node) {
	if n == nil {
		return
	}
	items := n.Items()
	if n.Kind == doctree.Map {
		items = []doctree.Node{*n}
	}
	for i := range items {
		where := fmt.Sprintf("harness.setup_files[%d]", i)
		item := d.Section(&items[i], where, format().file)
		p := item.Node("path")
		if p == nil {
			continue
		}
		clean := filepath.Clean(textOf(p))
		switch path := textOf(p); {
		case p.IsNull() || strings.HasPrefix(path, "/") || path == "~" || strings.HasPrefix(path, "~/"):
			d.schema(p, "setup-files", where+".path", "setup_files item path must be relative")
		case !stage.Local(path):
			d.schema(p, "setup-files", where+".path", "setup_files item path escapes the temp directory, or names it: %s", path)
		default:
			f := stage.File{Path: clean}
			if t := item.Node("text"); !t.IsNull() {
				f.Text = textOf(t)
			}
			d.c.cli.files = append(d.c.cli.files, f)
		}
	}
}

func (d *decoder) env(n *doctree.Node) {
	if n == nil {
		return
	}
	for i := range n.Members() {
		m := &n.Members()[i]
		s := setting{name: textOf(&m.Key), absent: m.Value.IsNull()}
		if !s.absent {
			s.value = textOf(&m.Value)
		}
		if s.name == "" || strings.ContainsAny(s.name, "=\x00") || strings.ContainsRune(s.value, 0) {
			d.schema(&m.Key, "env", "harness.env", "an environment cannot hold the variable %q", s.name)
			continue
		}
		d.c.cli.env = append(d.c.cli.env, s)
	}
}

// limit reads timeout_seconds, an addition to the contract.
func (d *decoder) limit(to *time.Duration) {
	if s := d.harness.Float("timeout_seconds"); s > 0 {
		*to = time.Duration(math.Ceil(s * float64(time.Second)))
	}
}

// repeatable decides whether a case may run again just to confirm its failure.
func (d *decoder) repeatable(otherwise bool) {
	switch given := d.harness.Given("repeatable"); {
	case given && d.harness.True("repeatable") || !given && otherwise:
	case given:
		d.c.unrepeatable = "the case says that it is not repeatable"
	default:
		d.c.unrepeatable = d.c.http.method + " may change what it reaches; harness.repeatable: true allows sending it again"
	}
}

func (d *decoder) hooks(n *doctree.Node) {
	r, harness := d.c.cli, d.harness.Raw()
	for key, to := range map[string]*string{"hook_before": &r.before, "hook_after": &r.after} {
		h := harness.Get(key)
		if h.IsNull() || trimmed(h) == "" {
			continue
		}
		*to = trimmed(h)
	}
	if r.before == "" && r.after == "" {
		return
	}
	r.raw, r.harness = jsonBytes(n), jsonBytes(harness)
	if d.set.safe {
		d.fail(Runtime, d.c.pos(harness), "safe-mode", "harness", "cli.run safe mode forbids hooks", "")
	}
	reserved := map[string][]string{"hook_before": {"case", "ctx", "harness"}, "hook_after": {"case", "ctx", "result"}}
	for _, key := range []string{"hook_before", "hook_after"} {
		h := harness.Get(key)
		if h.IsNull() || trimmed(h) == "" {
			continue
		}
		if !pythonEntry().MatchString(textOf(h)) {
			d.schema(h, "hook", "harness."+key, "invalid entrypoint (expected module:attr): %s", trimmed(h))
		}
		kw := harness.Get("hook_kwargs")
		for _, name := range reserved[key] {
			if kw.Get(name) != nil {
				d.schema(&kw.Member(name).Key, "hook", "harness.hook_kwargs."+name, "%s got multiple values for keyword argument '%s'", trimmed(h), name)
			}
		}
	}
}

// entrypoint decides what runs, and how.
func (d *decoder) entrypoint() {
	r, harness := d.c.cli, d.harness.Raw()
	n := harness.Get("entrypoint")
	at := d.c.pos(harness)
	if n != nil {
		at = d.c.pos(n)
	}
	if !n.IsNull() {
		d.c.about = n.Pos
		if n.Kind == doctree.Seq {
			r.command = texts(n)
			r.entry = strings.Join(r.command, " ")
			if len(r.command) == 0 || r.command[0] == "" {
				d.fail(Schema, at, "entrypoint", "harness.entrypoint", "harness.entrypoint must name a program", "")
			}
			d.programOnly(harness)
			return
		}
		r.entry = textOf(n)
	}
	if strings.TrimSpace(r.entry) == "" {
		if d.set.safe {
			d.fail(Runtime, at, "entrypoint", "harness.entrypoint", "cli.run safe mode requires explicit harness.entrypoint", "")
			return
		}
		r.entry = d.set.entrypoint
		for _, e := range r.env {
			if e.name == envEntrypoint {
				r.entry = e.value
			}
		}
	}
	if strings.TrimSpace(r.entry) == "" {
		d.fail(Runtime, at, "entrypoint", "harness.entrypoint", "cli.run requires harness.entrypoint or "+envEntrypoint, "")
		return
	}
	if argv := d.set.aliases[strings.TrimSpace(r.entry)]; argv != nil {
		r.command = argv
	} else if pythonEntry().MatchString(r.entry) {
		r.python = true
		return
	} else {
		words, why := splitCommand(r.entry)
		if why != "" {
			d.fail(Schema, at, "entrypoint", "harness.entrypoint", why, "an entrypoint is module:function or a command line; no shell reads it")
			return
		}
		r.command = words
	}
	d.programOnly(harness)
}

// programOnly rejects keys that only a Python entrypoint supports.
func (d *decoder) programOnly(harness *doctree.Node) {
	for _, key := range []string{"block_imports", "stub_modules", "hook_before", "hook_after"} {
		n := harness.Get(key)
		if n.IsNull() || n.Kind == doctree.String && strings.TrimSpace(n.Text) == "" || n.Kind == doctree.Seq && len(n.Items()) == 0 {
			continue
		}
		d.schema(n, "python-only", "harness."+key, "harness.%s needs a Python entrypoint (module:function); this one is a command line", key)
	}
	if d.c.cli.tty {
		d.fail(Runtime, d.c.pos(harness.Get("stdin_isatty")), "capability", "harness.stdin_isatty", "only Python entrypoints can have a terminal as standard input (no capability cli.run.pty)", "")
	}
}

// budgets reads harness.spec_lang.
func (d *decoder) budgets() {
	d.c.limits, d.c.timeout = speclang.DefaultLimits(), defaultPredicateTime
	n := d.harness.Node("spec_lang")
	if !n.Truthy() {
		return
	}
	s := d.Section(n, "harness.spec_lang", format().budget)
	ms := int(d.c.timeout / time.Millisecond)
	for name, to := range map[string]*int{
		"max_steps": &d.c.limits.Steps, "max_nodes": &d.c.limits.Nodes, "max_literal_bytes": &d.c.limits.LiteralBytes, "timeout_ms": &ms,
	} {
		if x := s.Big(name); x != nil {
			*to = math.MaxInt32
			if x.IsInt64() && x.Int64() < math.MaxInt32 {
				*to = int(x.Int64())
			}
		}
	}
	d.c.timeout = time.Duration(ms) * time.Millisecond
}

// defaultPredicateTime is the contract's time limit for one predicate.
const defaultPredicateTime = 200 * time.Millisecond

func jsonBytes(n *doctree.Node) []byte {
	j := n.JSON()
	b := jsontree.Style{ASCII: true, Kept: true}.Append(nil, &j)
	if !json.Valid(b) { // not-a-number and infinities have no form in JSON
		return []byte("{}")
	}
	return b
}

// splitCommand splits a command line into words at blanks; single quotes, double quotes and
// backslashes prevent a split. No shell is involved. The second result is the reason why the line
// is not a command line.
func splitCommand(s string) ([]string, string) {
	var words []string
	var b strings.Builder
	in, quote := false, rune(0)
	escaped := false
	for _, r := range s {
		switch {
		case escaped:
			b.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, in = true, true
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				b.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, in = r, true
		case r == ' ' || r == '\t' || r == '\n' || r == '\r':
			if in {
				words = append(words, b.String())
				b.Reset()
				in = false
			}
		default:
			b.WriteRune(r)
			in = true
		}
	}
	switch {
	case quote != 0:
		return nil, "the command line has a quote that is never closed"
	case escaped:
		return nil, "the command line ends in a backslash"
	}
	if in {
		words = append(words, b.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, "the command line names no program"
	}
	if strings.ContainsRune(s, 0) {
		return nil, "the command line holds a NUL character"
	}
	return words, ""
}
