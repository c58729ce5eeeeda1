package system

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/engine/schemagen"
	"github.com/thresh-dev/thresh/port/sut"
)

// club keeps teams and their players in memory, with one fault, or none.
type club struct {
	shelf
	fault   string
	teams   []map[string]any
	players map[int][]map[string]any // by team
	made    int
	schemas map[string]*schemagen.Schema
}

func argumentsIn(in string, names ...string) (list []sut.Argument) {
	for _, name := range names {
		list = append(list, sut.Argument{Name: name, In: in, Type: "string"})
	}
	return list
}

const (
	aTeam  = `"name":{"type":"string","maxLength":9},"league":{"$ref":"#/$defs/league"},"open":{"type":"boolean"},"seats":{"type":"integer","minimum":1,"maximum":9}`
	league = `,"$defs":{"league":{"enum":["north","south"]}}}`
)

func withLeagues(schema json.RawMessage) json.RawMessage {
	return json.RawMessage(strings.TrimSuffix(string(schema), "}") + league)
}

var clubs = []sut.Operation{
	{Name: "add", Method: "POST", Path: "/teams", Schema: withLeagues(object(aTeam, "name", "league")), Arguments: argumentsIn("body", "name", "league", "open", "seats")},
	{Name: "all", Method: "GET", Path: "/teams", Schema: withLeagues(object(`"page":{"type":"integer","minimum":1,"maximum":99},"per_page":{"type":"integer","minimum":1,"maximum":9},"league":{"$ref":"#/$defs/league"},"open":{"type":"boolean"},"min_seats":{"type":"integer","minimum":1},"q":{"type":"string"}`)),
		Arguments: argumentsIn("query", "page", "per_page", "league", "open", "min_seats", "q")},
	{Name: "one", Method: "GET", Path: "/teams/{team_id}", Schema: object(`"team_id":{"type":"integer"}`, "team_id"), Arguments: argumentsIn("path", "team_id")},
	{Name: "edit", Method: "PUT", Path: "/teams/{team_id}", Schema: withLeagues(object(`"team_id":{"type":"integer"},"If-Match":{"type":"string"},`+aTeam, "team_id", "name", "league")),
		Arguments: slices.Concat(argumentsIn("path", "team_id"), argumentsIn("header", "If-Match"), argumentsIn("body", "name", "league", "open", "seats"))},
	{Name: "hire", Method: "POST", Path: "/teams/{team_id}/players", Schema: object(`"team_id":{"type":"integer"},"nick":{"type":"string"}`, "team_id"), Arguments: slices.Concat(argumentsIn("path", "team_id"), argumentsIn("body", "nick"))},
	{Name: "player", Method: "GET", Path: "/teams/{team_id}/players/{player_id}", Schema: object(`"team_id":{"type":"integer"},"player_id":{"type":"integer"}`, "team_id", "player_id"), Arguments: argumentsIn("path", "team_id", "player_id")},
	{Name: "play", Method: "POST", Path: "/matches", Schema: object(`"team_id":{"type":"integer"},"goals":{"type":"integer","minimum":0,"maximum":20}`, "team_id", "goals"), Arguments: argumentsIn("body", "team_id", "goals")},
}

func (c *club) Call(_ context.Context, k sut.Call) (sut.Observation, error) {
	raw, args := make(map[string]json.RawMessage), make(map[string]any)
	for _, a := range k.Named {
		raw[a.Name] = a.Value
	}
	text, err := json.Marshal(raw)
	op, known := sut.Find(clubs, k.Operation)
	if err != nil || !known || json.Unmarshal(text, &args) != nil {
		return sut.Observation{}, fmt.Errorf("no call: %s", text)
	}
	if c.schemas[op.Name] == nil {
		if c.schemas[op.Name], err = schemagen.New(op.Schema); err != nil {
			return sut.Observation{}, err
		}
	}
	if c.schemas[op.Name].Check(text) != "" {
		return sut.Observation{End: sut.Refused, Status: 400, Why: "HTTP 400"}, nil
	}
	status, v, header := c.answer(k.Operation, args)
	o := sut.Observation{End: sut.Answered, Status: status, Header: header}
	if o.Output, _ = json.Marshal(v); status >= 400 {
		o.End, o.Why = sut.Refused, fmt.Sprint("HTTP ", status)
	}
	if status >= 500 {
		o.End = sut.Crashed
	}
	return o, nil
}

func (c *club) answer(operation string, args map[string]any) (status int, v any, header map[string][]string) {
	is := func(fault string) bool { return c.fault == fault }
	if len(c.teams) > 60 { // the newest matter
		c.teams = slices.Clone(c.teams[30:])
	}
	at := slices.IndexFunc(c.teams, func(t map[string]any) bool { return float64(t["id"].(int)) == args["team_id"] })
	if _, about := args["team_id"]; about && at < 0 {
		return 404, nil, nil
	}
	version := func() map[string][]string {
		return map[string][]string{"Etag": {fmt.Sprint(c.teams[at])}}
	}
	switch operation {
	case "add":
		if same := slices.IndexFunc(c.teams, func(t map[string]any) bool { return t["name"] == args["name"] }); same >= 0 && is("one of a name") {
			return 201, c.teams[same], nil
		}
		c.made++
		team := map[string]any{"open": true, "seats": 5.0}
		maps.Copy(team, args)
		team["id"] = 500 + c.made
		stored := maps.Clone(team)
		if is("made otherwise") {
			stored["name"] = "team"
		}
		c.teams = append(c.teams, stored)
		return 201, team, nil
	case "all":
		list := []map[string]any{}
		for _, t := range c.teams {
			q, _ := args["q"].(string)
			least, bounded := args["min_seats"].(float64)
			if (args["league"] == nil || t["league"] == args["league"] || is("any league")) && (args["open"] == nil || t["open"] == args["open"] || is("any gate")) &&
				(strings.Contains(t["name"].(string), q) || is("any name")) && (!bounded || t["seats"].(float64) >= least || is("any size")) {
				list = append(list, t)
			}
		}
		number := func(name string, usual float64) int {
			if n, given := args[name].(float64); given {
				return int(n)
			}
			return int(usual)
		}
		size, page := number("per_page", 9), number("page", 1)
		from := (page - 1) * size
		if is("pages overlap") && page > 1 {
			from--
		}
		to := from + size
		if is("one too many") {
			to++
		}
		return 200, map[string]any{"items": list[min(from, len(list)):min(to, len(list))], "links": []string{"/teams"}}, nil
	case "one":
		return 200, c.teams[at], version()
	case "edit":
		if match := args["If-Match"]; match != nil && match != version()["Etag"][0] && !is("any version") {
			return 412, nil, nil
		}
		for _, name := range []string{"name", "league", "open", "seats"} {
			if args[name] != nil && !(is("seats stay") && name == "seats") {
				c.teams[at] = maps.Clone(c.teams[at])
				c.teams[at][name] = args[name]
			}
		}
		return 200, c.teams[at], nil
	case "hire":
		c.made++
		id := c.teams[at]["id"].(int)
		p := map[string]any{"player_id": 9000 + c.made, "nick": args["nick"]}
		c.players[id] = append(c.players[id], p)
		return 201, p, nil
	case "player":
		for id, list := range c.players {
			for _, p := range list {
				if float64(p["player_id"].(int)) == args["player_id"] && (id == c.teams[at]["id"] || is("anyone's players")) {
					return 200, p, nil
				}
			}
		}
		return 404, nil, nil
	}
	if args["goals"] == 20.0 && is("no such score") {
		return 500, nil, nil
	}
	return 201, map[string]any{"goals": args["goals"]}, nil
}

// Each fault of a service is a finding, and the service without one has none.
func TestFaultsOfServices(t *testing.T) {
	schemas := make(map[string]*schemagen.Schema)
	for fault, want := range map[string]string{
		"":                 "",
		"one of a name":    "", // which is no fault
		"one too many":     "paging all per_page",
		"pages overlap":    "paging all page",
		"any league":       "filter all league",
		"any gate":         "filter all open",
		"any size":         "filter all min_seats",
		"any name":         "filter all q",
		"seats stay":       "lost-update one seats",
		"made otherwise":   "lost-update one name",
		"any version":      "lost-update edit If-Match",
		"anyone's players": "wrong-owner player team_id",
		"no such score":    "crash play HTTP 500 <str> goals",
	} {
		service := &club{fault: fault, players: make(map[int][]map[string]any), schemas: schemas}
		open := func(context.Context, *sut.Plan, sut.Worker) (sut.System, error) { return service, nil }
		c := &Campaign{open: open, plan: &sut.Plan{Kind: sut.HTTP}, seed: 1, writes: true}
		data, err := json.Marshal(clubs)
		if err != nil {
			t.Fatal(err)
		}
		found := make(map[string]bool)
		all(t, c, c.Start(campaign.Facts{Data: data}), func(o campaign.Outcome) {
			found[strings.ReplaceAll(strings.Join(o.Cause, " "), "null", "<str>")] = true
		})
		if got := slices.Sorted(maps.Keys(found)); fmt.Sprint(got) != fmt.Sprint(slices.DeleteFunc([]string{want}, func(s string) bool { return s == "" })) {
			t.Errorf("%s: %q", fault, got)
		}
	}
}

// all executes a whole campaign, and calls back for each failure.
func all(t *testing.T, c *Campaign, s *state, failed func(campaign.Outcome)) *state {
	t.Helper()
	e, err := campaign.Solo(t.Context(), c, campaign.Lane{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	for {
		r, more := c.Round(s)
		if !more {
			return s
		}
		outcomes := make([]campaign.Outcome, r.Len)
		for i := range r.Len {
			if outcomes[i], err = e.Execute(t.Context(), s, campaign.Case{Payload: r.At(i)}); err != nil {
				t.Fatal(err)
			}
			if outcomes[i].Verdict == campaign.VerdictFail {
				failed(outcomes[i])
			}
		}
		first := s.first
		s = c.Fold(s, func(yield func(campaign.Case, campaign.Outcome) bool) {
			for i, o := range outcomes {
				yield(campaign.Case{Index: first + int64(i)}, o)
			}
		})
	}
}

// Which answers hold one list, and which items of it were not asked for.
func TestItems(t *testing.T) {
	for answer, want := range map[string]int{
		`[1,2]`: 2, ` {"items": [1], "links": ["a","b"]}`: 1, `{"data":{"list":[]}}`: 0, `{"a":[1],"b":[2]}`: -1, `{"id":1}`: -1, `{"a":{"b":{"c":[1]}}}`: -1, `no`: -1,
	} {
		if items, ok := itemsOf([]byte(answer)); ok != (want >= 0) || ok && len(items) != want {
			t.Errorf("%s: %d, %t", answer, len(items), ok)
		}
	}
	op := &sut.Operation{Name: "list", Method: "GET", Path: "/things", Arguments: argumentsIn("query", "size", "kind", "archived", "open", "owner_id", "max_price", "name"),
		Schema: object(`"kind":{"enum":["a","b","all"]},"archived":{"type":"boolean"},"open":{"type":"boolean"},"size":{"type":"integer"}`)}
	for text, want := range map[string]string{
		`{"kind":"a"} {"kind":"b"}`:             `an item's kind is "b" where "a" was asked for`,
		`{"kind":"all"} {"kind":"b"}`:           `an item's kind is "b" where "all" was asked for`,
		`{"kind":"a"} {"kind":"A thing"}`:       ``,
		`{"kind":"a"} {"kind":null}`:            ``,
		`{"kind":"a"} {}`:                       ``,
		`{"archived":true} {"archived":false}`:  ``, // those too
		`{"archived":false} {"archived":true}`:  `an item's archived is true where false was asked for`,
		`{"open":true} {"open":false}`:          `an item's open is false where true was asked for`,
		`{"open":true} {"open":"till 8"}`:       ``,
		`{"owner_id":7} {"owner_id":8}`:         `an item's owner_id is 8 where 7 was asked for`,
		`{"owner_id":7} {"owner_id":"7"}`:       ``,
		`{"max_price":7} {"price":7.5}`:         `an item's price is 7.5 where max_price is 7`,
		`{"max_price":7} {"price":"7.50"}`:      ``,
		`{"name":"a"} {"name":"b"}`:             ``, // a search may look at more
		`{"size":1} {"name":"b"},{"name":"c"}`:  ``, // of clothes, without pages
		`{"kind":"a","open":true} {"kind":"a"}`: ``,
	} {
		args, items, _ := strings.Cut(text, " ")
		_, got, _ := misfit(op, &input{Valid: true, Args: json.RawMessage(args)}, &sut.Observation{End: sut.Answered, Status: 200, Output: []byte(`[` + items + `]`)})
		if got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// What an update leaves as it was is ignored, unless the service may have taken it for that.
func TestIgnoredUpdates(t *testing.T) {
	by := &sut.Operation{Name: "edit", Method: "PATCH", Path: "/a/{id}", Schema: object(`"word":{"enum":["x","y"]},"text":{"type":"string"}`)}
	for text, want := range map[string]bool{
		`"n" 1 2`: true, `"n" 1 1`: false, `"n" 1.5 2`: false, `"b" true false`: true, `"word" "x" "y"`: true, `"text" " x" "y"`: false, `"list" ["a"] []`: true, `"list" ["A "] []`: false,
		`"list" [] ["a"]`: false, `"list" ["a"] ["a","b"]`: false, `"id" 1 2`: false,
	} {
		f := strings.SplitN(text, " ", 3)
		if strings.HasPrefix(text, `"text"`) {
			f = []string{`"text"`, `" x"`, `"y"`}
		} else if strings.Contains(text, `"A "`) {
			f = []string{`"list"`, `["A "]`, `[]`}
		}
		name, err := strconv.Unquote(f[0])
		if err != nil {
			t.Fatal(err)
		}
		had := sut.Observation{Status: 201, Output: fmt.Appendf(nil, `{%s:%s}`, f[0], f[2])}
		got, _, _ := ignored(by, &done{o: had}, &done{args: map[string]json.RawMessage{name: json.RawMessage(f[1])}, o: had}, &had)
		if (got != "") != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// A member that an update confirmed and the thing no longer shows is lost, unless answers may leave it out.
func TestLostMembers(t *testing.T) {
	shows := &sut.Operation{Name: "one", Method: "GET", Path: "/a/{id}", Answers: map[string]json.RawMessage{
		"200": json.RawMessage(`{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"properties":{"note":{},"id":{},"pass_phrase":{},"apiKeys":{},"shipping":{},"monkey":{},"sent":{"writeOnly":true}}}]}}}`),
	}}
	by := &sut.Operation{Name: "edit", Method: "PATCH", Path: "/a/{id}"}
	for text, want := range map[string]bool{
		`"note" "x"`: true, `"note" 2`: true, `"note" ""`: false, `"note" 0`: false, `"id" 2`: false, `"pass_phrase" "x"`: false, `"apiKeys" "x"`: false, `"shipping" "x"`: true, `"monkey" "x"`: true, `"sent" "x"`: false, `"other" "x"`: false,
	} {
		name, set, _ := strings.Cut(text, " ")
		was := sut.Observation{Status: 200, Output: fmt.Appendf(nil, `{%s:%s}`, name, set)}
		args := map[string]json.RawMessage{strings.Trim(name, `"`): json.RawMessage(set)}
		for status, lost := range map[int]bool{200: want, 206: false} {
			if got, _, shown := forgotten(by, shows, &done{args: args, o: was}, &sut.Observation{Status: status, Output: []byte(`{}`)}); (got != "") != lost || lost && string(shown) != "missing" {
				t.Errorf("%s, HTTP %d: %q is %s", text, status, got, shown)
			}
		}
	}
}

// What was left as it was, but not before, was not ignored. What usual calls fail with hides
// neither a list that is not what was asked for nor what a call did to a thing.
func TestWhatIsNotHidden(t *testing.T) {
	o := func(status int, text string) sut.Observation {
		return sut.Observation{End: sut.Answered, Status: status, Output: []byte(text)}
	}
	now := o(200, `{"n":2}`)
	if name, _, _ := ignored(&sut.Operation{}, &done{o: o(201, `{"n":3}`)}, &done{args: map[string]json.RawMessage{"n": json.RawMessage("1")}, o: now}, &now); name != "" {
		t.Errorf("ignored: %s", name)
	}
	ops := []sut.Operation{
		{Name: "list", Method: "GET", Path: "/a", Arguments: argumentsIn("query", "limit"), Answers: map[string]json.RawMessage{"200": json.RawMessage(`{"items":{"type":"string"}}`)}},
		{Name: "one", Method: "GET", Path: "/a/{id}", Answers: map[string]json.RawMessage{"200": object(`"note":{"type":"string"}`, "note")}},
		{Name: "edit", Method: "PUT", Path: "/a/{id}"},
	}
	list := o(200, `[1,2]`)
	for about, want := range map[string]string{"limit: minimum": kindPage, "required alone": kindAnswer} {
		in := input{Operation: "list", About: about, Valid: true, Args: json.RawMessage(`{"limit":1}`)}
		if out := judge(nil, &ops[0], &in, &list); out.Kind != want {
			t.Errorf("%s: %s", about, out.Kind)
		}
		typed, plain := ops[0], list
		typed.Frames, plain.Header = map[string]sut.Frame{"200": {Types: []string{"application/json"}}}, map[string][]string{"Content-Type": {"text/plain"}}
		if want == kindAnswer {
			want = kindType
		}
		if out := judge(nil, &typed, &in, &plain); out.Kind != want {
			t.Errorf("%s, of another type: %s", about, out.Kind)
		}
	}
	e := &executor{since: new(atomic.Int64), c: &Campaign{plan: &sut.Plan{Kind: sut.HTTP}}, x: &cellar{call: func(k sut.Call, _ map[string]string) sut.Observation {
		return o(200, map[string]string{"edit": `{"n":1}`, "one": `{"n":2}`}[k.Operation])
	}}}
	payload, err := json.Marshal(input{Operation: "one", Valid: true, Args: json.RawMessage(`{}`), Before: []earlier{{Operation: "edit", Args: json.RawMessage(`{"n":1}`), Take: []take{}}}, Take: []take{{"id", 0, "$statusCode"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, amiss := range []func(){func() {}, func() { ops[1].Answers = map[string]json.RawMessage{"201": nil} }} {
		amiss()
		if out, err := e.Execute(t.Context(), &state{ops: ops}, campaign.Case{Payload: payload}); err != nil || out.Kind != kindUpdate {
			t.Errorf("%+v, %v", out, err)
		}
	}
	typed := &sut.Operation{Answers: map[string]json.RawMessage{"200": json.RawMessage(`{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"properties":{"state":{"enum":["paid"]}}},{"properties":{"self":{"$ref":"#/$defs/a"}}}]}}}`)}}
	if got := states(typed); !slices.Contains(got, "paid") {
		t.Errorf("states: %q", got)
	}
}

// A call of those before that never ends is waited for once.
func TestLeaksBesideWhatHangs(t *testing.T) {
	hung, n := 0, 0
	calls := &cellar{call: func(c sut.Call, _ map[string]string) sut.Observation {
		if c.Operation == "slow" {
			hung++
			return sut.Observation{End: sut.Hung}
		}
		n++
		return sut.Observation{End: sut.Answered, Status: 200, Output: []byte("same")}
	}}
	c := &Campaign{plan: &sut.Plan{Kind: sut.HTTP}}
	e := &executor{since: new(atomic.Int64), c: c, x: calls}
	in := input{Operation: "me", Valid: true, Args: json.RawMessage(`{}`), Before: []earlier{{Operation: "slow", Args: json.RawMessage(`{"n":1}`)}, {Operation: "you", Args: json.RawMessage(`{}`)}}}
	payload, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	s := &state{ops: []sut.Operation{{Name: "me", Method: "GET"}, {Name: "you", Method: "GET"}, {Name: "slow", Method: "GET"}}}
	if out, err := e.Execute(t.Context(), s, campaign.Case{Payload: payload}); err != nil || out.Verdict == campaign.VerdictFail || hung != 1 || n < 8 {
		t.Errorf("%d calls hung, %d did not; %+v, %v", hung, n, out, err)
	}
}

// Whoever may change a system that others share calls it alone.
func TestOneWorkerOfWhatIsShared(t *testing.T) {
	for _, x := range []struct {
		plan   sut.Plan
		writes bool
		want   bool
	}{
		{sut.Plan{Kind: sut.HTTP}, true, true}, {sut.Plan{Kind: sut.HTTP}, false, false}, {sut.Plan{Kind: sut.MCP}, false, true},
		{sut.Plan{Kind: sut.HTTP, Command: []string{"serve"}}, true, false}, {sut.Plan{Kind: sut.HTTP, Command: []string{"serve"}, Per: sut.PerRun}, true, true},
	} {
		if got := (&Campaign{plan: &x.plan, writes: x.writes}).Traits().Exclusive; got != x.want {
			t.Errorf("%+v: %t", x, got)
		}
	}
}
