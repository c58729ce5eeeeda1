package system

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/port/sut"
)

// cellar keeps jars by numbers that nobody can guess.
type cellar struct {
	shelf
	calls []string
	call  func(c sut.Call, args map[string]string) sut.Observation
}

func (s *cellar) Call(_ context.Context, c sut.Call) (sut.Observation, error) {
	args := make(map[string]string)
	for _, a := range c.Named {
		args[a.Name] = string(a.Value)
	}
	s.calls = append(s.calls, fmt.Sprint(c.Operation, " ", args))
	return s.call(c, args), nil
}

func object(properties string, required ...string) json.RawMessage {
	list, err := json.Marshal(append([]string{}, required...))
	if err != nil {
		panic(err)
	}
	return json.RawMessage(`{"type":"object","required":` + string(list) + `,"properties":{` + properties + `}}`)
}

var jars = []sut.Operation{
	{Name: "eat", Method: "POST", Path: "/rooms/{room}/jars/{jar}/spoon", Schema: object(`"room":{"type":"integer"},"jar":{"type":"integer"},"much":{"type":"integer","minimum":1,"maximum":4}`, "room", "jar"),
		Arguments: []sut.Argument{{Name: "room", In: "path", Type: "integer"}, {Name: "jar", In: "path", Type: "integer"}, {Name: "much", In: "body", Type: "integer"}}},
	{Name: "fill", Method: "POST", Path: "/rooms/{id}/jars", Schema: object(`"id":{"type":"integer"},"fruit":{"enum":["plum","pear"]}`, "id", "fruit"),
		Arguments: []sut.Argument{{Name: "id", In: "path", Type: "integer"}, {Name: "fruit", In: "body", Type: "string"}}},
	{Name: "rooms", Method: "GET", Path: "/rooms", Schema: object(``)},
}

// What is behind calls of others is found: an operation is called with what those
// answered, and each of the calls with special arguments in turn. What shows behind several
// arguments of an earlier call is one cause; what needs all arguments of the last one is found.
func TestChains(t *testing.T) {
	answer := func(end sut.End, status int, text string) sut.Observation {
		return sut.Observation{End: end, Status: status, Output: []byte(text), Why: fmt.Sprintf("HTTP %d", status)}
	}
	fruit := ""
	x := &cellar{}
	x.call = func(c sut.Call, args map[string]string) sut.Observation {
		switch {
		case c.Operation == "rooms":
			return answer(sut.Answered, 200, `{"rooms":[{"name":"a","id":7123}]}`)
		case c.Operation == "fill" && args["id"] == "7123":
			fruit = args["fruit"]
			return answer(sut.Answered, 201, `{"jar_id":919191,"id":1}`)
		case c.Operation == "eat" && args["room"] == "7123" && args["jar"] == "1":
			if fruit == `"pear"` || args["much"] == "4" {
				return answer(sut.Crashed, 500, fruit)
			}
			return answer(sut.Answered, 200, "{}")
		}
		return answer(sut.Refused, 404, "")
	}
	open := func(context.Context, *sut.Plan, sut.Worker) (sut.System, error) { return x, nil }
	c := &Campaign{open: open, plan: &sut.Plan{Kind: sut.HTTP}, seed: 1, writes: true}
	data, err := json.Marshal(jars)
	if err != nil {
		t.Fatal(err)
	}
	s := c.Start(campaign.Facts{Data: data})
	found := map[string]bool{}
	s = all(t, c, s, func(o campaign.Outcome) { found[strings.Join(o.Cause, " ")] = true })
	if len(found) != 2 || !found["crash eat HTTP 500 <str> "] || !found["crash eat HTTP 500 <str> much"] {
		t.Errorf("found %v\n%s", found, strings.Join(x.calls, "\n"))
	}
	if !slices.Contains(x.calls, "eat map[jar:1 room:7123]") || !slices.Contains(x.calls, "eat map[jar:1 much:1 room:7123]") {
		t.Errorf("the calls are\n%s", strings.Join(x.calls, "\n"))
	}
	if sum := c.Summarize(s); len(sum.Warnings) != 1 || !strings.HasSuffix(sum.Warnings[0], ": eat (combinations)") {
		t.Errorf("%q", sum.Warnings)
	}
}

// A link says where the values stand. Without what it names, the last call is not made.
func TestLinks(t *testing.T) {
	get := sut.Operation{Name: "get", Method: "GET", Path: "/get", Schema: object(`"key":{"type":"string"}`, "key"), Arguments: []sut.Argument{{Name: "key", In: "query", Type: "string"}}}
	put := sut.Operation{Name: "put", Method: "POST", Path: "/put", Schema: object(`"text":{"type":"string"}`, "text"), Arguments: []sut.Argument{{Name: "text", In: "body", Type: "string"}}}
	for from, want := range map[string]string{
		"$response.body#/made/0/key": "get map[key:\"k1\"]",
		"$response.header.etag":      "get map[key:\"e1\"]",
		"$request.body#/text":        "get map[key:\"a\"]",
		"$request.body#/none":        "",
		"$response.body#/made/1/key": "",
		"$statusCode":                "get map[key:201]",
		"$url":                       "",
	} {
		x := &cellar{call: func(sut.Call, map[string]string) sut.Observation {
			return sut.Observation{End: sut.Answered, Status: 201, Output: []byte(`{"made":[{"key":"k1"}]}`), Header: map[string][]string{"Etag": {"e1"}}}
		}}
		put.Links = []sut.Link{{To: "get", Values: [][2]string{{"key", from}}}}
		all := []usage{{&get, [2][]input{{{Operation: "get", Valid: true, Args: json.RawMessage(`{"key":"x"}`)}}}}, {&put, [2][]input{{{Operation: "put", Args: json.RawMessage(`{"text":"a"}`)}}}}}
		c := &Campaign{plan: &sut.Plan{Kind: sut.HTTP}}
		usual, special := c.chains(all)
		if len(usual[0]) != 1 || len(usual[1])+len(special[0])+len(special[1]) != 0 {
			t.Fatalf("%s: %s %s", from, usual, special)
		}
		e := &executor{since: new(atomic.Int64), c: c, x: x}
		out, err := e.Execute(t.Context(), &state{ops: []sut.Operation{get, put}}, campaign.Case{Payload: usual[0][0]})
		last := strings.Join(x.calls[1:], " ")
		if err != nil || last != want || strings.HasPrefix(string(out.Data), refused) != (want == "") {
			t.Errorf("%s: %q, want %q; %s, %v", from, last, want, out.Data, err)
		}
	}
}

// What is found in an answer for an argument.
func TestMember(t *testing.T) {
	for answer, want := range map[string]string{
		`{"id":1,"order_id":2}`:                  `2`,
		`{"id":1,"order":{"orderId":2}}`:         `1`,
		`{"a":{"x":1},"data":{"id":"p"}}`:        `"p"`,
		`[{"id":5},{"id":6}]`:                    `5`,
		`{"items":[{"uuid":"u"}]}`:               `"u"`,
		`{"id":null,"order":{"id":3}}`:           `3`,
		`{"id":"a/b"}`:                           `"last"`,
		`{"id":{"a":1}}`:                         `"last"`,
		`[]`:                                     `"last"`,
		`no`:                                     `"last"`,
		`{"a":{"b":{"c":{"d":{"e":{"id":1}}}}}}`: `"last"`,
	} {
		d := done{o: sut.Observation{Output: []byte(answer), Header: map[string][]string{"Location": {"/orders/last?x=1"}}}}
		if got := d.member("orderId"); string(got) != want {
			t.Errorf("%s: %s, want %s", answer, got, want)
		}
	}
	for answer, want := range map[string]string{`b7`: `"b7"`, `Created order ord-12.`: `"ord-12"`, `5`: `5`, `"k1"`: `"k1"`, `nothing was made`: ``, ``: ``} {
		d := done{o: sut.Observation{Output: []byte(answer)}}
		if got := d.member("orderId"); string(got) != want {
			t.Errorf("%s: %s, want %s", answer, got, want)
		}
	}
}

// What a tool is about is made by another one first, and changed in between; a service is
// asked for what it deleted.
func TestCallsThatMakeAndChange(t *testing.T) {
	use := func(o sut.Operation, args string) usage {
		return usage{&o, [2][]input{{{Operation: o.Name, Valid: true, Args: json.RawMessage(args)}}}}
	}
	bed := []sut.Argument{{Name: "name", Type: "string"}}
	tools := []usage{
		use(sut.Operation{Name: "get_book"}, `{"book_id":"a"}`), use(sut.Operation{Name: "lend"}, `{"book":"a","days":1}`), use(sut.Operation{Name: "add_book"}, `{"title":"a"}`),
		use(sut.Operation{Name: "water", Arguments: bed}, `{"name":"a"}`), use(sut.Operation{Name: "make_bed", Arguments: bed}, `{"name":"a"}`), use(sut.Operation{Name: "weather"}, `{"town":"a"}`),
	}
	paths := []usage{use(sut.Operation{Name: "add", Method: "POST", Path: "/a"}, `{}`), use(sut.Operation{Name: "one", Method: "GET", Path: "/a/{id}"}, `{"id":1}`),
		use(sut.Operation{Name: "drop", Method: "DELETE", Path: "/a/{id}"}, `{"id":1}`), use(sut.Operation{Name: "ship", Method: "POST", Path: "/a/{id}/ship"}, `{"id":1}`)}
	body := func(name string) []sut.Argument { return []sut.Argument{{Name: name, In: "body"}} }
	things := []usage{paths[0], paths[1], use(sut.Operation{Name: "shelves", Method: "GET", Path: "/shelves/{shelf}"}, `{"shelf":"s"}`), use(sut.Operation{Name: "list", Method: "GET", Path: "/shelves"}, `{}`),
		use(sut.Operation{Name: "move", Method: "POST", Path: "/a/{id}/move", Arguments: body("shelf")}, `{"id":1,"shelf":"s"}`),
		use(sut.Operation{Name: "loan", Method: "POST", Path: "/loans", Arguments: body("a_id")}, `{"a_id":1}`), use(sut.Operation{Name: "extend", Method: "POST", Path: "/loans/{id}/more"}, `{"id":1}`)}
	for name, x := range map[string]struct {
		all  []usage
		at   int
		says string // what the service answers
		want string // calls of each case, then kinds
	}{
		"of an answer":            {tools, 0, `Added b7.`, `add_book get_book[book_id:"b7"] | add_book lend get_book[book_id:"b7"] | add_book lend lend get_book[book_id:"b7"]`},
		"of the call":             {tools, 3, `done`, `make_bed water[name:"a"] | make_bed water[name:"a"] water[name:"a"] | make_bed water[name:"a"] water[name:"a"] water[name:"a"]`},
		"of nothing":              {tools, 5, `done`, ``},
		"deleted":                 {paths, 1, `{"id":7}`, `add one[id:7] | add drop one[id:7] use-after-delete | add ship drop one[id:7] use-after-delete | add ship one[id:7] | add ship ship one[id:7]`},
		"named beside the path":   {things, 4, `{"id":7}`, `add list move[id:7 shelf:7] | add list move[id:7 shelf:7] move[id:7 shelf:7] | add list move[id:7 shelf:7] move[id:7 shelf:7] move[id:7 shelf:7]`},
		"changed by what it has":  {things, 1, `{"id":7}`, `add one[id:7] | add list move one[id:7] | add list move move one[id:7] | add loan one[id:7] | add loan loan one[id:7]`},
		"of an earlier one":       {things, 6, `{"id":7}`, `add loan extend[id:7] | add loan extend[id:7] extend[id:7] | add loan extend[id:7] extend[id:7] extend[id:7]`},
		"deleted, and it says so": {paths, 1, `{"id":7,"state":"deleted"}`, `add one[id:7] | add drop one[id:7] | add ship drop one[id:7] | add ship one[id:7] | add ship ship one[id:7]`},
	} {
		var got []string
		c := &Campaign{plan: &sut.Plan{Kind: sut.HTTP}}
		usual, _ := c.chains(x.all)
		for _, payload := range usual[x.at] {
			var called []string
			service := &cellar{call: func(k sut.Call, args map[string]string) sut.Observation {
				called = append(called, k.Operation)
				if k.Operation == x.all[x.at].op.Name {
					called[len(called)-1] += strings.TrimPrefix(fmt.Sprint(args), "map")
				}
				o := sut.Observation{End: sut.Answered, Output: []byte(x.says)}
				if k.Operation == "lend" && slices.Contains(called[:len(called)-1], "lend") {
					o.End = sut.Refused
				}
				if x.all[x.at].op.Method != "" {
					o.Status = 200
				}
				return o
			}}
			var ops []sut.Operation
			for _, u := range x.all {
				ops = append(ops, *u.op)
			}
			e := &executor{since: new(atomic.Int64), c: c, x: service}
			out, err := e.Execute(t.Context(), &state{ops: ops}, campaign.Case{Payload: payload})
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, strings.TrimSpace(strings.Join(called, " ")+" "+out.Kind))
		}
		if strings.Join(got, " | ") != x.want {
			t.Errorf("%s: %s\nwant %s", name, strings.Join(got, " | "), x.want)
		}
	}
}

// A tool is called although the one that makes what it is about fails.
func TestMakerThatFails(t *testing.T) {
	text := []sut.Argument{{Name: "text", Type: "string"}}
	add, count := sut.Operation{Name: "add_note", Arguments: text}, sut.Operation{Name: "count", Arguments: text}
	special := input{Operation: "count", About: "per: minimum", Valid: true, Args: json.RawMessage(`{"per":0,"text":"a"}`)}
	all := []usage{
		{&add, [2][]input{{{Operation: "add_note", Valid: true, Args: json.RawMessage(`{"text":"a"}`)}}}},
		{&count, [2][]input{{{Operation: "count", Valid: true, Args: json.RawMessage(`{"per":1,"text":"a"}`)}}, {special}}},
	}
	c := &Campaign{plan: &sut.Plan{Kind: sut.MCP}}
	_, specials := c.chains(all)
	server := &cellar{call: func(k sut.Call, _ map[string]string) sut.Observation {
		return sut.Observation{End: map[string]sut.End{"add_note": sut.Crashed, "count": sut.Hung}[k.Operation]}
	}}
	e := &executor{since: new(atomic.Int64), c: c, x: server}
	out, err := e.Execute(t.Context(), &state{ops: []sut.Operation{add, count}}, campaign.Case{Payload: specials[1][0]})
	if err != nil || out.Kind != kindTimeout || len(server.calls) != 2 || server.calls[1] != `count map[per:0 text:"a"]` {
		t.Errorf("%v, %+v, %v", server.calls, out, err)
	}
	small, _ := c.Reduce(t.Context(), specials[1][0], func([]byte) (bool, error) { return true, nil })
	var in input
	if json.Unmarshal(small, &in) != nil || in.Before != nil {
		t.Errorf("calls that do not matter stay: %s", small)
	}
}

// What an update set and answered is still so afterwards.
func TestUpdatesThatAreLost(t *testing.T) {
	all := []usage{}
	for _, o := range []sut.Operation{{Name: "add", Method: "POST", Path: "/a"}, {Name: "one", Method: "GET", Path: "/a/{id}"}, {Name: "move", Method: "PUT", Path: "/a/{id}/shelf"}} {
		kept := usage{&o, [2][]input{{{Operation: o.Name, Valid: true, Args: json.RawMessage(`{"id":1,"shelf":"n"}`)}}}}
		for _, v := range []string{`"x"`, `["a","b"]`, `true`} {
			kept.valid[1] = append(kept.valid[1], input{Operation: o.Name, About: "shelf " + v + ": special", Valid: true, Args: json.RawMessage(`{"id":1,"shelf":` + v + `}`)})
		}
		all = append(all, kept)
	}
	usual, special := (&Campaign{}).chains(all)
	set := make(map[string][]byte)
	for _, p := range append(special[1], usual[1][1]) {
		var in input
		if json.Unmarshal(p, &in) == nil && len(in.Before) == 2 && in.Before[1].Operation == "move" {
			set[string(in.Before[1].Args)] = p
		}
	}
	for name, x := range map[string]struct{ moved, then, want string }{
		"kept":           {`{"id":1,"shelf":"n"}`, `{"id":1,"shelf":"n"}`, ""},
		"lost":           {`{"id":1,"shelf":"n"}`, `{"id":1,"shelf":"s"}`, `one: shelf is "s" after move set it to "n"`},
		"not taken over": {`{"id":1,"shelf":"s"}`, `{"id":1,"shelf":"s"}`, ""},
		"not shown":      {`{"id":1,"shelf":"n"}`, `{"id":1}`, ""},
		"another value":  {`{"id":1,"shelf":"x"}`, `{"id":1,"shelf":"n"}`, `one: shelf is "n" after move set it to "x"`},
		"a list":         {`{"id":1,"shelf":["a","b"]}`, `{"id":1,"shelf":["a"]}`, `one: shelf is ["a"] after move set it to ["a","b"]`},
		"in any order":   {`{"id":1,"shelf":["a","b"]}`, `{"id":1,"shelf":["b", "a"]}`, ""},
		"of a switch":    {`{"id":1,"shelf":true}`, `{"id":1,"shelf":false}`, `one: shelf is false after move set it to true`},
	} {
		service := &cellar{call: func(k sut.Call, _ map[string]string) sut.Observation {
			said := map[string]string{"add": `{"id":1}`, "move": x.moved, "one": x.then}[k.Operation]
			return sut.Observation{End: sut.Answered, Status: 200, Output: []byte(said)}
		}}
		e := &executor{since: new(atomic.Int64), c: &Campaign{plan: &sut.Plan{Kind: sut.HTTP}}, x: service}
		sent := x.moved
		if set[sent] == nil {
			sent = `{"id":1,"shelf":"n"}`
		}
		out, err := e.Execute(t.Context(), &state{ops: []sut.Operation{*all[0].op, *all[1].op, *all[2].op}}, campaign.Case{Payload: set[sent]})
		if err != nil || out.Title != x.want {
			t.Errorf("%s: %q, %v", name, out.Title, err)
		}
	}
}

// A service that cannot be begun anew is asked again after other calls, alone. What only
// counts, or keeps to its answer, has no finding; of calls before, those that matter stay.
func TestLeaksOfServices(t *testing.T) {
	last, n := "", 0
	for name, x := range map[string]struct {
		path string
		says func(args string) string
		want string
	}{
		"the answer before": {"/me", func(args string) string { was := last; last = args; return was }, "me: the answer depends on earlier calls"},
		"its own":           {"/me", func(args string) string { return args }, ""},
		"what was set": {"/me", func(args string) string { // and stays
			if args != "memap[]" {
				last = args
			}
			return "it is " + last
		}, "me: the answer depends on earlier calls"},
		"how many at first": {"/me", func(args string) string { // and then no more
			if args != "memap[]" && n < 3 {
				n++
			}
			return fmt.Sprint(n)
		}, ""},
		"counts":         {"/me", func(string) string { n++; return fmt.Sprint(n) }, ""},
		"is about calls": {"/me/history", func(args string) string { was := last; last = args; return was }, "none"},
	} {
		last, n = "", 0
		calls := &cellar{call: func(c sut.Call, args map[string]string) sut.Observation {
			return sut.Observation{End: sut.Answered, Status: 200, Output: []byte(x.says(c.Operation + fmt.Sprint(args)))}
		}}
		open := func(context.Context, *sut.Plan, sut.Worker) (sut.System, error) { return calls, nil }
		c := &Campaign{open: open, plan: &sut.Plan{Kind: sut.HTTP}, seed: 1}
		data, err := json.Marshal([]sut.Operation{
			{Name: "me", Method: "GET", Path: x.path, Schema: object(`"as":{"enum":["a","b","c"]}`), Arguments: []sut.Argument{{Name: "as", In: "query", Type: "string"}}},
			{Name: "you", Method: "GET", Path: "/you/history", Schema: object(``)},
		})
		if err != nil {
			t.Fatal(err)
		}
		s := c.Start(campaign.Facts{Data: data})
		if alone := len(s.plans) == 4 && len(s.plans[1]) == 1; alone != (x.want != "none") {
			t.Fatalf("%s: %d rounds", name, len(s.plans))
		} else if !alone {
			continue
		}
		e, err := campaign.Solo(t.Context(), c, campaign.Lane{Of: 1})
		if err != nil {
			t.Fatal(err)
		}
		fails := func(p []byte) (bool, error) {
			out, err := e.Execute(t.Context(), s, campaign.Case{Payload: p})
			return out.Title != "" && out.Title == x.want, err
		}
		for range 2 { // whatever the first time has left
			if yes, err := fails(s.plans[1][0]); yes != (x.want != "") || err != nil {
				t.Errorf("%s: %t, %v", name, yes, err)
			}
		}
		var in input
		if small, _ := c.Reduce(t.Context(), s.plans[1][0], fails); json.Unmarshal(small, &in) != nil || x.want != "" && len(in.Before) != map[bool]int{false: 1, true: 2}[name == "what was set"] {
			t.Errorf("%s: %s", name, small)
		}
	}
}

// An argument that made an operation hang gets no further special values; other arguments
// do, and after one that only failed, combinations are skipped alone. The summary says so.
func TestWhatHungIsLeftAlone(t *testing.T) {
	c := &Campaign{plan: &sut.Plan{Kind: sut.HTTP}, seed: 1, writes: true}
	data, err := json.Marshal([]sut.Operation{{Name: "look", Method: "POST", Schema: object(`"a":{"type":"string"},"b":{"type":"string"}`),
		Arguments: []sut.Argument{{Name: "a", In: "body", Type: "string"}, {Name: "b", In: "body", Type: "string"}}}})
	if err != nil {
		t.Fatal(err)
	}
	of := func(s *state, name string) (n int) {
		for _, p := range s.cases() {
			var in input
			if json.Unmarshal(p, &in) == nil && subject(&in) == name {
				n++
			}
		}
		return n
	}
	for kind, left := range map[string]int{kindTimeout: 0, kindFlood: 0, kindCrash: 1} {
		s := c.Fold(c.Start(campaign.Facts{Data: data}), func(func(campaign.Case, campaign.Outcome) bool) {})
		if of(s, "a") < 20 || of(s, "b") < 20 {
			t.Fatalf("%d and %d calls with a special argument", of(s, "a"), of(s, "b"))
		}
		at := slices.IndexFunc(s.cases(), func(p []byte) bool { return strings.Contains(string(p), `"about":"a: `) })
		first := s.first
		s = c.Fold(s, func(yield func(campaign.Case, campaign.Outcome) bool) {
			yield(campaign.Case{Index: first + int64(at)}, campaign.Outcome{Verdict: campaign.VerdictFail, Kind: kind})
		})
		if got := of(s, "a"); min(got, 1) != left || of(s, "b") < 5 {
			t.Errorf("%s: %d calls about a, %d about b", kind, got, of(s, "b"))
		}
		for s.round < len(s.plans)-1 {
			s = c.Fold(s, func(func(campaign.Case, campaign.Outcome) bool) {})
		}
		if n := len(s.cases()); n > 0 {
			t.Errorf("%s: %d combinations", kind, n)
		}
		s = c.Fold(s, func(func(campaign.Case, campaign.Outcome) bool) {})
		what := map[int]string{0: "look (combinations), look (values of a)", 1: "look (combinations)"}[left]
		if w := strings.Join(c.Summarize(s).Warnings, "\n"); !strings.HasSuffix(w, "not made, since others like them failed or took too long: "+what) {
			t.Errorf("%s: the summary says %q", kind, w)
		}
	}
}

// What a case takes of calls that it does not have is an error, whoever wrote the case.
func TestTakesOfCallsThatAreNotThere(t *testing.T) {
	list := []done{{nil, sut.Observation{End: sut.Answered, Output: []byte(`{"id":7}`)}}}
	for step, want := range map[int]bool{-1: false, 0: true, 1: false} {
		args, err := filled([]byte(`{}`), []take{{Argument: "id", Step: step, From: "$response.body#/id"}}, list)
		if got := err == nil && len(args) == 1 && string(args[0].Value) == "7"; got != want {
			t.Errorf("step %d: %v, %v", step, args, err)
		}
		if !want && err == errNothing {
			t.Errorf("step %d is said to have no such value", step)
		}
	}
}
