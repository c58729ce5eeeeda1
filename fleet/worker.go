package fleet

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/run"
)

// Worker executes the cases of announced runs.
type Worker struct {
	Lanes  int      // cases run at the same time
	Labels []string // what this machine provides; a run may require some
	// Trust lists the keys, one of which must have signed a run; empty: take all runs of the
	// server.
	Trust []ed25519.PublicKey
	// Keys sign and check every message; nil: messages are unsigned.
	Keys *Keys
	// Compile compiles a bundle's campaigns as it does for a stored run: files that decide the
	// cases must be unchanged.
	Compile func(context.Context, Bundle) ([]campaign.Any, error)
	// Say reports what happens, for people, a line at a time.
	Say func(format string, args ...any)

	link   *Link
	id     string
	host   string
	slots  chan struct{}
	mu     sync.Mutex
	runs   map[string]*session  // by run id
	newest map[string]time.Time // by run id: when the newest known coordinator started
	busy   atomic.Int64
	cases  atomic.Int64
	leases atomic.Int64
}

// served numbers the workers of one process, so that their ids differ.
var served atomic.Int64

// Serve runs cases until ctx ends. It then finishes the running cases and gives back the rest of
// their leases. When kill ends, the running cases end as well.
func (w *Worker) Serve(ctx, kill context.Context, l *Link) error {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	w.link, w.host, w.id, w.runs = l, host, fmt.Sprintf("%s-%d", host, os.Getpid()), make(map[string]*session)
	if n := served.Add(1); n > 1 {
		w.id += fmt.Sprint(".", n)
	}
	w.newest = make(map[string]time.Time)
	if w.Keys != nil {
		w.id = w.Keys.Self.Name + "@" + w.id
	}
	w.slots = make(chan struct{}, w.Lanes)
	for range w.Lanes {
		w.slots <- struct{}{}
	}
	var telling sync.WaitGroup
	tctx, quiet := context.WithCancel(context.Background())
	defer telling.Wait()
	defer quiet()
	telling.Go(func() {
		publishStats(tctx, l, channel{keys: w.Keys}, func() Stats {
			return Stats{
				Role: RoleWorker, ID: w.id, Host: host, Runs: w.serving(), Labels: w.Labels, Lanes: w.Lanes,
				Busy: int(w.busy.Load()), Cases: w.cases.Load(), Leases: w.leases.Load(),
			}
		})
	})
	for ctx.Err() == nil {
		if err := w.follow(ctx, kill); err != nil && ctx.Err() == nil {
			w.Say("cannot ask the fleet's server for runs: %v; trying again", err)
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
	w.mu.Lock()
	all := w.runs
	w.runs = make(map[string]*session)
	w.mu.Unlock()
	for _, s := range all {
		s.end()
	}
	return nil
}

func (w *Worker) serving() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := []string{}
	for id, s := range w.runs {
		if s != nil {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}

// askAgain is when a worker that has heard of no run asks again.
const askAgain = 3 * time.Second

// follow joins runs as they are announced, until the subscription breaks.
func (w *Worker) follow(ctx, kill context.Context) error {
	sub, err := w.link.nc.SubscribeSync(runsSubject + ".*")
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }() // the connection may be gone
	heard, reconnects := false, uint64(0)
	for {
		if now := w.link.nc.Stats().Reconnects; !heard || now != reconnects {
			heard, reconnects = false, now
			_ = w.link.nc.Publish(helloSubject, nil) // if it is lost, the next one arrives
		}
		wait, stop := context.WithTimeout(ctx, askAgain)
		m, err := sub.NextMsgWithContext(wait)
		stop()
		switch {
		case err == nil:
			heard = true
			w.hear(ctx, kill, m)
		case ctx.Err() != nil:
			return nil
		case !errors.Is(err, context.DeadlineExceeded):
			return err
		}
	}
}

// hear joins an announced run, or leaves one that is over.
func (w *Worker) hear(ctx, kill context.Context, m *nats.Msg) {
	run := leaseID(m.Subject)
	_, text, err := channel{keys: w.Keys, run: run}.open(kindAnnounce, "", "", RoleCoordinator, m.Data)
	if err != nil {
		w.Say("run %s was ignored: its announcement is %v", diag.Cut(run, 60), err)
		return
	}
	var a Announcement
	switch {
	case json.Unmarshal(text, &a) != nil || a.Run != run:
		w.Say("run %s was ignored: its announcement is malformed", diag.Cut(run, 60))
	case a.Over:
		if len(w.Trust) == 0 || a.Verify(w.Trust) {
			w.drop(a)
		}
	default:
		w.joinRun(ctx, kill, a)
	}
}

// drop ends the work on a run that is over.
func (w *Worker) drop(a Announcement) {
	w.mu.Lock()
	s := w.runs[a.Run]
	if s != nil && s.ann.Epoch != a.Epoch {
		s = nil // it belongs to an earlier coordinator
	} else {
		delete(w.runs, a.Run)
	}
	w.mu.Unlock()
	if s != nil {
		w.Say("run %s is over", a.Run)
		s.end()
	}
}

// joinRun starts to work on a run, unless the worker does so already or must not.
func (w *Worker) joinRun(ctx, kill context.Context, a Announcement) {
	w.mu.Lock()
	s := w.runs[a.Run]
	w.mu.Unlock()
	if s != nil && s.ann.Epoch == a.Epoch {
		return // the announcement was only renewed
	}
	if newest, seen := w.newest[a.Run]; seen && !a.Began.After(newest) {
		w.Say("run %s: ignored an old announcement, of a coordinator that started at %s", a.Run, a.Began.Format(time.RFC3339))
		return
	}
	if s != nil {
		w.Say("run %s has a new coordinator", a.Run)
		w.mu.Lock()
		delete(w.runs, a.Run)
		w.mu.Unlock()
		s.end()
	}
	for _, label := range a.Require {
		if !slices.Contains(w.Labels, label) {
			w.Say("run %s requires the label %q, which this worker does not have", a.Run, label)
			return
		}
	}
	if len(w.Trust) > 0 && !a.Verify(w.Trust) {
		w.Say("run %s was ignored: it is not signed by a key that this worker trusts", a.Run)
		return
	}
	if len(w.Trust) > 0 && time.Now().After(a.Expires) {
		w.Say("run %s was ignored: its announcement expired at %s", a.Run, a.Expires.Format(time.RFC3339))
		return
	}
	w.newest[a.Run] = a.Began
	s, err := w.begin(ctx, kill, a)
	if err != nil {
		w.Say("run %s cannot be run here: %v", a.Run, err)
	}
	w.mu.Lock()
	w.runs[a.Run] = s
	w.mu.Unlock()
}

// begin fetches, verifies and compiles a run's bundle and starts the lanes. It returns a session
// even if the campaigns cannot run here, so that the session can report that to the coordinator.
func (w *Worker) begin(ctx, kill context.Context, a Announcement) (*session, error) {
	s := &session{w: w, ann: a, channel: channel{w.Keys, a.Run, a.Epoch, a.Bundle}}
	s.kill = campaign.WithGate(kill, gate{s})
	s.ctx, s.cancel = context.WithCancel(ctx)
	err := s.compile(ctx)
	if err != nil {
		s.unfit = err.Error()
	} else {
		w.Say("run %s: %s, %s", a.Run, diag.Plural(len(s.campaigns), "campaign"), diag.Plural(w.Lanes, "lane"))
	}
	for i := range w.Lanes {
		s.lanes.Go(func() { s.work(i) })
		if s.unfit != "" {
			break
		}
	}
	return s, err
}

// session is the work on one run for one coordinator.
type session struct {
	w         *Worker
	ann       Announcement
	channel   channel
	ctx       context.Context // ends when no further lease is to be taken
	kill      context.Context // ends when running cases must end
	cancel    context.CancelFunc
	campaigns []campaign.Any
	states    []*states
	unfit     string
	lanes     sync.WaitGroup
	refused   sync.Once // says that the coordinator gives no cases

	mu    sync.Mutex
	open  map[int]*open // by campaign
	cache campaign.Cache
}

// open is the session of a campaign shared by lanes of this worker.
type open struct {
	campaign.Session[any]
	recent run.Recent
	lanes  int
}

// enter returns the session of a campaign for one more lane. Call leave when the lane's executor is
// closed.
func (s *session) enter(k int) *open {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.open[k]
	if o == nil {
		if s.open == nil {
			s.open = make(map[int]*open)
		}
		o = &open{Session: s.campaigns[k].Open(&s.cache)}
		s.open[k] = o
	}
	o.lanes++
	return o
}

// leave ends the session of a campaign after its last lane.
func (s *session) leave(k int) error {
	s.mu.Lock()
	o := s.open[k]
	if o.lanes--; o.lanes > 0 {
		s.mu.Unlock()
		return nil
	}
	delete(s.open, k)
	s.mu.Unlock()
	return o.Close()
}

func (s *session) end() {
	s.cancel()
	s.lanes.Wait()
	if err := s.cache.Close(); err != nil {
		s.w.Say("run %s: closing what campaigns shared: %v", s.ann.Run, err)
	}
}

func (s *session) compile(ctx context.Context) error {
	data, err := s.w.link.get(ctx, s.ann.Bundle)
	if err != nil {
		return err
	}
	b, err := unpackBundle(s.ann.Bundle, data)
	if err != nil {
		return err
	}
	if s.campaigns, err = s.w.Compile(ctx, b); err != nil {
		return err
	}
	var ids []campaign.Identity
	for _, c := range s.campaigns {
		ids = append(ids, c.Identity())
		s.states = append(s.states, newStates(c, s.w.link.get))
	}
	if !slices.Equal(ids, s.ann.Identities) {
		return fmt.Errorf("its documents compile to different cases here: version %s there", s.ann.Version)
	}
	return nil
}

// work is one lane: it takes one lease after another.
func (s *session) work(lane int) {
	x := &laneWork{s: s, lane: lane}
	defer x.close()
	for s.ctx.Err() == nil {
		select {
		case <-s.ctx.Done():
			return
		case <-s.w.slots:
		}
		err := x.next()
		s.w.slots <- struct{}{}
		if err != nil && s.ctx.Err() == nil {
			select { // the server is away, the run is just over, or its leases are for others
			case <-s.ctx.Done():
			case <-time.After(500 * time.Millisecond):
			}
		}
	}
}
