package spectest

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/contract/spectest/stage"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/speclang"
)

// misplaced are the keys that a cli.run case must not have at its top level.
func misplaced() []string {
	return []string{"block_imports", "setup_files", "stdin_isatty", "stdin_text", "stub_modules"}
}

// pythonEntry is module:function: dotted names, a colon, a name.
var pythonEntry = regexp.MustCompile(`^\s*[\pL_][\pL\pN_]*(\.[\pL_][\pL\pN_]*)*\s*:\s*[\pL_][\pL\pN_]*\s*$`)

// DefaultTimeout bounds a command that its case gives no limit.
const DefaultTimeout = 60 * time.Second

func (d *decoder) cliRun(n, harness *doctree.Node) {
	r := &cliRun{timeout: d.set.timeout, hasTitle: !n.Get("title").IsNull()}
	d.c.cli = r
	d.harnessKeys(harness)
	var wrong []string
	for _, k := range misplaced() {
		if n.Get(k) != nil {
			wrong = append(wrong, k)
		}
	}
	if len(wrong) > 0 {
		d.schema(&n.Member(wrong[0]).Key, "misplaced-key", "", "move harness-only keys under 'harness:': %s", strings.Join(wrong, ", "))
	}
	d.argv(n.Get("argv"))
	if k := harness.Get("hook_kwargs"); !k.IsNull() {
		if k.Kind != doctree.Map {
			d.schema(k, "hook", "harness.hook_kwargs", "harness.hook_kwargs must be a mapping")
		} else {
			r.kwargs = jsonBytes(k)
		}
	}
	d.names(harness, "stub_modules", &r.stubs)
	d.setupFiles(harness.Get("setup_files"))
	d.env(harness.Get("env"))
	if t := harness.Get("stdin_text"); !t.IsNull() {
		r.stdin = textOf(t)
	}
	if t := harness.Get("stdin_isatty"); t != nil {
		r.tty = t.Truthy()
	}
	d.names(harness, "block_imports", &r.blocks)
	d.limit(harness, &r.timeout)
	d.flag(harness, "isolate", &r.isolate)
	d.repeatable(harness, true)
	d.hooks(n, harness)
	d.entrypoint(harness)
	if x := n.Get("exit_code"); x != nil {
		v, ok := integer(x)
		switch {
		case !ok:
			d.schema(x, "exit-code", "exit_code", "exit_code must be an integer, not %s", x.Kind)
		case !v.IsInt64():
			d.schema(x, "exit-code", "exit_code", "exit_code is no number that a process can end with")
		default:
			r.exit, r.exitAt = v.Int64(), x.Pos
		}
	}
}

func (d *decoder) harnessKeys(harness *doctree.Node) {
	if harness == nil {
		return
	}
	var unknown []string
	var first *doctree.Node
	hint := ""
	for i := range harness.Members {
		k := textOf(&harness.Members[i].Key)
		if slices.Contains(harnessKeys(typeCLI), k) {
			continue
		}
		unknown = append(unknown, k)
		if first == nil {
			first, hint = &harness.Members[i].Key, diag.DidYouMean(k, harnessKeys(typeCLI))
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		d.fail(Schema, first.Pos, "unknown-key", "harness", "unsupported harness key(s): "+strings.Join(unknown, ", "), hint)
	}
}

func (d *decoder) argv(n *doctree.Node) {
	r := d.c.cli
	switch {
	case n.IsNull():
	case n.Kind == doctree.String:
		r.argv = []string{n.Text}
	case n.Kind == doctree.Seq:
		for i := range n.Items {
			r.argv = append(r.argv, textOf(&n.Items[i]))
		}
	case n.Kind == doctree.Map:
		r.argv = keys(n)
		d.warn(n, "argv", "argv", "argv is a mapping: its keys alone are passed", "write a list")
	default:
		d.schema(n, "argv", "argv", "argv must be a list, not %s", n.Kind)
	}
	for i, a := range r.argv {
		if strings.ContainsRune(a, 0) {
			d.schema(n, "argv", fmt.Sprintf("argv[%d]", i), "an argument cannot hold a NUL character")
		}
	}
}

// names reads a list of names, or one.
func (d *decoder) names(harness *doctree.Node, key string, to *[]string) {
	n := harness.Get(key)
	switch {
	case n.IsNull():
	case n.Kind == doctree.String:
		*to = []string{n.Text}
	case n.Kind == doctree.Seq:
		for i := range n.Items {
			*to = append(*to, textOf(&n.Items[i]))
		}
	default:
		d.schema(n, "module-names", "harness."+key, "%s must be a list of module names, not %s", key, n.Kind)
	}
}

func (d *decoder) setupFiles(n *doctree.Node) {
	if n.IsNull() {
		return
	}
	items := n.Items
	switch n.Kind {
	case doctree.Map:
		items = []doctree.Node{*n}
	case doctree.Seq:
	default:
		d.schema(n, "setup-files", "harness.setup_files", "setup_files must be a list (or mapping for a single file)")
		return
	}
	for i := range items {
		item, where := &items[i], fmt.Sprintf("harness.setup_files[%d]", i)
		if item.Kind != doctree.Map {
			d.schema(item, "setup-files", where, "setup_files item must be a mapping")
			continue
		}
		d.strange(item, where, "path", "text")
		p := item.Get("path")
		if p.IsNull() {
			d.schema(item, "setup-files", where, "setup_files item missing required key: path")
			continue
		}
		f := stage.File{Path: textOf(p)}
		if strings.HasPrefix(f.Path, "/") || f.Path == "~" || strings.HasPrefix(f.Path, "~/") {
			d.schema(p, "setup-files", where+".path", "setup_files item path must be relative")
			continue
		}
		clean := filepath.Clean(f.Path)
		if !filepath.IsLocal(clean) || clean == "." || strings.ContainsRune(f.Path, 0) {
			d.schema(p, "setup-files", where+".path", "setup_files item path escapes the temp directory, or names it: %s", f.Path)
			continue
		}
		f.Path = clean
		if t := item.Get("text"); !t.IsNull() {
			f.Text = textOf(t)
		}
		d.c.cli.files = append(d.c.cli.files, f)
	}
}

func (d *decoder) env(n *doctree.Node) {
	if n.IsNull() {
		return
	}
	if n.Kind != doctree.Map {
		d.schema(n, "env", "harness.env", "harness.env must be a mapping")
		return
	}
	for i := range n.Members {
		m := &n.Members[i]
		s := setting{name: textOf(&m.Key), absent: m.Value.IsNull()}
		if !s.absent {
			s.value = textOf(&m.Value)
		}
		if s.name == "" || strings.ContainsAny(s.name, "=\x00") || strings.ContainsRune(s.value, 0) {
			d.schema(&m.Key, "env", "harness.env", "no environment can hold the variable %q", s.name)
			continue
		}
		d.c.cli.env = append(d.c.cli.env, s)
	}
}

// limit reads timeout_seconds, which is an addition of ours for cli.run.
func (d *decoder) limit(harness *doctree.Node, to *time.Duration) {
	n := harness.Get("timeout_seconds")
	if n.IsNull() {
		return
	}
	s, ok := n.Float()
	if !ok || !(s > 0) || s > 1e9 {
		d.schema(n, "timeout", "harness.timeout_seconds", "harness.timeout_seconds must be a number above 0")
		return
	}
	*to = time.Duration(math.Ceil(s * float64(time.Second)))
}

func (d *decoder) hooks(n, harness *doctree.Node) {
	r := d.c.cli
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
		if !pythonEntry.MatchString(textOf(h)) {
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

// entrypoint finds out what is run, and how.
func (d *decoder) entrypoint(harness *doctree.Node) {
	r := d.c.cli
	n := harness.Get("entrypoint")
	at := d.c.pos(harness)
	if n != nil {
		at = d.c.pos(n)
	}
	if !n.IsNull() {
		d.c.about = n.Pos
		if n.Kind == doctree.Seq {
			for i := range n.Items {
				r.command = append(r.command, textOf(&n.Items[i]))
			}
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
	} else if pythonEntry.MatchString(r.entry) {
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

// programOnly refuses what only a Python entrypoint can have.
func (d *decoder) programOnly(harness *doctree.Node) {
	for _, key := range []string{"block_imports", "stub_modules", "hook_before", "hook_after"} {
		n := harness.Get(key)
		if n.IsNull() || n.Kind == doctree.String && strings.TrimSpace(n.Text) == "" || n.Kind == doctree.Seq && len(n.Items) == 0 {
			continue
		}
		d.schema(n, "python-only", "harness."+key, "harness.%s needs a Python entrypoint (module:function); this one is a command line", key)
	}
	if d.c.cli.tty {
		d.fail(Runtime, d.c.pos(harness.Get("stdin_isatty")), "capability", "harness.stdin_isatty", "a terminal as standard input can be had for Python entrypoints alone (no capability cli.run.pty)", "")
	}
}

// budgets reads harness.spec_lang.
func (d *decoder) budgets(harness *doctree.Node) {
	d.c.limits, d.c.timeout = speclang.DefaultLimits(), defaultPredicateTime
	n := harness.Get("spec_lang")
	if n == nil || !n.Truthy() {
		return
	}
	if n.Kind != doctree.Map {
		d.schema(n, "spec-lang", "harness.spec_lang", "harness.spec_lang must be a mapping")
		return
	}
	ms := int(d.c.timeout / time.Millisecond)
	fields := []struct {
		name string
		to   *int
		low  int
	}{
		{"max_steps", &d.c.limits.Steps, 1}, {"max_nodes", &d.c.limits.Nodes, 1},
		{"max_literal_bytes", &d.c.limits.LiteralBytes, 1}, {"timeout_ms", &ms, 0},
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
		v, where := n.Get(f.name), "harness.spec_lang."+f.name
		if v.IsNull() {
			continue
		}
		if v.Kind != doctree.Int {
			d.schema(v, "spec-lang", where, "%s must be an integer", where)
			continue
		}
		x := v.Int()
		if x.Sign() < 0 || x.Sign() == 0 && f.low > 0 {
			d.schema(v, "spec-lang", where, "%s must be >= %d", where, f.low)
			continue
		}
		*f.to = math.MaxInt32
		if x.IsInt64() && x.Int64() < math.MaxInt32 {
			*f.to = int(x.Int64())
		}
	}
	d.strange(n, "harness.spec_lang", names...)
	d.c.timeout = time.Duration(ms) * time.Millisecond
}

// defaultPredicateTime is the contract's time budget of one predicate.
const defaultPredicateTime = 200 * time.Millisecond

func jsonBytes(n *doctree.Node) []byte {
	j := toJSON(n)
	b := jsontree.Style{ASCII: true, Kept: true}.Append(nil, &j)
	if !json.Valid(b) { // not-a-number and infinities have no form in JSON
		return []byte("{}")
	}
	return b
}

// splitCommand splits a command line into words: blanks part them, single
// quotes, double quotes and backslashes hold them together. No shell is
// involved; the second result says why the line is none.
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
