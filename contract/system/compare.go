package system

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/port/sut"
)

// How the last call of a case is checked, if its earlier calls are of one kind.
const (
	checkPages  = "pages"
	checkSearch = "search"
	checkStale  = "stale"
	checkOwner  = "owner"
)

// served reports whether a failing call was nevertheless carried out, so that others of the operation
// may fail for reasons of their own.
func served(kind string) bool {
	return !slices.Contains([]string{kindCrash, kindTimeout, kindFlood, kindInternal, campaign.KindEndedLater}, kind)
}

// compare judges the last call of a case by the earlier ones.
func compare(s *state, op *sut.Operation, in *input, before []done, o *sut.Observation) (out campaign.Outcome) {
	n := len(before) - 1
	if n < 0 || o.End != sut.Answered {
		return out
	}
	by, known := sut.Find(s.ops, in.Before[n].Operation)
	found := func(of *sut.Operation, kind, title string, cause ...string) campaign.Outcome {
		return failed(o, of, fail(of, kind, campaign.SeverityMedium, title, cause...))
	}
	switch last := &before[n]; {
	case !known || last.o.End != sut.Answered:
	case in.Check == checkPages && n > 0:
		if why := repaged(op, &before[n-1], last, o); why != "" {
			return found(op, kindPage, why, pageOf(op))
		}
	case in.Check == checkSearch:
		if name := argumentNamed(op, searches().MatchString); unsearched(last, o) {
			return found(op, kindFilter, fmt.Sprintf("%s=%s is answered with the same items as no %s", name, nonsense, name), name)
		}
	case in.Check == checkStale && n > 1:
		was, is := before[n-2].value(etagOf), last.value(etagOf)
		if was != nil && is != nil && !same(was, is) && o.Status < 300 {
			return found(op, kindUpdate, fmt.Sprintf("HTTP %d for the If-Match of a version that %s has changed; 412 was due", o.Status, in.Before[n-1].Operation), "If-Match")
		}
	case in.Check == checkOwner && n > 1:
		name, shown := in.Take[0].Argument, &before[n-1]
		if other := last.value(in.Take[0].From); other != nil && !same(shown.args[name], other) && shown.o.Status == 200 && o.Status == 200 && same(shown.o.Output, o.Output) {
			return found(op, kindOwner, fmt.Sprintf("what belongs to one %s is answered for another", name), name)
		}
	case in.Moved && n > 0:
		if still := unmoved(by, op, before[n-1:], o); still != "" {
			return found(by, kindIdle, fmt.Sprintf("is answered, and %s shows the same after it as before: %s", op.Name, still))
		}
	case op.Method == "GET" && (by.Method == "PUT" || by.Method == "PATCH" || by.Method == "POST" && makesFor(by, op)):
		name, set, got := forgotten(by, op, last, o)
		if name == "" && n > 0 && by.Method != "POST" {
			name, set, got = ignored(by, &before[n-1], last, o)
		}
		if name != "" && (by.Method != "POST" || !standing().MatchString(name)) {
			return found(op, kindUpdate, fmt.Sprintf("%s is %s after %s set it to %s", name, got, by.Name, set), name)
		}
	}
	return out
}

// etagOf is the expression for the version of an answer.
const etagOf = "$response.header.ETag"

// makesFor reports whether an operation creates a thing that another one shows by itself.
func makesFor(by, shows *sut.Operation) bool {
	rest, below := strings.CutPrefix(placed().ReplaceAllString(shows.Path, "{}"), placed().ReplaceAllString(by.Path, "{}"))
	return below && rest == "/{}"
}

// forgotten returns a member that a call set and confirmed and that the following GET shows with
// another value, or not although its description has it: its name and the two values.
func forgotten(by, shows *sut.Operation, update *done, o *sut.Observation) (name string, set, got json.RawMessage) {
	var was, is map[string]json.RawMessage
	if json.Unmarshal(update.o.Output, &was) != nil || json.Unmarshal(o.Output, &is) != nil {
		return "", nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(update.args)) {
		set, got := update.args[name], is[name]
		if got == nil && o.Status == http.StatusOK && !unset().Match(set) && !hidden().MatchString(name) && describes(shows.Answers["200"], name) {
			got = json.RawMessage("missing")
		}
		if got != nil && !inPath(by, name) && (single(set) || strings.ContainsRune("[tf", rune(set[0]))) && same(set, was[name]) && !same(set, got) {
			return name, set, got
		}
	}
	return "", nil, nil
}

// unset matches values that an answer may leave out, hidden names of what it may not show again.
var (
	unset  = lazy.Pattern(`^(""|0|false|null|\[\]|\{\})$`)
	hidden = lazy.Pattern(`(?i:(?:^|[_-])(?:pass(?:word|code|phrase)?|passwd|secret|token|key|pin|cvc|cvv|code|otp)s?(?:[_-]|$))|[a-z](?:Pass(?:word|code|phrase)?|Secret|Token|Key|Pin|Cvc|Cvv|Code|Otp)s?(?:[A-Z]|$)`)
)

// describes reports whether a schema of an object has a member that answers show.
func describes(schema json.RawMessage, member string) bool {
	var visit func(at json.RawMessage, depth int) bool
	visit = func(at json.RawMessage, depth int) bool {
		var s struct {
			Properties map[string]struct{ WriteOnly bool }
			AllOf      []json.RawMessage
			Ref        string `json:"$ref"`
		}
		if depth > 6 || json.Unmarshal(at, &s) != nil {
			return false
		}
		p, known := s.Properties[member]
		return known && !p.WriteOnly || s.Ref != "" && visit(pointed(schema, strings.TrimPrefix(s.Ref, "#")), depth+1) ||
			slices.ContainsFunc(s.AllOf, func(part json.RawMessage) bool { return visit(part, depth+1) })
	}
	return visit(schema, 0)
}

// ignored returns a member that an update was to set, and left unchanged although it answered with
// 2xx: the thing before it, its answer and the following GET have the same other value. It ignores
// values that a service may normalize, for example by trimming texts.
func ignored(by *sut.Operation, made, update *done, o *sut.Observation) (name string, set, got json.RawMessage) {
	var before, was, is map[string]json.RawMessage
	if json.Unmarshal(update.o.Output, &was) != nil || json.Unmarshal(o.Output, &is) != nil {
		return "", nil, nil
	}
	thing := made.o.Output
	if items, ok := itemsOf(thing); ok && len(items) > 0 && made.o.Status == http.StatusOK { // the first item was used
		thing = items[0]
	}
	if json.Unmarshal(thing, &before) != nil {
		return "", nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(update.args)) {
		set, got := update.args[name], is[name]
		if got == nil || inPath(by, name) || !same(got, was[name]) || !same(got, before[name]) || same(set, got) {
			continue
		}
		kind := func(v json.RawMessage) string {
			switch _, err := strconv.ParseInt(string(v), 10, 64); {
			case err == nil:
				return "a whole number"
			case v[0] == '"' && argument(by, name)["enum"] != nil:
				return "a word"
			case v[0] == 't' || v[0] == 'f':
				return "a switch"
			}
			return ""
		}
		var list, kept []string
		lists := json.Unmarshal(set, &list) == nil && json.Unmarshal(got, &kept) == nil
		if kind(set) != "" && kind(set) == kind(got) || lists && slices.ContainsFunc(list, func(x string) bool { return spelt().MatchString(x) && !slices.Contains(kept, x) }) {
			return name, set, got
		}
	}
	return "", nil, nil
}

// spelt matches texts that no service normalizes.
var spelt = lazy.Pattern(`^[a-z0-9]+$`)

// same reports whether two values are equal. The order of lists does not matter.
func same(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	for _, v := range []any{x, y} {
		if list, ok := v.([]any); ok {
			slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
	}
	return reflect.DeepEqual(x, y)
}

// others returns the cases in which an operation is called for what belongs to another thing, or
// changes an outdated version.
func others(all []usage, to *usage) (cases []input) {
	plain := to.valid[0][len(to.valid[0])-1]
	before, takes := needs(all, to)
	own := placesOf(to.op)
	if to.op.Method == "GET" && len(own) == 2 && len(takes) > 1 && takes[0].Argument == own[0] && takes[1].Argument == own[1] && posts(all, before[takes[0].Step]) && posts(all, before[takes[1].Step]) {
		in := plain
		in.About, in.Check = "of another "+own[0], checkOwner
		in.Before = append(slices.Clip(before), earlier{Operation: to.op.Name, Args: plain.Args, Take: takes}, before[takes[0].Step])
		in.Take = slices.Clone(takes)
		in.Take[0].Step = len(in.Before) - 1
		cases = append(cases, in)
	}
	name := ""
	for _, a := range to.op.Arguments {
		if a.In == "header" && strings.EqualFold(a.Name, "If-Match") {
			name = a.Name
		}
	}
	if name == "" || to.op.Method != "PUT" && to.op.Method != "PATCH" || len(takes) == 0 {
		return cases
	}
	at := slices.IndexFunc(all, func(u usage) bool {
		return u.op.Method == "GET" && placed().ReplaceAllString(u.op.Path, "{}") == placed().ReplaceAllString(to.op.Path, "{}") && len(u.valid[0]) > 0
	})
	if at < 0 {
		return cases
	}
	show := all[at].after(nil)
	show.Take = takes
	tried := 0
	for _, v := range besides(to.valid[1], append(slices.Clip(takes), take{Argument: name})) {
		if tried++; tried > 2 {
			break
		}
		in := plain
		in.About, in.Check = "with the "+name+" of before a change", checkStale
		version := append(slices.Clip(takes), take{name, len(before), etagOf})
		in.Before = append(slices.Clip(before), show, earlier{Operation: to.op.Name, Args: v.Args, Take: version}, show)
		in.Take = version
		cases = append(cases, in)
	}
	return cases
}

// placesOf returns the names of the arguments in a path.
func placesOf(o *sut.Operation) (names []string) {
	for _, m := range placed().FindAllStringSubmatch(o.Path, -1) {
		names = append(names, m[1])
	}
	return names
}

// posts reports whether a call is a POST.
func posts(all []usage, e earlier) bool {
	return slices.ContainsFunc(all, func(u usage) bool { return u.op.Name == e.Operation && u.op.Method == "POST" })
}
