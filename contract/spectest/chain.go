package spectest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/agentcall"
	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/speclang"
	"github.com/thresh-dev/thresh/engine/xpath"
	"github.com/thresh-dev/thresh/port/sut"
)

// capture is a value that a case takes from what it sees, for those behind it.
type capture struct {
	name, what string // what of the source: the name of a header or cookie
	source     string // json, header, cookie, regex, or text for all of the target
	target     string // what is looked at; "": what the type of case answers with
	path       agentcall.Path
	pattern    *regexp.Regexp
	xpath      *xpath.Expr
	secret     bool
	line       int
}

// answersWith is the target that a case of a type is captured from.
var answersWith = map[string]string{typeTextFile: "text", typeCLI: "stdout", typeHTTP: "body_text", typeSystem: "value"}

// captures reads capture: names of variables, each with a JSON path or with a
// mapping that says where the value is.
func (d *decoder) captures(s *doctree.Section) {
	n := s.Value("capture")
	if n != nil && len(n.Members()) == 0 {
		d.schema(n, "capture", "capture", "capture must be a mapping of names to where their values are, such as token: $.access")
		return
	}
	for i := 0; n != nil && i < len(n.Members()); i++ {
		m := &n.Members()[i]
		c, where := capture{name: textOf(&m.Key), line: m.Key.Pos.Line}, "capture."+textOf(&m.Key)
		if !variableName.MatchString(c.name) {
			d.schema(&m.Key, "capture", where, "%q is no name of a variable: letters, digits, _, - and points", c.name)
		}
		switch v := &m.Value; {
		case v.Kind == doctree.Map:
			d.captureFrom(v, &c, where)
		case v.Kind == doctree.String && strings.HasPrefix(v.Text, "$"):
			c.source, c.what = "json", v.Text
		default:
			d.schema(v, "capture", where, "%s must be a JSON path such as $.access, or a mapping with one of %s", where, oneOf(captureSources))
		}
		var err error
		switch c.source {
		case "json":
			c.path, err = agentcall.ParsePath(c.what)
		case "regex":
			c.pattern, err = regexp.Compile(c.what)
		case "xpath":
			c.xpath, err = xpath.Compile(c.what)
		case "header", "cookie":
			if d.c.Type != typeHTTP {
				err = fmt.Errorf("%s has no %ss: they are those of api.http", d.c.Type, c.source)
			}
		}
		if err != nil {
			d.schema(&m.Value, "capture", where, "%s: %v", where, err)
		}
		d.c.captures = append(d.c.captures, c)
	}
}

func (d *decoder) captureFrom(v *doctree.Node, c *capture, where string) {
	s := d.strict(true, func() *doctree.Section { return d.Section(v, where, format().captured) })
	c.source, c.secret = "text", s.Node("secret").Truthy()
	if t := s.Node("target"); t != nil {
		c.target = textOf(t)
		if list := targets(d.c.Type); !slices.Contains(list, c.target) {
			d.schema(t, "capture", where+".target", "%s has no target %q: it has %s", d.c.Type, c.target, oneOf(list))
		}
	}
	for i := range v.Members() {
		switch m := &v.Members()[i]; {
		case !slices.Contains(captureSources, m.Key.Text):
		case c.source != "text":
			d.schema(&m.Key, "capture", where, "%s says twice where the value is: %s and %s", where, c.source, m.Key.Text)
		default:
			c.source, c.what = m.Key.Text, textOf(&m.Value)
		}
	}
}

// take looks the value up in what a case has seen.
func (c *capture) take(kind string, s subjects) (given, *Failure) {
	target := c.target
	if target == "" {
		target = answersWith[kind]
	}
	missing := func(format string, args ...any) (given, *Failure) {
		why := fmt.Sprintf(format, args...)
		return given{}, &Failure{Category: Assertion, Path: "capture." + c.name, Target: target, Op: "capture", Line: c.line,
			Message: why, Want: "a value for ${" + c.name + "}: " + why}
	}
	if a, ok := s.(*answer); ok && (c.source == "header" || c.source == "cookie") {
		h := http.Header{}
		for _, kv := range a.headers {
			h.Add(kv[0], kv[1])
		}
		if c.source == "header" {
			if list := h.Values(c.what); len(list) > 0 {
				return c.given(textValue(list[0]))
			}
			return missing("the answer has no header %s", c.what)
		}
		for _, k := range (&http.Response{Header: h}).Cookies() {
			if k.Name == c.what {
				return c.given(textValue(k.Value))
			}
		}
		return missing("the answer sets no cookie %s", c.what)
	}
	v, f := s.subject(target)
	if f != nil {
		return missing("%s", f.Message)
	}
	text, isText := v.Str()
	if !isText {
		text = v.JSON()
	}
	switch c.source {
	case "regex":
		m := c.pattern.FindStringSubmatch(text)
		if m == nil {
			return missing("nothing in %s matches %s", target, pattern(c.what))
		}
		return c.given(textValue(m[min(1, len(m)-1)]))
	case "xpath":
		v, err := c.xpath.In([]byte(text))
		switch found, isText := v.Str(); {
		case err != nil:
			return missing("%s: %v", target, err)
		case v.Kind() == speclang.Null:
			return missing("%s has nothing at %s", target, c.what)
		case isText:
			return c.given(textValue(found))
		}
		return c.given(textValue(v.JSON()))
	case "text":
		return c.given(textValue(strings.TrimRight(text, "\r\n")))
	}
	doc, err := jsontree.Parse([]byte(text), jsontree.Options{})
	if err != nil {
		return missing("%s is not JSON", target)
	}
	at := c.path.In(&doc.Root)
	if at == nil {
		return missing("%s has nothing at %s", target, c.what)
	}
	return c.given(given{node: doctree.OfJSON(at, func(int) doctree.Pos { return doctree.Pos{} })})
}

func (c *capture) given(g given) (given, *Failure) {
	g.secret = c.secret
	return g, nil
}

// chain is cases that hand values on: one case with steps.
type chain struct {
	slots []slot // of the document, in order
	needs [][]int
	cases []*Case // those that a filter takes; nil: not taken
	first int     // number of the first among the cases of the document
	c     *Case   // the case that they make
	taken []slot
}

// link finds the chains of a document: a case that uses ${NAME} needs the nearest
// case above that captures it, and one with harness.after those it names.
func (c *Campaign) link(ctx context.Context) (list diag.List) {
	c.chained, c.chains = nil, nil
	if !bytes.Contains(c.doc.text, []byte("capture")) && !bytes.Contains(c.doc.text, []byte("after")) {
		return nil
	}
	type linked struct {
		at    slot
		needs []int
		chain int // number of the first of its chain
	}
	var all []linked
	holds := make(map[string]int) // which case has captured a name last
	ids := make(map[string]int)
	later := make(map[string][]slot)
	of := func(i int) int {
		for all[i].chain != i {
			i = all[i].chain
		}
		return i
	}
	for u := 0; u < c.doc.units() && ctx.Err() == nil; u++ {
		for i, e := range c.doc.unit(u) {
			me := len(all)
			all = append(all, linked{at: slot{int32(u), int32(i)}, chain: me})
			if e.node == nil || e.node.Kind != doctree.Map {
				continue
			}
			need := func(from int) {
				all[me].needs = append(all[me].needs, from)
				a, b := of(from), of(me)
				all[max(a, b)].chain = min(a, b)
			}
			if after := e.node.Get("harness").Get("after"); !after.IsNull() && after.Kind != doctree.Map {
				wanted := []string{trimmed(after)}
				if after.Kind == doctree.Seq {
					wanted = texts(after)
				}
				for _, id := range wanted {
					if from, known := ids[id]; known {
						need(from)
					} else {
						list = append(list, c.doc.problem(after.Pos, "unknown-word", "harness.after", fmt.Sprintf("no case above has the id %q", id), diag.DidYouMean(id, slices.Sorted(maps.Keys(ids)))))
					}
				}
			}
			if id := e.node.Get("id"); id != nil {
				ids[trimmed(id)] = me
			}
			for _, name := range uses(e.node) {
				from, known := holds[name]
				if !known {
					if _, fixed := c.set.vars[name]; !fixed {
						later[name] = append(later[name], slot{int32(e.from), int32(me)})
					}
					continue
				}
				need(from)
			}
			if n := e.node.Get("capture"); n != nil && n.Kind == doctree.Map {
				for _, name := range keys(n) {
					holds[name] = me
				}
			}
		}
		c.doc.release()
	}
	captured := variables{}
	for name := range holds {
		captured[name] = given{}
	}
	for _, name := range slices.Sorted(maps.Keys(later)) {
		for _, at := range later[name] {
			hint := diag.DidYouMean(name, captured.names())
			p := c.doc.problem(doctree.Pos{Line: int(at.unit), Col: 1}, "capture", "", fmt.Sprintf("no case above captures ${%s}: it stays as it is written", name), hint)
			if _, below := holds[name]; below || hint != "" {
				p.Level = diag.Warning
				list = append(list, p)
			}
		}
	}
	members := make(map[int]*chain)
	place := make(map[int]int) // of a case in its chain
	c.chained = make(map[slot]*chain)
	for i := range all {
		root := of(i)
		ch := members[root]
		if ch == nil {
			ch = &chain{first: root + 1}
			members[root] = ch
		}
		place[i] = len(ch.slots)
		ch.slots, ch.needs = append(ch.slots, all[i].at), append(ch.needs, nil)
		for _, n := range all[i].needs {
			ch.needs[place[i]] = append(ch.needs[place[i]], place[n])
		}
		ch.cases = append(ch.cases, nil)
		c.chained[all[i].at] = ch
	}
	for at, ch := range c.chained {
		if len(ch.slots) == 1 {
			delete(c.chained, at)
		}
	}
	return list
}

// note is told of every case of the chain in order; taken by the filter or not.
func (ch *chain) note(at slot, c *Case, taken bool) {
	i := slices.Index(ch.slots, at)
	ch.cases[i] = c
	if taken {
		ch.taken = append(ch.taken, at)
	}
}

// chainUp makes one case of each chain that the filter takes a case of: with it
// goes what it needs, and what cleans up.
func (c *Campaign) chainUp() (list diag.List) {
	var done []*chain
	for at, ch := range c.chained {
		if at != ch.slots[0] || len(ch.taken) == 0 || !c.set.mine(c.name, ch.first) {
			continue
		}
		done = append(done, ch)
		want := make([]bool, len(ch.slots))
		var add func(i int)
		add = func(i int) {
			if !want[i] {
				want[i] = true
				for _, n := range ch.needs[i] {
					add(n)
				}
			}
		}
		for _, t := range ch.taken {
			add(slices.Index(ch.slots, t))
		}
		for i, n := range ch.needs {
			if ch.cases[i].always && !slices.ContainsFunc(n, func(k int) bool { return !want[k] }) {
				want[i] = true
			}
		}
		var dragged []string
		one := &Case{Type: typeChain}
		var steps []slot
		for i, cs := range ch.cases {
			if !want[i] {
				continue
			}
			steps = append(steps, ch.slots[i])
			one.steps = append(one.steps, cs)
			if !slices.Contains(ch.taken, ch.slots[i]) {
				dragged = append(dragged, cs.label())
			}
			if one.unrepeatable == "" && cs.unrepeatable != "" {
				one.unrepeatable = cs.label() + ": " + cs.unrepeatable
			}
			if one.skip == "" {
				one.skip = cs.skip
			}
			one.Tags = append(one.Tags, cs.Tags...)
		}
		first, last := one.steps[0], one.steps[len(one.steps)-1]
		one.ID, one.Title, one.at, one.From, one.To = first.label(), first.Title, first.at, first.From, last.To
		if len(one.steps) > 1 {
			one.ID += ".." + last.label()
		}
		if len(dragged) > 0 {
			p := c.doc.problem(first.at, "capture", "", fmt.Sprintf("--%s also takes %s, on whose values the others depend", optFilter, oneOf(dragged)), "")
			p.Level = diag.Warning
			list = append(list, p)
		}
		ch.slots, ch.c = steps, one
	}
	if len(done) == 0 {
		return list
	}
	c.chains = make(map[slot]*chain)
	for _, ch := range done {
		c.chains[ch.slots[0]] = ch
		c.slots = append(c.slots, ch.slots[0])
	}
	slices.SortFunc(c.slots, func(a, b slot) int {
		if a.unit != b.unit {
			return int(a.unit - b.unit)
		}
		return int(a.item - b.item)
	})
	return list
}

// parts are the cases that a case of the campaign consists of.
func (c *Case) parts() []*Case {
	if c.steps != nil {
		return c.steps
	}
	return []*Case{c}
}

// runChain runs the cases of a chain, each with the values that those before it
// have captured. Behind one that fails only those run that clean up.
func (x *executor) runChain(ctx context.Context, c *Case) (failure *Failure, notes evidence, err error) {
	vars := maps.Clone(x.set.vars)
	x.chain = map[*sut.Plan]bool{}
	defer func() { x.chain = nil }()
	var log strings.Builder
	ch := x.c.chains[x.slot]
	for i, at := range ch.slots {
		e := x.c.doc.unit(int(at.unit))[at.item]
		e.node = vars.fill(e.node)
		lacks := failure != nil && e.node != nil && slices.ContainsFunc(uses(e.node), func(name string) bool {
			return slices.ContainsFunc(c.steps, func(s *Case) bool {
				return slices.ContainsFunc(s.captures, func(k capture) bool { return k.name == name })
			})
		})
		if failure != nil && (lacks || !c.steps[i].always) {
			fmt.Fprintf(&log, "%s:%d %s  not run\n", x.c.name, e.from, c.steps[i].label())
			x.step.lost(c.steps[i])
			continue
		}
		step, _, _ := decode(x.c.doc, x.set, e)
		if run, err := x.step.ask(ctx, step.label()+"  "+step.Type, step.From, step.To); err != nil {
			return nil, nil, err
		} else if !run {
			continue
		}
		x.eval.subjects = nil
		f, seen, err := x.attempt(ctx, step)
		if err != nil {
			return nil, nil, err
		}
		var got []string
		for k := range step.captures {
			if f != nil || x.eval.subjects == nil {
				break
			}
			var g given
			if g, f = step.captures[k].take(step.Type, x.eval.subjects); f == nil {
				vars[step.captures[k].name] = g
				got = append(got, step.captures[k].name)
			}
		}
		x.step.ended(step, f, seen, vars.redactor(true))
		switch {
		case f == nil && len(got) > 0:
			fmt.Fprintf(&log, "%s:%d %s  holds, captures %s\n", x.c.name, e.from, step.label(), oneOf(got))
		case f == nil:
			fmt.Fprintf(&log, "%s:%d %s  holds\n", x.c.name, e.from, step.label())
		default:
			fmt.Fprintf(&log, "%s:%d %s  fails: %s\n", x.c.name, e.from, step.label(), f.summary())
		}
		if f != nil && failure == nil {
			g := *f
			g.Step, failure, notes = step.label(), &g, seen
		}
	}
	notes.add(chainNote, []byte(log.String()))
	f, n := hide(vars.redactor(true), failure, notes)
	return f, n, nil
}

// chainNote is the attachment that says what became of each case of a chain.
const chainNote = "chain"

// typeChain is the type of a case that is a chain of others.
const typeChain = "chain"
