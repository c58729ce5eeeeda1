package fresnelfir

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/port/dut"
	"github.com/thresh-dev/thresh/port/sut"
	edges "github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/driver"
)

// drivers are the programs of examples, by the name of the example.
var drivers = map[string][]byte{}

// built writes the driver of an example, which is compiled once.
func built(t *testing.T, name, path string) {
	t.Helper()
	if drivers[name] == nil {
		if out, err := exec.Command("go", "build", "-C", "../../examples/"+name, "-o", path, ".").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		drivers[name] = data
	}
	if err := os.WriteFile(path, drivers[name], 0o755); err != nil {
		t.Fatal(err)
	}
}

// crowd compiles an example whose actors call a driver at the same time: the driver is
// built here and started with further arguments.
func crowd(t *testing.T, name string, args ...string) *Campaign {
	t.Helper()
	dir, from := t.TempDir(), "../../examples/"+name+"/"
	built(t, name, filepath.Join(dir, name))
	text, err := os.ReadFile(from + name + ".model.star")
	if err != nil {
		t.Fatal(err)
	}
	yaml, err := os.ReadFile(from + name + ".system.yaml")
	if err != nil {
		t.Fatal(err)
	}
	yaml = bytes.Replace(yaml, []byte("]"), []byte(strings.Join(append([]string{""}, args...), ", ")+"]"), 1)
	open := edges.New(map[sut.Kind]edges.Kind{sut.Driver: driver.Open}).Open
	list, diags := New(nil).Systems(open).Compile(t.Context(), campaign.Spec{Path: filepath.Join(dir, name+".model.star"), Data: text}, campaign.Settings{
		Read: func(path string) ([]byte, error) {
			if strings.HasSuffix(path, ".yaml") {
				return yaml, nil
			}
			return os.ReadFile(path)
		},
		Digest: func(string) (string, error) { return "", nil },
	})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	c, _ := campaign.As[*Campaign](list[0])
	return c
}

// histories makes histories until one fails, by one of the causes if some are given, and
// returns it and how many were made.
func histories(t *testing.T, c *Campaign, most int64, causes ...string) (campaign.Outcome, int64) {
	t.Helper()
	x, err := campaign.Solo(t.Context(), c, campaign.Lane{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for n := range most {
		o, err := x.Execute(t.Context(), nil, campaign.Case{Index: n})
		if err != nil {
			t.Fatal(err)
		}
		if o.Verdict != campaign.VerdictPass && (len(causes) == 0 || slices.Contains(causes, o.Cause[0])) {
			return o, n + 1
		}
	}
	return campaign.Outcome{}, most
}

// needed is the smallest part of a failing history, and the calls in it.
func needed(t *testing.T, c *Campaign, o campaign.Outcome) ([]byte, []string) {
	t.Helper()
	x, err := campaign.Solo(t.Context(), c, campaign.Lane{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	again := func(payload []byte) (bool, error) {
		now, err := x.Execute(t.Context(), nil, campaign.Case{Payload: payload})
		return now.Verdict == campaign.VerdictFail && now.Title == o.Title, err
	}
	whole := o.Attached(campaign.InputAttachment)
	if held, err := again(whole); !held || err != nil {
		t.Fatalf("the recorded history does not fail again: %v", err)
	}
	least, _ := c.Reduce(t.Context(), whole, again)
	j := c.judgeOf(least)
	v := j.judgeRecording()
	var names []string
	for _, i := range v.calls {
		names = append(names, j.name(&j.rec.Calls[i]))
	}
	for _, i := range v.calls { // 1-minimal
		k := &j.rec.Calls[i]
		if k.End == v.until {
			continue
		}
		k.Dropped, j.tried = true, 0
		if !j.explained(v.among, v.until) && j.sameFinding(&v) {
			t.Errorf("the history fails without %s, too", j.name(k))
		}
		k.Dropped = false
	}
	return least, names
}

// Every planted race is found within 2,000 histories, and the correct store has none.
func TestRaces(t *testing.T) {
	for _, race := range []string{"stale-fill", "late-invalidation", "lost-increment", "torn-swap", "early-answer"} {
		t.Run(race, func(t *testing.T) {
			c := crowd(t, "races", race)
			o, n := histories(t, c, 2000)
			if o.Verdict != campaign.VerdictFail || o.Kind != kindDiscrepancy {
				t.Fatalf("not found in %d histories: %v %s", n, o.Verdict, o.Title)
			}
			_, names := needed(t, c, o)
			t.Logf("history %d: %s: %s", n, o.Title, strings.Join(names, " "))
			if len(names) > 6 {
				t.Errorf("%d calls are left: %v", len(names), names)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		most := int64(60)
		if os.Getenv("THRESH_TEST_LONG") != "" {
			most = 20_000
		}
		if o, n := histories(t, crowd(t, "races"), most); o.Verdict != campaign.VerdictPass {
			t.Errorf("history %d of the correct store: %s", n, o.Title)
		}
	})
}

// What is acknowledged and lost when the system is killed is found, beside calls about
// accounts whose opening was lost, which nothing explains; a system that keeps what it
// acknowledges stands the same faults.
func TestAcknowledgedThenLost(t *testing.T) {
	c := crowd(t, "ledger", "buffered")
	o, n := histories(t, c, 300, "acknowledged, then lost")
	if o.Verdict != campaign.VerdictFail {
		t.Fatalf("not found in %d histories: %v %s", n, o.Verdict, o.Title)
	}
	least, names := needed(t, c, o)
	t.Logf("history %d: %s: %v", n, o.Title, names)
	list := historyExhibits(c.judgeOf(least).show(c.judgeOf(least).judgeRecording()).encode())
	if !strings.Contains(strings.Join(flat(list[0].Table.Rows), " "), "killed") {
		t.Errorf("the timeline shows no kill: %v", list[0].Table.Rows)
	}
	if o, n := histories(t, crowd(t, "ledger"), 40); o.Verdict != campaign.VerdictPass {
		t.Errorf("history %d of the correct ledger: %s", n, o.Title)
	}
}

// played is a history of the ledger: account by account, what was called and answered, and
// a kill at the moment 100.
func played(t *testing.T, c *Campaign, numbers []int64, calls ...called) *judge {
	t.Helper()
	p := c.plan
	s := &score{from: p.program.New(2).Save()}
	r := &recording{Calls: calls, Faults: []faulted{{At: 100, Until: 101, Kind: faultKill}}}
	for i := range r.Calls {
		k := &r.Calls[i]
		x := cue{action: p.program.Action("read"), made: model.None, inputs: make([]model.Value, 1), slots: []standing{{p.program.Slot("account"), k.Of[0]}}}
		if k.Value.Kind == dut.Ref {
			x.action, x.made, x.slots = p.program.Action("open"), k.Of[0], nil
		}
		k.Step, k.Of = i, nil
		s.steps = append(s.steps, x)
	}
	for i := range numbers {
		maker := slices.IndexFunc(s.steps, func(x cue) bool { return x.made == int32(i) })
		s.insts = append(s.insts, planned{name: "account", entity: 0, maker: maker, number: int64(i) + 1})
		r.Calls[maker].Value = dut.Number(dut.Ref, numbers[i])
	}
	return newJudge(p, c.module, s, r)
}

// A call shows that its account was lost by being refused, or by the answer of another one
// that has got the account's number; what the program had answered before it was killed is
// lost too if the actor read that only later. Without a kill, nothing is lost.
func TestLostWithItsInstance(t *testing.T) {
	c := crowd(t, "ledger")
	opens := func(i int32, from, to int64) called {
		return called{Of: []int32{i}, Begin: from, End: to, Value: dut.Number(dut.Ref, 0)}
	}
	reads := func(i int32, from int64, answer int64) called {
		return called{Of: []int32{i}, Begin: from, End: from + 1, Value: dut.Number(dut.Int, answer)}
	}
	refused := reads(0, 200, 0)
	refused.Cause = dut.Refused
	lost, other := "acknowledged, then lost", "linearizability"
	for name, x := range map[string]struct {
		numbers []int64
		calls   []called
		cause   string
	}{
		"refused after the kill":      {[]int64{1}, []called{opens(0, 1, 2), refused}, lost},
		"answered around the kill":    {[]int64{1}, []called{opens(0, 99, 103), refused}, lost},
		"opened after the kill":       {[]int64{1}, []called{opens(0, 110, 111), refused}, other},
		"its number is another's":     {[]int64{1, 1}, []called{opens(0, 1, 2), opens(1, 110, 111), reads(0, 200, 7)}, lost},
		"another has another number":  {[]int64{1, 2}, []called{opens(0, 1, 2), opens(1, 110, 111), reads(0, 200, 7)}, other},
		"what nobody wrote, no other": {[]int64{1}, []called{opens(0, 1, 2), reads(0, 200, 7)}, other},
	} {
		if v := played(t, c, x.numbers, x.calls...).judgeRecording(); v.failed == nil || v.failed.cause != x.cause {
			t.Errorf("%s: %+v, want %s", name, v.failed, x.cause)
		}
	}
}

// At least half of the calls are about what the call before is about.
func TestScores(t *testing.T) {
	c := crowd(t, "races")
	tr := newTraversal(c.plan)
	same, all := 0, 0
	for n := range int64(200) {
		if err := c.prepare(tr, nil, campaign.Case{Index: n}); err != nil {
			t.Fatal(err)
		}
		s := c.compose(tr)
		for i := range s.steps {
			if i > 0 && len(s.steps[i].slots) > 0 && len(s.steps[i-1].slots) > 0 && len(s.insts) > 4 {
				all++
				if s.steps[i].slots[0] == s.steps[i-1].slots[0] {
					same++
				}
			}
		}
	}
	if t.Logf("%d of %d", same, all); same*2 < all {
		t.Errorf("%d of %d calls are about what the call before was about", same, all)
	}
}

func flat(rows [][]string) (list []string) {
	for _, r := range rows {
		list = append(list, r...)
	}
	return list
}

// A history of 1,000 calls by 8 actors over 100 keys is judged key by key: the search
// takes a few steps for each call.
func TestLongHistory(t *testing.T) {
	c := crowd(t, "races")
	p, action := c.plan, func(name string) int { return c.plan.program.Action(name) }
	const keys, actors, calls = 100, 8, 1000
	s := &score{from: p.program.New(actors).Save()}
	r := &recording{}
	key := p.program.Slot("key")
	rng := rand.New(rand.NewPCG(1, 2))
	var held [keys]int64
	for i := range int32(keys) {
		s.insts = append(s.insts, planned{entity: 0, maker: int(i), number: int64(i) + 1})
		s.steps = append(s.steps, cue{action: action("create"), made: i, inputs: make([]model.Value, 2)})
		r.Calls = append(r.Calls, called{Step: int(i), Begin: int64(i)*2 + 1, End: int64(i)*2 + 2, Value: dut.Number(dut.Ref, int64(i)+1)})
	}
	for n := range calls - keys { // each takes effect in the middle, and overlaps those of seven others
		i, moment := rng.IntN(keys), int64(n)*100+10_000
		x := cue{thread: n % actors, made: model.None, slots: []standing{{key, int32(i)}}, inputs: make([]model.Value, 2)}
		x.inputs[p.program.Domain("value")], x.inputs[p.program.Domain("other")] = model.Number(int64(n%4)), model.Number(0)
		k := called{Step: len(s.steps), Thread: n % actors, Begin: moment - 399 + int64(n%actors), End: moment + 399 - int64(n%actors)}
		if x.action = action("get"); n%2 == 0 {
			x.action, held[i] = action("put"), int64(n%4)
		} else {
			k.Value = dut.Number(dut.Int, held[i])
		}
		s.steps, r.Calls = append(s.steps, x), append(r.Calls, k)
	}
	j := newJudge(p, c.module, s, r)
	if v := j.judgeRecording(); v.failed != nil || v.undecided {
		t.Fatalf("a history that took place in order: %+v", v)
	}
	if n := len(j.apart()); n != keys {
		t.Errorf("%d parts, want %d", n, keys)
	}
	all := 0
	for _, part := range j.apart() {
		j.tried = 0
		if !j.explained(part, 1<<62) {
			t.Error("no order explains a part")
		}
		all += j.tried
	}
	t.Logf("%d steps", all)
	if all > 20*calls {
		t.Errorf("%d steps for %d calls", all, calls)
	}
	for i := range r.Calls {
		if k := &r.Calls[i]; k.Step >= 0 && s.steps[k.Step].action == action("get") && k.Begin > 50_000 {
			k.Value.Int += 5 // a value that nobody put
			break
		}
	}
	r.Faults = append(r.Faults, faulted{At: 1, Until: 2, Kind: "clock:advance"}, faulted{At: 49_000, Until: 49_001, Kind: faultKill})
	j = newJudge(p, c.module, s, r)
	v := j.judgeRecording()
	if v.failed == nil {
		t.Fatal("an answer that nobody gave is explained")
	}
	if v.failed.cause != "linearizability" {
		t.Errorf("%s: nothing that is lost explains it", v.failed.title)
	}
	if x := j.show(v); !slices.ContainsFunc(x.Calls, func(c shownCall) bool { return c.IsFault }) {
		t.Errorf("the history lacks the jump of the clock before its first call: %+v", x.Calls)
	}
}
