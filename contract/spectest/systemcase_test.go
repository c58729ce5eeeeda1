package spectest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/port/sut"
)

// scripted is a system whose operations are named after how their calls end.
type scripted struct{ calls, resets int }

func (s *scripted) Operations() []sut.Operation {
	return []sut.Operation{{Name: "answered", Arguments: []sut.Argument{{Name: "amount"}}}, {Name: "crashed"}, {Name: "refused"}, {Name: "unreachable"}}
}
func (s *scripted) Reset(context.Context) error { s.calls, s.resets = 0, s.resets+1; return nil }
func (s *scripted) Notes() []string             { return nil }
func (s *scripted) Close() error                { return nil }

func (s *scripted) Call(_ context.Context, c sut.Call) (sut.Observation, error) {
	s.calls++
	args, _ := json.Marshal(c.Named)
	o := sut.Observation{End: sut.End(c.Operation), Status: 200, Output: fmt.Appendf(nil, "call %d %s %q", s.calls, args, c.Positional),
		Value: json.RawMessage(`{"n": 1}`), Events: []sut.Event{{Kind: "tool", Name: "charge"}}}
	if len(c.Positional) == 1 && string(c.Positional[0]) == "9" {
		o.Value = json.RawMessage(`"7"`)
	}
	if o.End != sut.Answered {
		o.Status, o.Why, o.Value = 500, "why", nil
	}
	return o, nil
}

func TestSystemCalls(t *testing.T) {
	t.Chdir(t.TempDir())
	k := newContract(nil)
	system := &scripted{}
	k.targets.Systems = func(context.Context, *sut.Plan, sut.Worker) (sut.System, error) { return system, nil }
	write(t, "s.system.yaml", []byte("schema: thresh.system.v1\nkind: mcp\nurl: http://localhost\n"))
	call := func(id, operation, rest string) string {
		return fmt.Sprintf("id: %s\ntype: system.call\nharness: {system: s.system.yaml}\noperation: %s\n%s\n", id, operation, rest)
	}
	got, outcomes := play(t, k, blockDocument(
		call("SEES", "answered", `arguments: {amount: 3}
assert:
- {target: status, must: [{contain: ["200"]}, {evaluate: [[eq, [subject], 200]]}]}
- {target: end, must: [{regex: ["^answered$"]}]}
- {target: value, must: [{evaluate: [[eq, [get, [subject], n], 1]]}, {json_type: [dict]}]}
- {target: output, must: [{contain: ["call 1 ", '"amount"']}]}
- {target: events, must: [{json_type: [list]}, {evaluate: [[eq, [get, [get, [subject], 0], name], charge]]}]}`),
		call("PLACES", "answered", "arguments: [7]\nassert: {target: output, must: [{contain: [call 1 null]}, {contain: ['\"7\"']}]}"),
		call("WRONG", "answered", "assert: {target: value, must: [{evaluate: [[eq, [get, [subject], n], 2]]}]}"),
		call("UNHEARD", "refused", "assert: {target: output, must: [{contain: [call]}]}"),
		call("HEARD", "refused", "assert: {target: end, must: [{contain: [refused]}]}"),
		call("CRASH", "crashed", ""),
		call("STATUS", "crashed", `assert: {target: status, must: [{contain: ["500"]}]}`),
		call("NAME", "crashd", ""),
		call("ARGUMENT", "answered", "arguments: {amuont: 3}"),
		call("TEXT", "answered", "arguments: [9]\ncapture: {a: $}\nassert: [{when: '$ == \"7\" and not ($ == 7)'}]"),
		call("TEXT2", "answered", "arguments: {amount: \"${a}\"}\nassert: [{target: output, must: [{contain: ['\"7\"']}]}]")), nil)
	expect(t, got, "SEES pass", "PLACES pass", "WRONG fail assertion", "UNHEARD fail runtime", "HEARD pass",
		"CRASH fail runtime", "STATUS pass", "NAME fail schema", "ARGUMENT fail schema", "TEXT..TEXT2 pass")
	for i, want := range map[int]string{3: "the call of refused refused: why", 7: "did you mean crashed?", 8: "did you mean amount?"} {
		if !strings.Contains(outcomes[i].Title, want) {
			t.Errorf("case %d: got %q, want %q in it", i, outcomes[i].Title, want)
		}
	}
	if system.resets != len(got) {
		t.Errorf("%d resets for %d cases", system.resets, len(got))
	}
}

func TestSystemOfTheCommandLine(t *testing.T) {
	t.Chdir(t.TempDir())
	doc := []byte(blockDocument("id: A\ntype: system.call\noperation: unreachable\n", "id: T\ntype: text.file\nassert: []\n"))
	write(t, "s.yaml", []byte("schema: thresh.system.v1\nname: gone\nkind: mcp\nurl: http://localhost\n"))
	write(t, "other.yaml", []byte("schema: thresh.system.v1\nname: other\nkind: mcp\nurl: http://localhost\n"))
	k := newContract(nil)
	k.targets.Systems = func(context.Context, *sut.Plan, sut.Worker) (sut.System, error) { return &scripted{}, nil }
	compile := func(options map[string][]string) *Campaign {
		t.Helper()
		camps, list := k.Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: doc}, ofFiles(options))
		if list.HasErrors() {
			t.Fatal(list)
		}
		if options["filter"] != nil && !strings.Contains(list.Error(), "--system: has no effect") {
			t.Errorf("got %v", list)
		}
		c, _ := campaign.As[*Campaign](camps[0])
		return c
	}
	one := compile(map[string][]string{"system": {"s.yaml"}})
	if other := compile(map[string][]string{"system": {"other.yaml"}}); one.Identity() == other.Identity() {
		t.Error("the system is not in the identity")
	}
	compile(map[string][]string{"system": {"s.yaml"}, "filter": {"type=text"}})
	e, err := campaign.Solo(t.Context(), one, campaign.Lane{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Execute(t.Context(), &state{}, campaign.Case{}); err == nil || !strings.Contains(err.Error(), "the system gone is unreachable") {
		t.Errorf("got %v", err)
	}
	if campaign.IsFatal(err) {
		t.Error("it ends the run")
	}
}

// deaf is a system whose calls, or what is to be done before, cannot be made.
type deaf struct {
	scripted
	at string
}

func (s *deaf) Reset(ctx context.Context) error {
	if s.at == "reset" {
		return errDeaf
	}
	return s.scripted.Reset(ctx)
}

func (s *deaf) Call(ctx context.Context, c sut.Call) (sut.Observation, error) {
	if s.at == "call" {
		return sut.Observation{}, errDeaf
	}
	return s.scripted.Call(ctx, c)
}

var errDeaf = errors.New("nobody is there")

// A system that cannot be opened, reset or called is the environment's failure: nothing is
// known of the case.
func TestSystemsThatCannotBeCalled(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "s.yaml", []byte("schema: thresh.system.v1\nkind: mcp\nurl: http://localhost\n"))
	for at, fails := range map[string]bool{"open": true, "reset": true, "call": true, "": false} {
		k := newContract(nil)
		k.targets.Systems = func(context.Context, *sut.Plan, sut.Worker) (sut.System, error) {
			if at == "open" {
				return nil, errDeaf
			}
			return &deaf{at: at}, nil
		}
		camps, list := k.Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: []byte(blockDocument("id: A\ntype: system.call\noperation: answered\n"))}, ofFiles(map[string][]string{"system": {"s.yaml"}}))
		if list.HasErrors() {
			t.Fatal(list)
		}
		c, _ := campaign.As[*Campaign](camps[0])
		e, err := campaign.Solo(t.Context(), c, campaign.Lane{Of: 1})
		if err != nil {
			t.Fatal(err)
		}
		if o, err := e.Execute(t.Context(), &state{}, campaign.Case{}); errors.Is(err, errDeaf) != fails || !fails && (err != nil || o.Verdict != campaign.VerdictPass) {
			t.Errorf("%s fails: %v, %+v", at, err, o)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A system file with an error is refused where it is the command line's; a case that names
// it fails with the key. Either way the error is listed once.
func TestSystemFilesWithErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "s.yaml", []byte("schema: thresh.system.v1\nkind: http\nurl: http://localhost\noperations: {a: {path: /, bdy: x}}\n"))
	k := newContract(nil)
	compile := func(rest string, check bool, options map[string][]string) ([]campaign.Any, int) {
		set := ofFiles(options)
		set.Check = check
		block := "type: system.call\noperation: a\n" + rest
		camps, list := k.Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: []byte(blockDocument("id: A\n"+block, "id: B\n"+block))}, set)
		return camps, strings.Count(list.Error(), "s.yaml:4:27: error: operations.a.bdy: is not a known key")
	}
	with := map[string][]string{"system": {"s.yaml"}}
	if camps, n := compile("", false, with); camps != nil || n != 1 {
		t.Errorf("--system: %v, listed %d times", camps, n)
	}
	if _, n := compile("harness: {system: s.yaml}\n", true, nil); n != 1 {
		t.Errorf("check: listed %d times", n)
	}
	camps, n := compile("harness: {system: s.yaml}\n", false, nil)
	c, _ := campaign.As[*Campaign](camps[0])
	if o := outcomes(t, c); n != 0 || !strings.HasSuffix(o[1].Title, "the system cannot be used: operations.a.bdy: is not a known key") {
		t.Errorf("%d, %+v", n, o)
	}
}

// A program with per: run is started once for the documents of a run, and once more for
// what is run again cold.
func TestSystemOfTheRun(t *testing.T) {
	t.Chdir(t.TempDir())
	k, opened := newContract(nil), 0
	k.targets.Systems = func(context.Context, *sut.Plan, sut.Worker) (sut.System, error) {
		opened++
		return &scripted{}, nil
	}
	write(t, "s.system.yaml", []byte("schema: thresh.system.v1\nkind: http\ncommand: [serve]\nper: run\nurl: \"http://127.0.0.1:{port}\"\noperations: {answered: {method: GET, path: /}}\n"))
	doc := blockDocument("id: A\ntype: system.call\nharness: {system: s.system.yaml}\noperation: answered\n")
	ctx, cache := t.Context(), &campaign.Cache{}
	for _, c := range []struct {
		name string
		cold bool
		want int
	}{{"a.spec.md", false, 1}, {"b.spec.md", false, 1}, {"a.spec.md", true, 2}, {"c.spec.md", false, 2}} {
		camps, list := k.Compile(ctx, campaign.Spec{Path: c.name, Data: []byte(doc)}, ofFiles(nil))
		if list.HasErrors() {
			t.Fatal(list)
		}
		s := camps[0].Open(cache)
		x, err := s.Executor(ctx, campaign.Lane{Of: 1, Cold: c.cold})
		if err != nil {
			t.Fatal(err)
		}
		if o, err := x.Execute(ctx, &state{}, campaign.Case{}); err != nil || o.Verdict != campaign.VerdictPass || opened != c.want {
			t.Errorf("%+v: %v %+v, %d opened", c, err, o, opened)
		}
		if err := errors.Join(x.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	}
	if err := cache.Close(); err != nil {
		t.Error(err)
	}
}
