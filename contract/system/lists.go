package system

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	judges "github.com/thresh-dev/thresh/engine/judge"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/port/sut"
)

// Names of arguments of operations that answer with a list: the maximum number of items, the first
// page or item, and words to search for.
var (
	sizes    = lazy.Pattern(`(?i)^\$?(limit|per[-_]?page|page[-_]?size|page[-_]?limit|max[-_]?results|top|take)$`)
	sizesToo = lazy.Pattern(`(?i)^(size|count)$`) // together with a page argument
	pages    = lazy.Pattern(`(?i)^(page|page[-_]?(number|no|num))$`)
	offsets  = lazy.Pattern(`(?i)^\$?(offset|skip)$`)
	searches = lazy.Pattern(`(?i)^(q|query|search|keywords?|term|contains)$`)
	aside    = lazy.Pattern(`(?i)^_?(links|errors|warnings)$`) // lists beside the main one
)

// itemsOf returns the items of the only list in an answer.
func itemsOf(answer []byte) (items []json.RawMessage, ok bool) {
	lists := 0
	level := []json.RawMessage{answer}
	for depth := 0; depth < 3 && lists == 0; depth++ {
		var next []json.RawMessage
		for _, v := range level {
			var members map[string]json.RawMessage
			if list := []json.RawMessage{}; json.Unmarshal(v, &list) == nil && v[0] == '[' {
				items, lists = list, lists+1
			} else if json.Unmarshal(v, &members) == nil {
				for _, name := range slices.Sorted(maps.Keys(members)) {
					if !aside().MatchString(name) {
						next = append(next, bytes.TrimSpace(members[name]))
					}
				}
			}
		}
		level = next
	}
	return items, lists == 1
}

// argument returns the schema of an operation's argument.
func argument(o *sut.Operation, name string) (s map[string]any) {
	var whole any
	if json.Unmarshal(o.Schema, &whole) != nil {
		return nil
	}
	object, _ := whole.(map[string]any)
	properties, _ := object["properties"].(map[string]any)
	s, _ = properties[name].(map[string]any)
	for range 8 {
		ref, ok := s["$ref"].(string)
		if !ok {
			break
		}
		at := pointed(o.Schema, strings.TrimPrefix(ref, "#"))
		s = nil
		if json.Unmarshal(at, &s) != nil {
			return nil
		}
	}
	return s
}

// argumentNamed returns the first argument of an operation with a suitable name.
func argumentNamed(o *sut.Operation, like func(string) bool) string {
	for _, a := range o.Arguments {
		if (a.In == "query" || o.Method == "") && like(a.Name) {
			return a.Name
		}
	}
	return ""
}

// sizeOf and pageOf return the arguments that say how many items an operation returns, and from
// where on.
func sizeOf(o *sut.Operation) string {
	if name := argumentNamed(o, sizes().MatchString); name != "" || pageOf(o) == "" {
		return name
	}
	return argumentNamed(o, sizesToo().MatchString)
}

func pageOf(o *sut.Operation) string {
	return argumentNamed(o, func(name string) bool { return pages().MatchString(name) || offsets().MatchString(name) })
}

// misfit says what is wrong with a list in an answer: more items than requested, or items other
// than requested. argument is the one that requested them.
func misfit(op *sut.Operation, in *input, o *sut.Observation) (kind, title, argument string) {
	answer := o.Output
	if op.Method == "" && len(o.Value) > 0 {
		answer = o.Value
	}
	if len(answer) == 0 || !in.Valid || !looks(op) || o.End != sut.Answered || o.Status >= 300 {
		return "", "", ""
	}
	args, err := arguments(in.Args)
	if err != nil || len(args) == 0 {
		return "", "", ""
	}
	items, ok := itemsOf(answer)
	if !ok {
		return "", "", ""
	}
	size := sizeOf(op)
	for _, a := range args {
		if n, err := strconv.Atoi(string(a.Value)); a.Name == size && err == nil && n > 0 && len(items) > n {
			return kindPage, fmt.Sprintf("answers with %d items where %s is %d", len(items), size, n), size
		}
		if !slices.ContainsFunc(op.Arguments, func(x sut.Argument) bool { return x.Name == a.Name && (x.In == "query" || op.Method == "") }) {
			continue
		}
		for _, item := range items {
			var thing map[string]json.RawMessage
			if json.Unmarshal(item, &thing) != nil {
				break
			}
			if why := strays(op, a, thing); why != "" {
				return kindFilter, why, a.Name
			}
		}
	}
	return "", "", ""
}

// strays says why an item does not match an argument; "" if it may.
func strays(op *sut.Operation, a sut.Named, item map[string]json.RawMessage) string {
	if side, of, ok := strings.Cut(a.Name, "_"); ok && (side == "min" || side == "max") && item[of] != nil {
		bound, err := strconv.ParseFloat(string(a.Value), 64)
		v, bad := strconv.ParseFloat(string(item[of]), 64)
		if err == nil && bad == nil && (side == "min" && v < bound || side == "max" && v > bound) {
			return fmt.Sprintf("an item's %s is %s where %s is %s", of, item[of], a.Name, a.Value)
		}
		return ""
	}
	got := item[a.Name]
	if got == nil || same(a.Value, got) || string(got) == "null" {
		return ""
	}
	s := argument(op, a.Name)
	words := judges.Words(a.Name)
	switch enum, _ := s["enum"].([]any); {
	case s["type"] == "boolean":
		if string(got) != "true" && string(got) != "false" || string(a.Value) == "true" && softly().MatchString(a.Name) {
			return "" // such a switch may mean "also include"
		}
	case len(enum) > 0:
		var v any
		if json.Unmarshal(got, &v) != nil || !slices.Contains(enum, v) {
			return "" // items use other words than the argument
		}
	case len(words) < 2 || words[len(words)-1] != "id" || !single(got) || (got[0] == '"') != (a.Value[0] == '"'):
		return ""
	}
	return fmt.Sprintf("an item's %s is %s where %s was asked for", a.Name, got, a.Value)
}

// with returns arguments with another value for one.
func with(args json.RawMessage, name string, v any) json.RawMessage {
	var m map[string]any
	if json.Unmarshal(args, &m) != nil {
		return args
	}
	m[name] = v
	text, err := json.Marshal(m)
	if err != nil {
		return args
	}
	return text
}

// lists returns cases that request a list in two ways: in pages of two sizes, and with words that
// match nothing.
func lists(all []usage, to *usage) (cases []input) {
	plain := to.valid[0][len(to.valid[0])-1]
	if to.op.Method == "" {
		return listsOfTools(all, to, plain)
	}
	if to.op.Method != "GET" {
		return nil
	}
	before, takes := within(all, to.op)
	if len(takes) < len(placed().FindAllString(to.op.Path, -1)) {
		return nil
	}
	for i := range all { // to have at least two items
		if m := &all[i]; m.op.Method == "POST" && len(m.valid[0]) > 0 && placed().ReplaceAllString(m.op.Path, "{}") == placed().ReplaceAllString(to.op.Path, "{}") {
			var step earlier
			for range 2 {
				before, step = m.made(all, before, takes)
				before = append(before, step)
			}
		}
	}
	ask := func(args json.RawMessage) earlier { return earlier{Operation: to.op.Name, Args: args, Take: takes} }
	page, size := pageOf(to.op), sizeOf(to.op)
	if smallest, known := argument(to.op, size)["minimum"].(float64); page != "" && size != "" && (!known || smallest <= 1) {
		first, second := 0, 1
		at := argument(to.op, page)
		low, bounded := at["minimum"].(float64)
		if pages().MatchString(page) && (bounded && low == 1 || at["default"] == 1.0) {
			first, second = 1, 2
		}
		if offsets().MatchString(page) || bounded && low <= 1 || at["default"] == 0.0 || at["default"] == 1.0 {
			in := plain
			in.Args = with(with(plain.Args, size, 2), page, first)
			in.About, in.Take, in.Check = "the first two at once, and the second alone", takes, checkPages
			in.Before = append(slices.Clip(before), ask(in.Args), ask(with(with(plain.Args, size, 1), page, second)))
			cases = append(cases, in)
		}
	}
	if q := argumentNamed(to.op, searches().MatchString); q != "" {
		s := argument(to.op, q)
		if longest, bounded := s["maxLength"].(float64); s["type"] == "string" && s["enum"] == nil && s["format"] == nil && s["pattern"] == nil && (!bounded || longest >= float64(len(nonsense))) && !strings.Contains(string(plain.Args), strconv.Quote(q)) {
			in := plain
			in.Args = with(plain.Args, q, nonsense)
			in.About, in.Take, in.Check = q+": what nothing has", takes, checkSearch
			in.Before = append(slices.Clip(before), ask(plain.Args))
			cases = append(cases, in)
		}
	}
	return cases
}

// listsOfTools returns cases that ask a tool for one of several things, or for those that match a
// word or a switch, after these were created. Each case creates them because it may have a server
// of its own.
func listsOfTools(all []usage, to *usage, plain input) (cases []input) {
	before := several(all)
	if !looks(to.op) || len(before) == 0 {
		return nil
	}
	ask := func(name string, v any) {
		in := plain
		in.Args, in.About = with(plain.Args, name, v), fmt.Sprintf("%s: %v of several", name, v)
		in.Before, in.Later = before, true
		cases = append(cases, in)
	}
	for _, a := range to.op.Arguments {
		s := argument(to.op, a.Name)
		words, _ := s["enum"].([]any)
		if s["type"] == "boolean" {
			words = []any{true, false}
		}
		for _, v := range words[:min(3, len(words))] {
			ask(a.Name, v)
		}
		if least, bounded := s["minimum"].(float64); a.Name == sizeOf(to.op) && (!bounded || least <= 1) {
			ask(a.Name, 1)
		}
	}
	return cases
}

// nonsense is a word that matches nothing.
const nonsense = "zqxjkvwq"

// repaged says how pages contradict each other: the first two items, requested together twice with
// the same result, and the second item on a page of its own, which is another one.
func repaged(op *sut.Operation, two, one *done, o *sut.Observation) string {
	was, ok := itemsOf(two.o.Output)
	now, too := itemsOf(o.Output)
	second, three := itemsOf(one.o.Output)
	if !ok || !too || !three || len(was) != 2 || len(now) != 2 || o.Status >= 300 || one.o.Status >= 300 || two.o.Status >= 300 ||
		!same(was[0], now[0]) || !same(was[1], now[1]) || same(was[0], was[1]) || len(second) > 0 && same(second[0], was[1]) {
		return ""
	}
	ask := fmt.Sprintf("where %s is %s and %s is %s", pageOf(op), one.args[pageOf(op)], sizeOf(op), one.args[sizeOf(op)])
	switch {
	case len(second) == 0:
		return ask + ", nothing is answered, though there are two items"
	case same(second[0], was[0]):
		return ask + ", the first item is answered again"
	}
	return ask + ", the answer begins with another item than the second"
}

// unsearched reports whether a search for words that match nothing returned everything.
func unsearched(before *done, o *sut.Observation) bool {
	was, ok := itemsOf(before.o.Output)
	now, too := itemsOf(o.Output)
	return ok && too && len(was) > 1 && o.Status < 300 && before.o.Status < 300 && slices.EqualFunc(was, now, func(a, b json.RawMessage) bool { return same(a, b) })
}
