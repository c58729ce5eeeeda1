package run_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/run"
)

// pot is a system that all lanes call. It ends some milliseconds after it has answered the
// case bomb, and cuts the calls that are in progress then.
type pot struct {
	*counter
	bomb int64

	mu   sync.Mutex
	life *int // one for each start
	told *int // whose end somebody knows of
}

func (p *pot) Open(*campaign.Cache) campaign.Session[sum] {
	return campaign.Separate[sum](func(ctx context.Context, _ campaign.Lane) (campaign.Executor[sum], error) {
		return &cook{p, campaign.LifeOf(ctx)}, nil
	})
}

// left is the life that has ended without anybody knowing; nil: none.
func (p *pot) left() *int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if *p.life == 0 || p.life == p.told {
		return nil
	}
	p.told = p.life
	return p.life
}

// ensure starts the pot if it has ended.
func (p *pot) ensure() *int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if *p.life != 0 {
		p.life = new(int)
	}
	return p.life
}

func (p *pot) over(life *int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if *life != 0 {
		p.told = life
	}
	return *life != 0
}

type cook struct {
	pot  *pot
	life *campaign.Life
}

func (c *cook) Watch(_ context.Context, d time.Duration) *campaign.Outcome {
	for until := time.Now().Add(d); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if c.pot.left() != nil {
			end := theEnd
			return &end
		}
	}
	return nil
}

func (c *cook) Execute(_ context.Context, _ sum, at campaign.Case) (campaign.Outcome, error) {
	c.life.System, c.life.Shared = c, true
	end := theEnd
	if l := c.pot.left(); l != nil {
		c.life.End, c.life.Program = &end, l
	}
	l := c.pot.ensure()
	time.Sleep(2 * time.Millisecond)
	if c.pot.over(l) {
		c.life.End, c.life.Cut, c.life.Program = &end, true, l
		return campaign.Outcome{Verdict: campaign.VerdictFail, Kind: "crash", Title: "cut", Cause: []string{"cut"}}, nil
	}
	if at.Index == c.pot.bomb {
		time.AfterFunc(5*time.Millisecond, func() {
			c.pot.mu.Lock()
			defer c.pot.mu.Unlock()
			*l = 1
		})
	}
	c.life.Calls++
	return campaign.Outcome{Verdict: campaign.VerdictPass}, nil
}

func (c *cook) Notes() []string { return nil }
func (c *cook) Close() error    { return nil }

// Where a system ends that several workers call, each finds its call cut; the case after
// whose answer it ended is the only finding.
func TestTheCaseAfterWhichASharedSystemEnds(t *testing.T) {
	t.Parallel() // mostly waits
	p := &pot{counter: &counter{rounds: 1, perRound: 60}, bomb: 9, life: new(int)}
	rec, err := newFixture(t).runs(t.Context(), campaign.Erase[sum](p), run.Options{Workers: 4, Reruns: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.Findings) != 1 || rec.Findings[0].Title != theEnd.Title || rec.Findings[0].First != p.bomb || rec.Findings[0].Flaky {
		for _, f := range rec.Findings {
			t.Errorf("%s: first is case %d, flaky %v, %+v", f.Title, f.First, f.Flaky, f.Rerun)
		}
	}
}

// A system that ended before the first case of a run is the fault of no case.
func TestASharedSystemThatEndedBeforeAnyCase(t *testing.T) {
	ended := 1
	p := &pot{counter: &counter{rounds: 1, perRound: 5}, bomb: -1, life: &ended}
	rec, err := newFixture(t).runs(t.Context(), campaign.Erase[sum](p), run.Options{Workers: 1})
	if err != nil || len(rec.Findings) > 0 || rec.Campaigns[0].Cases.Pass != 5 {
		t.Errorf("%v %+v %+v", err, rec.Campaigns, rec.Findings)
	}
}
