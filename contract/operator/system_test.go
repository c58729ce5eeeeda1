package operator_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/operator"
	"github.com/thresh-dev/thresh/port/sut"
)

// assistant is a system that answers by a function, without a process.
type assistant func(prompt string, call int) (sut.Observation, error)

type asked struct {
	answer assistant
	calls  *int
}

func (a assistant) open(calls *int) sut.Opener {
	return func(context.Context, *sut.Plan, sut.Worker) (sut.System, error) { return asked{a, calls}, nil }
}

func (asked) Operations() []sut.Operation { return nil }
func (asked) Reset(context.Context) error { return nil }
func (asked) Notes() []string             { return nil }
func (asked) Close() error                { return nil }
func (a asked) Call(_ context.Context, c sut.Call) (sut.Observation, error) {
	*a.calls++
	return a.answer(string(c.Input), *a.calls)
}

func alwaysSucceeds(text string) (sut.Observation, error) {
	v, err := json.Marshal(text)
	return sut.Observation{End: sut.Answered, Value: v}, err
}

const guarded = `"children": 4, "system": "guard.system.yaml", "judges": [
  {"id": "no-canary", "type": "excludes_pattern", "patterns": ["canary-\\d+"]}, {"type": "output_not_empty"}]`

const systemFile = "schema: thresh.system.v1\nname: guard\nkind: driver\ncommand: [./guard]\noperations: {ask: {}}\ninput: {operation: ask, argument: prompt}\n"

// A reply that breaks a judge is a finding that shows child, reply and reasons;
// one that keeps to all passes.
func TestSystemIsJudged(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	place(t, dir, "guard.system.yaml", systemFile)
	place(t, dir, "guard", "")
	for name, c := range map[string]struct {
		answer  assistant
		kind    string
		title   string
		verdict campaign.Verdict
		calls   int
	}{
		"holds": {func(string, int) (sut.Observation, error) { return alwaysSucceeds("no") }, "", "", campaign.VerdictPass, 8},
		"leaks": {func(string, int) (sut.Observation, error) { return alwaysSucceeds("it is CANARY-7") }, "verdict", "breaks no-canary", campaign.VerdictFail, 8},
		"empty": {func(string, int) (sut.Observation, error) { return alwaysSucceeds(" ") }, "verdict", "breaks output_not_empty", campaign.VerdictFail, 8},
		"hangs": {func(string, int) (sut.Observation, error) {
			return sut.Observation{End: sut.Hung, Why: "no answer"}, nil
		},
			"hung", "the system hung on", campaign.VerdictFail, 8},
		"crashes": {func(string, int) (sut.Observation, error) {
			return sut.Observation{End: sut.Crashed, Why: "exit code 3"}, nil
		},
			"crashed", "the system crashed on", campaign.VerdictFail, 8},
		"refuses": {func(string, int) (sut.Observation, error) {
			return sut.Observation{End: sut.Refused, Why: "HTTP 403", Output: []byte("no")}, nil
		}, "", "", campaign.VerdictPass, 8},
		"is gone": {func(string, int) (sut.Observation, error) {
			return sut.Observation{End: sut.Unreachable, Why: "no connection"}, nil
		},
			"system", "the system gave no verdict", campaign.VerdictError, 5*3 + 3},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			d := execute(t, operator.New(nil, nil).Systems(c.answer.open(&calls)), dir, strings.Replace(hexOnly, "%s", guarded, 1))
			for _, o := range d.outcomes {
				if o.Verdict != c.verdict || o.Kind != c.kind || !strings.Contains(o.Title, c.title) {
					t.Fatalf("%v %s %q", o.Verdict, o.Kind, o.Title)
				}
				if o.Verdict == campaign.VerdictFail && (o.Attached("judge") == nil || o.Attached("child") == nil || o.Attached("seed") == nil) {
					t.Fatal("a finding without what shows it")
				}
			}
			if calls != c.calls || len(d.outcomes) != 8 {
				t.Errorf("%d calls for %d cases, expected %d", calls, len(d.outcomes), c.calls)
			}
		})
	}
}

// A system that never says anything keeps to every judge of what must not be said: that
// shows nothing, and is a warning. One reply, or a call of a tool, is something.
func TestSilentSystems(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	place(t, dir, "guard.system.yaml", systemFile)
	place(t, dir, "guard", "")
	text := strings.Replace(hexOnly, "%s", `"children": 4, "system": "guard.system.yaml", "judges": [{"type": "not_contains", "value": "canary"}]`, 1)
	for name, c := range map[string]struct {
		answer assistant
		silent bool
	}{
		"blank": {func(string, int) (sut.Observation, error) { return alwaysSucceeds(" ") }, true},
		"null": {func(string, int) (sut.Observation, error) {
			return sut.Observation{End: sut.Answered, Value: json.RawMessage("null")}, nil
		}, true},
		"a word": {func(_ string, call int) (sut.Observation, error) {
			if call == 3 {
				return alwaysSucceeds("no")
			}
			return alwaysSucceeds("")
		}, false},
		"a tool": {func(string, int) (sut.Observation, error) {
			return sut.Observation{End: sut.Answered, Value: json.RawMessage(`""`), Events: []sut.Event{{Kind: "tool", Name: "look"}}}, nil
		}, false},
		"refusals": {func(string, int) (sut.Observation, error) {
			return sut.Observation{End: sut.Refused, Why: "HTTP 403"}, nil
		}, false},
	} {
		calls := 0
		d := execute(t, operator.New(nil, nil).Systems(c.answer.open(&calls)), dir, text)
		if n := d.verdicts(); n[campaign.VerdictPass] != 8 {
			t.Errorf("%s: verdicts %v", name, n)
		}
		if got := strings.Contains(d.warnings(), "every reply of the system guard was empty"); got != c.silent {
			t.Errorf("%s: %s", name, d.warnings())
		}
	}
}

// A document's system decides the cases: another file is another campaign.
func TestSystemIsIdentity(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	program := place(t, dir, "guard", "one")
	file := place(t, dir, "guard.system.yaml", systemFile)
	digest := func() string {
		t.Helper()
		set := settings()
		set.Digest = func(p string) (string, error) {
			text, err := os.ReadFile(p)
			return string(text), err
		}
		list, found := operator.New(nil, nil).Compile(t.Context(),
			campaign.Spec{Path: filepath.Join(dir, "operators.json"), Data: []byte(strings.Replace(hexOnly, "%s", guarded, 1))}, set)
		if found.HasErrors() {
			t.Fatal(found)
		}
		return list[0].Identity().Digest
	}
	seen := map[string]string{digest(): "at first"}
	place(t, dir, filepath.Base(program), "two")
	if was, twice := seen[digest()]; twice {
		t.Errorf("another program has the digest of %s", was)
	}
	seen[digest()] = "the other program"
	place(t, dir, filepath.Base(file), systemFile+"limits: {timeout: 1s}\n")
	if was, twice := seen[digest()]; twice {
		t.Errorf("another system file has the digest of %s", was)
	}
}

// What of a system and its judges cannot go together is refused.
func TestSystemRefused(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	place(t, dir, "guard", "")
	place(t, dir, "guard.system.yaml", systemFile)
	judges := `"judges": [{"type": "refusal"}]`
	for text, want := range map[string]string{
		judges:                             "judges: has no effect without system, whose replies are judged",
		`"system": "guard.system.yaml"`:    "judges: must be given with a system: without judges no reply would be wrong",
		`"system": "gone.yaml", ` + judges: "the system file cannot be read",
		`"system": {"schema": "thresh.system.v1"}, ` + judges: "system.kind: ",
		guarded + `, "oracle": {"command": ["true"]}`:         "system: cannot be used together with oracle or verdicts: a child has one judge",
	} {
		_, found := operator.New(nil, nil).Compile(t.Context(),
			campaign.Spec{Path: filepath.Join(dir, "operators.json"), Data: []byte(strings.Replace(hexOnly, "%s", text, 1))}, settings())
		if !found.HasErrors() || !strings.Contains(found.Error(), want) {
			t.Errorf("%s: %v, expected %q", text, found, want)
		}
	}
	whole := `"system": {"schema": "thresh.system.v1", "name": "guard", "kind": "driver", "command": ["./guard"], "operations": {"ask": {}}, "input": {"operation": "ask", "argument": "prompt"}}, ` + judges
	_, found := operator.New(nil, nil).Compile(t.Context(),
		campaign.Spec{Path: filepath.Join(dir, "operators.json"), Data: []byte(strings.Replace(hexOnly, "%s", whole, 1))}, settings())
	if found.HasErrors() {
		t.Errorf("a system in the document: %v", found)
	}
}

type dead struct{ asked }

func (dead) Reset(context.Context) error { return errors.New("the program ended at once") }

// A system that cannot be brought into its first state ends a run before the first
// case, and not each of its cases.
func TestSystemThatDoesNotStart(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, "seeds.jsonl", seeds)
	place(t, dir, "guard.system.yaml", systemFile)
	place(t, dir, "guard", "")
	var gone error
	k := operator.New(nil, nil).Systems(func(context.Context, *sut.Plan, sut.Worker) (sut.System, error) {
		if gone != nil {
			return nil, gone
		}
		return dead{}, nil
	})
	text := `{"schema_version": "thresh.operators.v1", "name": "x", "seeds": ["seeds.jsonl"], "select": {"surface": "PROMPT_TEXT"}, ` + guarded + `}`
	list, problems := k.Compile(t.Context(), campaign.Spec{Path: filepath.Join(dir, "operators.json"), Data: []byte(text)}, settings())
	if len(list) != 1 {
		t.Fatal(problems)
	}
	if _, err := list[0].Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "ended at once") {
		t.Error(err)
	}
	gone = errors.New("a variable is not set") // replays and samples open it without a look beforehand
	if _, err := campaign.Solo(t.Context(), list[0], campaign.Lane{Of: 1}); !errors.Is(err, gone) {
		t.Error(err)
	}
}
