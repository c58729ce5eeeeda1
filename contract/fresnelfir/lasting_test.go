package fresnelfir

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/port/sut"
)

// jobs is a system that nothing resets and that counts what it makes. If it is mortal, it
// ends when a job is begun twice.
type jobs struct {
	begun  []bool
	mortal bool
	deaths int
}

func (*jobs) Operations() []sut.Operation {
	return []sut.Operation{{Name: "begin", Refuses: true}, {Name: "make"}}
}
func (*jobs) Reset(context.Context) error { return nil }
func (*jobs) Notes() []string             { return nil }
func (*jobs) Close() error                { return nil }

func (j *jobs) Call(_ context.Context, c sut.Call) (sut.Observation, error) {
	if c.Operation == "make" {
		j.begun = append(j.begun, false)
		return sut.Observation{End: sut.Answered, Value: json.RawMessage(strconv.Itoa(len(j.begun)))}, nil
	}
	n, err := strconv.Atoi(string(c.Positional[0]))
	switch {
	case err != nil || n < 1 || n > len(j.begun):
		return sut.Observation{End: sut.Refused, Why: "no such job"}, err
	case j.begun[n-1] && j.mortal:
		j.begun, j.deaths = nil, j.deaths+1
		return sut.Observation{End: sut.Crashed, Exit: 3, Why: "the program ended"}, nil
	case j.begun[n-1]:
		return sut.Observation{End: sut.Refused, Why: "begun already"}, nil
	}
	j.begun[n-1] = true
	return sut.Observation{End: sut.Answered, Value: json.RawMessage("null")}, nil
}

const jobsModel = `
system("jobs.system.yaml")
explore(threads = 1, budget = 600, vary = True)
Job = entity(begun = bool(default = False))
def make():
    require(count(Job) < 6)
    j = new(Job, begun = False)
    call("make", returns = Job)
def begin():
    j = any(Job)
    require(not j.begun)
    j.begun = True
    call("begin", j, rejects = True)
`

// exploreJobs runs all cases on one lane, and counts those that fail and those that bring
// their steps.
func exploreJobs(t *testing.T, system *jobs) (failed, shown int) {
	t.Helper()
	k := New(nil).Systems(func(context.Context, *sut.Plan, sut.Worker) (sut.System, error) { return system, nil })
	list, diags := k.Compile(context.Background(), campaign.Spec{Path: "jobs.model.star", Data: []byte(jobsModel)}, campaign.Settings{
		Read: func(string) ([]byte, error) {
			return []byte("schema: thresh.system.v1\nname: jobs\nkind: driver\ncommand: [./jobs]\nreset: none\n"), nil
		},
		Digest: func(string) (string, error) { return strings.Repeat("0", 64), nil },
	})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	c, _ := campaign.As[*Campaign](list[0])
	x, err := c.openLane(context.Background(), campaign.Lane{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	s := c.Start(campaign.Facts{})
	for {
		r, more := c.Round(s)
		if !more {
			return failed, shown
		}
		first := s.cases
		s = c.Fold(s, func(yield func(campaign.Case, campaign.Outcome) bool) {
			for i := range r.Len {
				at := campaign.Case{Index: first + i, Payload: r.Payload(i)}
				o, err := x.Execute(context.Background(), s, at)
				if err != nil {
					t.Fatalf("case %d: %v", at.Index, err)
				}
				if o.Verdict == campaign.VerdictFail {
					failed++
				}
				if len(o.Evidence) > 0 {
					shown++
				}
				if !yield(at, o) {
					return
				}
			}
		})
	}
}

// A traversal never goes on from a state of a system that nothing resets: what it makes
// again has other numbers than those it goes by.
func TestLastingSystem(t *testing.T) {
	if failed, _ := exploreJobs(t, &jobs{}); failed > 0 {
		t.Errorf("%d cases fail", failed)
	}
}

// The steps of a failure are taken again for its first case, not for each.
func TestStepsOfFirstCaseOnly(t *testing.T) {
	system := &jobs{mortal: true}
	failed, shown := exploreJobs(t, system)
	if failed < 100 || shown != 1 {
		t.Errorf("%d cases fail, of %d the steps are shown; the system ended %d times", failed, shown, system.deaths)
	}
}
