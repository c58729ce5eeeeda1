package fleet

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// Settings are a coordinator's.
type Settings struct {
	Run         string
	Bundle      Bundle
	Identities  []campaign.Identity
	Require     []string           // labels that a worker must have
	Key         ed25519.PrivateKey // signs the announcement; nil: it is unsigned
	Keys        *Keys              // sign and check every message; nil: messages are unsigned
	CaseTimeout time.Duration
	// Recheck is the share of cases that another worker executes again; negative: [DefaultRecheck]
	// once there are workers on more than one machine.
	Recheck float64
	// Patience is how long a worker may be silent before its work is given to another.
	Patience time.Duration
	// Say reports what happens, for people, a line at a time; nil: nothing is reported.
	Say func(format string, args ...any)
	// Waiting is called once, when no worker has appeared for a while.
	Waiting func()
}

// DefaultPatience is long enough for a busy worker and short enough for people who wait.
const DefaultPatience = 10 * time.Second

// Coordinator hands the cases of one run to workers.
type Coordinator struct {
	link    *Link
	set     Settings
	ann     Announcement
	channel channel
	subs    []*nats.Subscription
	queue   queue
	up      context.Context // ends when the run is withdrawn
	stop    context.CancelFunc
	closed  sync.WaitGroup

	mu       sync.Mutex
	tickets  map[string]*ticket  // by lease id
	seen     map[string]member   // workers seen recently, by id
	unfit    map[unfit]string    // why a worker cannot run a campaign
	banned   map[string]string   // excluded workers, by id and by key, and the reasons
	keyOf    map[string]string   // public keys of known workers, by id
	dropped  map[string]int      // ignored messages, by what was wrong with them
	said     map[string][]string // the newest notes of each lane of a worker
	late     []*ticket           // tickets whose leases were given out more than once, newest last
	dispute  []disputes          // by campaign
	limiters map[string]*limiter // by target

	serial                                                   atomic.Int64
	leases, redelivered, stolen, quarantined, sum, rechecked atomic.Int64
	flying                                                   atomic.Int64
}

// member is a worker as its statistics describe it.
type member struct {
	Stats
	seen time.Time
}

// Coordinate announces a run and prepares to hand out its cases.
func Coordinate(ctx context.Context, l *Link, set Settings) (*Coordinator, error) {
	if set.Patience <= 0 {
		set.Patience = DefaultPatience
	}
	var epoch [8]byte
	if _, err := rand.Read(epoch[:]); err != nil {
		return nil, err
	}
	c := &Coordinator{
		link: l, set: set, tickets: make(map[string]*ticket), seen: make(map[string]member), unfit: make(map[unfit]string), banned: make(map[string]string), keyOf: make(map[string]string), dropped: make(map[string]int), said: make(map[string][]string),
		limiters: make(map[string]*limiter),
		ann: Announcement{
			Run: set.Run, Epoch: hex.EncodeToString(epoch[:]), Identities: set.Identities, Require: set.Require,
			Version: set.Bundle.Manifest.Version, CaseTimeout: set.CaseTimeout, Began: time.Now().UTC(),
		},
	}
	name, data, err := set.Bundle.pack()
	if err == nil {
		err = l.put(name, data)
	}
	if err != nil {
		return nil, err
	}
	c.ann.Bundle = name
	c.channel = channel{set.Keys, c.ann.Run, c.ann.Epoch, name}
	c.set.Bundle = Bundle{}
	c.up, c.stop = context.WithCancel(context.Background())
	for _, s := range []struct {
		subject string
		handle  nats.MsgHandler
	}{
		{c.subject(kindTake, queueID), c.asked}, {c.subject(kindHold, "*"), c.held}, {helloSubject, func(*nats.Msg) { c.announce() }},
		{c.subject(kindClaim, "*"), c.claimed}, {c.subject(kindReport, "*"), c.reported}, {c.subject(kindPass, "*"), c.passed}, {statsSubject, c.noteStats},
	} {
		sub, err := l.nc.Subscribe(s.subject, s.handle)
		if err != nil {
			c.Close()
			return nil, fmt.Errorf("listen to the fleet: %w", err)
		}
		c.subs = append(c.subs, sub)
	}
	c.announce()
	c.closed.Go(func() { c.renewAnnouncement(c.up) })
	return c, nil
}

func (c *Coordinator) subject(kind, id string) string {
	return strings.Join([]string{prefix, c.ann.Run, kind, id}, ".")
}

// announce announces the run to all workers. A worker that misses it hears the next announcement.
func (c *Coordinator) announce() { c.tell(c.ann) }

func (c *Coordinator) tell(a Announcement) {
	a.Expires = time.Now().Add(announceFor).UTC()
	if c.set.Key != nil {
		a.Sign(c.set.Key)
	}
	text := channel{keys: c.set.Keys, run: a.Run}.seal(kindAnnounce, "", "", announceFor, mustJSON(a))
	_ = c.link.nc.Publish(runsSubject+"."+a.Run, text)
}

// renewAnnouncement renews the announcement and publishes statistics. It reports once when no
// worker appears.
func (c *Coordinator) renewAnnouncement(ctx context.Context) {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	told := false
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-second.C:
		}
		if n%int(announceFor/time.Second/3) == 0 {
			c.announce()
		}
		if !told && n >= 3 && len(c.workers()) == 0 && c.set.Waiting != nil {
			told = true
			c.set.Waiting()
		}
		text := channel{keys: c.set.Keys}.seal(kindStats, "", "", messageFor, mustJSON(c.stats()))
		_ = c.link.nc.Publish(statsSubject, text) // the next one follows in a second
	}
}

func (c *Coordinator) stats() Stats {
	host := c.link.nc.Opts.Name
	return Stats{
		Role: RoleCoordinator, ID: c.ann.Run, Host: host, Runs: []string{c.ann.Run}, Cases: c.sum.Load(), InFlight: c.flying.Load(),
		Leases: c.leases.Load(), Retries: c.redelivered.Load(), Stolen: c.stolen.Load(), Quarantined: c.quarantined.Load(),
	}
}

// noteStats notes a worker's statistics.
func (c *Coordinator) noteStats(m *nats.Msg) {
	var s Stats
	if json.Unmarshal(unsealed(m.Data), &s) != nil || s.Role != RoleWorker {
		return // another coordinator's statistics
	}
	from, text, err := channel{keys: c.set.Keys}.open(kindStats, "", "", RoleWorker, m.Data)
	if err != nil || json.Unmarshal(text, &s) != nil {
		c.drop("statistics", s.ID, cmp.Or(err, errMalformed))
		return
	}
	if !c.believed("statistics", s.ID, from) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keyOf[s.ID] = from.From
	if s.Leaving {
		delete(c.seen, s.ID)
		return
	}
	c.seen[s.ID] = member{s, time.Now()}
}

// workers returns the workers heard from in the last 5 seconds.
func (c *Coordinator) workers() []member {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []member
	for id, m := range c.seen {
		if time.Since(m.seen) > 5*time.Second {
			delete(c.seen, id)
			continue
		}
		list = append(list, m)
	}
	return list
}

// idleLanes returns how many lanes of this run's workers are idle.
func (c *Coordinator) idleLanes() int {
	n := 0
	for _, m := range c.workers() {
		if slices.Contains(m.Runs, c.ann.Run) {
			n += max(m.Lanes-m.Busy, 0)
		}
	}
	return n
}

// noCapableWorker returns why none of the present workers can run campaign k.
func (c *Coordinator) noCapableWorker(k int) error {
	workers := c.workers()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(workers) == 0 || len(c.unfit) == 0 {
		return nil
	}
	var why []string
	for _, m := range workers {
		reason, is := c.unfit[unfit{m.ID, k}]
		if !is {
			return nil
		}
		why = append(why, m.Host+": "+reason)
	}
	slices.Sort(why)
	return campaign.Fatal("no worker can run it: %s", strings.Join(slices.Compact(why), "; "))
}

// unfit is a worker that cannot run a campaign.
type unfit struct {
	worker   string
	campaign int
}

func (c *Coordinator) exclude(worker string, k int, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unfit[unfit{worker, k}] = why
}

// note keeps the notes of a worker's lane on how it runs cases.
func (c *Coordinator) note(lane string, list []string) {
	if len(list) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said[lane] = list
}

// notes returns all notes on how the fleet ran the cases.
func (c *Coordinator) notes() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []string
	// A note that all lanes have appears once.
	count := make(map[string]int)
	for _, notes := range c.said {
		for _, n := range notes {
			count[n]++
		}
	}
	for _, lane := range slices.Sorted(maps.Keys(c.said)) {
		for _, n := range c.said[lane] {
			if count[n] < len(c.said) {
				n = "worker " + lane + ": " + n
			}
			if !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
	}
	if n := c.redelivered.Load(); n > 0 {
		list = append(list, diag.Plural(n, "lease")+" had to be given to another worker")
	}
	var cannot []string
	for who, why := range c.unfit {
		cannot = append(cannot, fmt.Sprintf("worker %s could not run it: %s", who.worker, why))
	}
	slices.Sort(cannot)
	list = append(list, slices.Compact(cannot)...)
	for _, id := range slices.Sorted(maps.Keys(c.banned)) {
		list = append(list, fmt.Sprintf("worker %s was excluded: %s", id, c.banned[id]))
	}
	for _, what := range slices.Sorted(maps.Keys(c.dropped)) {
		list = append(list, fmt.Sprintf("%s dropped: %s", diag.Plural(c.dropped[what], "message"), what))
	}
	if n := c.rechecked.Load(); n > 0 {
		list = append(list, fmt.Sprintf("%s executed again by another worker", diag.Plural(n, "case")))
	}
	return list
}

// issue puts a lease into the queue.
func (c *Coordinator) issue(t *ticket, reverse bool) {
	l := t.lease
	l.ID = fmt.Sprintf("%s-%d", c.ann.Epoch, c.serial.Add(1))
	c.mu.Lock()
	c.tickets[l.ID] = t
	c.mu.Unlock()
	t.mu.Lock()
	t.ids = append(t.ids, l.ID)
	if reverse {
		t.back = l.ID
	}
	t.mu.Unlock()
	c.leases.Add(1)
	c.queue.put(l)
}

func (c *Coordinator) ticket(subject string) *ticket {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tickets[leaseID(subject)]
}

// leaseID returns the last word of the subject of a message about a lease.
func leaseID(subject string) string { return subject[strings.LastIndexByte(subject, '.')+1:] }

// Close withdraws the run from the fleet.
func (c *Coordinator) Close() {
	for _, s := range c.subs {
		_ = s.Unsubscribe() // the connection may be gone
	}
	c.stop()
	c.closed.Wait()
	over := c.ann
	over.Over = true
	c.tell(over)
	_ = c.link.nc.FlushTimeout(time.Second) // do not wait for a server that is away
}
