package system

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/jsontree"
	"github.com/thresh-dev/thresh/engine/lazy"
	"github.com/thresh-dev/thresh/engine/seq"
	"github.com/thresh-dev/thresh/port/sut"
)

// take sets an argument from an earlier call.
type take struct {
	Argument string `json:"argument"`
	Step     int    `json:"step"` // index of the earlier call
	// From is a runtime expression of OpenAPI, or the name of a member of the answer. An answer
	// without that member may have an id instead.
	From string `json:"from"`
}

// changes is how many operations that change a thing are called before one that is about it.
const changes = 6

// updates is how many values of an argument are set before the thing is shown.
const updates = 2

// chained is how many calls have special arguments at each end of a route.
const chained = 80

var placed = lazy.Pattern(`\{([^{}/]+)\}`)

// within returns the calls that create or list what an operation's path names.
func within(all []usage, o *sut.Operation) (before []earlier, takes []take) {
	for _, at := range placed().FindAllStringSubmatchIndex(o.Path, -1) {
		maker := makerAt(all, strings.TrimSuffix(o.Path[:at[0]], "/"))
		if maker == nil || !strings.HasSuffix(o.Path[:at[0]], "/") {
			return nil, nil
		}
		var e earlier
		before, e = maker.made(all, before, takes)
		before = append(before, e)
		name := o.Path[at[2]:at[3]]
		takes = append(slices.Clip(takes), take{name, len(before) - 1, name})
	}
	return before, takes
}

// makerAt returns the operation that creates, or else lists, what belongs to a path.
func makerAt(all []usage, path string) (maker *usage) {
	path = placed().ReplaceAllString(path, "{}")
	for i := range all {
		if x := all[i].op; placed().ReplaceAllString(x.Path, "{}") == path && len(all[i].valid[0]) > 0 && (x.Method == "POST" || x.Method == "GET" && maker == nil) {
			maker = &all[i]
		}
	}
	return maker
}

// made returns the usual call with what has been taken for the path, and the earlier calls extended
// by those that create what its other arguments name.
func (u *usage) made(all []usage, before []earlier, takes []take) ([]earlier, earlier) {
	before, more := references(all, u, before)
	e := u.after(takes)
	e.Take = append(slices.Clip(e.Take), more...)
	return before, e
}

// after returns the usual call with what has been taken for the path.
func (u *usage) after(takes []take) earlier {
	e := earlier{Operation: u.op.Name, Args: u.valid[0][len(u.valid[0])-1].Args}
	for k, m := range placed().FindAllStringSubmatch(u.op.Path, -1) {
		if k < len(takes) {
			e.Take = append(e.Take, take{m[1], takes[k].Step, takes[k].From})
		}
	}
	return e
}

// chains returns, for each operation that needs something from another one's answer, cases that
// call that one first: the usual calls of both, and calls with one special argument.
func (c *Campaign) chains(all []usage) (usual, special [][][]byte) {
	usual, special = make([][][]byte, len(all)), make([][][]byte, len(all))
	for i := range all {
		to := &all[i]
		if len(to.valid[0]) == 0 {
			continue
		}
		add := func(list *[][]byte, in input, about string, before []earlier, takes []take) {
			in.About, in.Before, in.Take = about, before, takes
			if text, err := json.Marshal(in); err == nil {
				*list = append(*list, text)
			}
		}
		route := func(from *usage, before []earlier, takes []take) {
			plain := to.valid[0][len(to.valid[0])-1]
			add(&usual[i], plain, "after "+from.op.Name, before, takes)
			if all := to.valid[0][0]; !bytes.Equal(all.Args, plain.Args) { // including optional arguments
				add(&usual[i], all, "all arguments, after "+from.op.Name, before, takes)
			}
			last := before[len(before)-1]
			for _, v := range besides(from.valid[1], last.Take) {
				last.Args = v.Args
				add(&special[i], plain, v.About+ofBefore(from.op.Name), append(slices.Clone(before[:len(before)-1]), last), takes)
			}
			for _, v := range besides(to.valid[1], seq.Filter(takes, func(t take) bool { return inPath(to.op, t.Argument) })) {
				own := slices.DeleteFunc(slices.Clone(takes), func(t take) bool { return t.Argument == subject(&v) })
				add(&special[i], v, v.About+", after "+from.op.Name, before, own)
			}
		}
		linked := false
		for k := range all {
			from := &all[k]
			for _, l := range from.op.Links {
				before, takes := within(all, from.op)
				if l.To != to.op.Name || len(from.valid[0]) == 0 || len(usual[i]) > 4 {
					continue
				}
				var first earlier
				before, first = from.made(all, before, takes)
				before = append(before, first)
				takes = nil
				for _, v := range l.Values {
					takes = append(takes, take{v[0], len(before) - 1, v[1]})
				}
				if len(takes) > 0 {
					linked = true
					route(from, before, takes)
				}
			}
		}
		for _, in := range slices.Concat(lists(all, to), others(all, to)) {
			if text, err := json.Marshal(in); err == nil {
				usual[i] = append(usual[i], text)
			}
		}
		before, takes := needs(all, to)
		if len(takes) == 0 {
			in, made := to.valid[0][len(to.valid[0])-1], several(all)
			if args, _ := arguments(in.Args); to.op.Method == "" && looks(to.op) && len(args) == 0 && len(made) > 0 {
				in.Later = true
				add(&usual[i], in, "after "+made[0].Operation+", several times", made, nil)
			}
			continue
		}
		if !linked {
			at := slices.IndexFunc(all, func(u usage) bool { return u.op.Name == before[len(before)-1].Operation })
			route(&all[at], before, takes)
		}
		plain := to.valid[0][len(to.valid[0])-1]
		changed := 0
		var changers []changer
		for k := range all { // operations that change the same thing in between, once and twice
			m := &all[k]
			if yes, _ := reads(m.op); yes || len(m.valid[0]) == 0 || changed >= changes && !claims(m.op, to.op) || slices.ContainsFunc(before, func(e earlier) bool { return e.Operation == m.op.Name }) {
				continue
			}
			first, own := needs(all, m) // and what else they need
			if !beginsWith(first, before) || len(first) > len(before) && thing(m.op) != thing(to.op) {
				continue
			}
			changed++
			step := m.after(nil)
			step.Take = own
			changers = append(changers, changer{m.op, step, first})
			if to.op.Method != "GET" || m.op.Method != "PUT" && m.op.Method != "PATCH" {
				continue
			}
			tried := make(map[string]int)
			for _, v := range besides(m.valid[1], own) { // the values must differ from those before
				if name := subject(&v); tried[name] < updates {
					tried[name]++
					step.Args = v.Args
					add(&special[i], plain, v.About+ofBefore(m.op.Name), append(slices.Clip(first), step), takes)
				}
			}
		}
		for _, x := range changers {
			if claims(x.op, to.op) {
				in, shown := plain, earlier{Operation: to.op.Name, Args: plain.Args, Take: takes}
				in.Moved = true
				add(&usual[i], in, "before and after "+x.op.Name, append(slices.Clip(x.first), shown, x.step), takes)
			}
			in, after := plain, append(slices.Clip(x.first), x.step)
			if x.op.Method == "DELETE" {
				in.Valid, in.Gone = false, to.op.Method == "GET" && x.op.Path == to.op.Path
			}
			add(&usual[i], in, "after "+x.op.Name, after, takes)
			for _, other := range changers {
				switch {
				case in.Gone && other.op != x.op && beginsWith(other.first, x.first):
					add(&usual[i], in, "after "+other.op.Name+" and "+x.op.Name, append(slices.Clip(other.first), other.step, x.step), takes)
				case in.Valid && other.op == x.op:
					add(&usual[i], in, "after "+x.op.Name+" twice", append(slices.Clip(after), x.step), takes)
				}
			}
		}
	}
	return usual, special
}

// changer is a call that changes a thing, with the earlier calls that create what it needs.
type changer struct {
	op    *sut.Operation
	step  earlier
	first []earlier
}

// thing returns what an operation's path is about: the path up to its last argument.
func thing(o *sut.Operation) string {
	path := placed().ReplaceAllString(o.Path, "{}")
	return path[:strings.LastIndexByte(path, '}')+1]
}

// beginsWith reports whether calls begin with calls of the same operations.
func beginsWith(calls, of []earlier) bool {
	return len(calls) >= len(of) && slices.EqualFunc(calls[:len(of)], of, func(a, b earlier) bool { return a.Operation == b.Operation })
}

// ofBefore says that an input is about an argument of an earlier call.
func ofBefore(operation string) string { return ", of " + operation + " before" }

// besides returns the first inputs that are special in an argument not taken from other calls.
func besides(list []input, takes []take) []input {
	list = slices.DeleteFunc(slices.Clone(list), func(v input) bool {
		return slices.ContainsFunc(takes, func(t take) bool { return t.Argument == subject(&v) })
	})
	return list[:min(chained, len(list))]
}

// done is an earlier call with its answer.
type done struct {
	args map[string]json.RawMessage
	o    sut.Observation
}

// errNothing says that an earlier call yielded nothing to continue with.
var errNothing = errors.New("the call before it gave nothing")

// follow makes the earlier calls of a case, and returns them with the arguments of the last call.
func (e *executor) follow(ctx context.Context, s *state, k campaign.Case, in *input) (args []sut.Named, list []done, err error) {
	for i, before := range in.Before {
		args, err := filled(before.Args, before.Take, list)
		if err != nil {
			return nil, nil, err
		}
		o, err := e.call(ctx, k, e.x, sut.Call{Operation: before.Operation, Named: args})
		if err == nil {
			err = last(s, in, before, &o)
		}
		if err != nil {
			return nil, nil, err
		}
		taken := func(t take) bool { return t.Step == i && !strings.HasPrefix(t.From, "$request.") }
		if o.End != sut.Answered && (o.End != sut.Refused || in.Gone || slices.ContainsFunc(in.Take, taken)) {
			return nil, nil, errNothing // another case is about that
		}
		o.Output = bytes.Clone(o.Output)
		d := done{make(map[string]json.RawMessage), o}
		for _, a := range args {
			d.args[a.Name] = a.Value
		}
		list = append(list, d)
	}
	args, err = filled(in.Args, in.Take, list)
	return args, list, err
}

// filled returns arguments with the values taken from earlier calls.
func filled(object []byte, takes []take, list []done) ([]sut.Named, error) {
	args, err := arguments(object)
	if err != nil {
		return nil, err
	}
	for _, t := range takes {
		if t.Step < 0 || t.Step >= len(list) {
			return nil, fmt.Errorf("the case takes %s of call %d, before which there are %d", t.Argument, t.Step, len(list))
		}
		v := list[t.Step].value(t.From)
		if v == nil {
			return nil, errNothing
		}
		args = slices.DeleteFunc(args, func(a sut.Named) bool { return a.Name == t.Argument })
		args = append(args, sut.Named{Name: t.Argument, Value: v})
	}
	return args, nil
}

// value returns what an expression finds in a call; nil if there is nothing.
func (d *done) value(from string) json.RawMessage {
	side, rest, _ := strings.Cut(strings.TrimPrefix(from, "$"), ".")
	part, pointer, _ := strings.Cut(rest, "#")
	kind, name, _ := strings.Cut(part, ".")
	switch {
	case !strings.HasPrefix(from, "$"):
		return d.member(from)
	case side == "response" && kind == "header":
		if values := d.o.Header[textproto.CanonicalMIMEHeaderKey(name)]; len(values) > 0 {
			return text(values[0])
		}
		return nil
	case side == "response" && kind == "body":
		return pointed(d.o.Output, pointer)
	case side == "request" && kind == "body": // members of the body are arguments
		object, err := json.Marshal(d.args)
		if whole := d.args["body"]; whole != nil {
			object = whole
		}
		if err != nil {
			return nil
		}
		return pointed(object, pointer)
	case side == "request":
		return d.args[name]
	case side == "statusCode":
		return json.RawMessage(strconv.Itoa(d.o.Status))
	}
	return nil
}

func text(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return b
}

// pointed returns what a JSON pointer leads to.
func pointed(at json.RawMessage, pointer string) json.RawMessage {
	d, err := jsontree.Parse(at, jsontree.Options{})
	if err != nil {
		return nil
	}
	n := d.Root.Along(jsontree.Steps(pointer))
	if n == nil {
		return nil
	}
	return at[n.Offset:n.End]
}

// member returns the outermost member of an answer that is named like an argument, or an id; for a
// list, that of the first item. If there is none, it returns the end of the new thing's address, or
// the whole answer, or the first word of a text that has a digit.
func (d *done) member(argument string) json.RawMessage {
	key := func(name string) string {
		return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
	}
	want := key(argument)
	level := []json.RawMessage{d.o.Output}
	for range 4 {
		var next []json.RawMessage
		for _, v := range level {
			var members map[string]json.RawMessage
			var items []json.RawMessage
			if json.Unmarshal(v, &items) == nil && len(items) > 0 {
				next = append(next, items[0])
			}
			if json.Unmarshal(v, &members) != nil {
				continue
			}
			names := slices.Sorted(maps.Keys(members))
			for _, wanted := range []string{want, "id", want + "id", "uuid"} {
				for _, name := range names {
					if key(name) == wanted && single(members[name]) {
						return members[name]
					}
				}
			}
			for _, name := range names {
				next = append(next, members[name])
			}
		}
		level = next
	}
	if at := d.o.Header["Location"]; len(at) > 0 {
		path, _, _ := strings.Cut(at[0], "?")
		return text(path[strings.LastIndexByte(path, '/')+1:])
	}
	if whole := bytes.TrimSpace(d.o.Output); !json.Valid(whole) {
		if found := token().Find(whole); found != nil {
			return text(string(found))
		}
	} else if single(whole) {
		return whole
	}
	return nil
}

// single reports whether a value is a text or a number that fits in a path.
func single(v json.RawMessage) bool {
	var s string
	if json.Unmarshal(v, &s) == nil && v[0] == '"' {
		return s != "" && !strings.ContainsAny(s, "/\\%\x00?#") && s != "." && s != ".."
	}
	return v[0] == '-' || v[0] >= '0' && v[0] <= '9'
}

// nothing is the outcome of a case whose last call could not be made.
func nothing() campaign.Outcome {
	return campaign.Outcome{Data: fmt.Appendf(nil, "%s%v", refused, errNothing)}
}
