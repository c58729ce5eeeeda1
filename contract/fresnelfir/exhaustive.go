package fresnelfir

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/contract/fresnelfir/ir"
	"github.com/thresh-dev/thresh/contract/fresnelfir/model"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/choice"
)

// All states of a model are visited breadth first: from each state, every decision of a step is
// made in every way. The first failure found therefore takes the fewest actions. States that differ
// only in which instance is which are visited once.

// mostValues is the largest number of alternatives for one decision that are all tried. For a
// decision with more, only one is tried, and nothing is proven.
const mostValues = 4096

// exhaustion visits states.
type exhaustion struct {
	t         *traversal
	known     fingerprints
	queued    front    // states to expand, of this depth and the next
	from      descents // of all states that are or were queued
	generated int
	depth     int  // of the deepest state
	queue     int  // states that were not expanded
	done      int  // states that were expanded
	last      bool // the current depth's successors are not expanded, so they are not kept
	at        descent
	partly    string
	failed    []uint64 // the tape of the failure
	before    kept     // the state being expanded
	key, text []byte
}

// none marks the descent of an initial state.
const none = 1<<32 - 1

// exhaust visits the states of the model alone, up to a depth.
func (c *Campaign) exhaust(ctx context.Context, depth int) *exhaustion {
	t := newTraversal(c.plan)
	t.in.plain, t.in.unlikely, t.everything = true, true, true
	x := &exhaustion{t: t, before: kept{model: &model.Snapshot{}}}
	for i := range c.plan.space.domains {
		if d := &c.plan.space.domains[i]; !d.whole {
			x.partly = fmt.Sprintf("%[2]d of %[3]d values of the input %[1]s are tried", d.source.Name, len(d.values), d.source.Size())
		}
	}
	if c.plan.actor >= 0 {
		for k, f := range c.plan.doc.Entities[c.plan.actor].Fields {
			if _, _, small := smallRange(f); f.Type == ir.Int && !small && !c.plan.moves[c.plan.actor][k] || len(f.Texts) > 0 {
				x.partly = "of the field " + f.Name + " of actors, a few values are tried"
			}
		}
	}
	wrong := x.begin(x.arrive)
	for x.depth = 0; x.queued.n > 0 && x.depth < depth && !wrong; x.depth++ {
		x.last = x.depth+1 == depth
		for range x.queued.n {
			if wrong || ctx.Err() != nil {
				break
			}
			state := x.queued.next()
			if wrong = x.goOn(state, x.arrive); !wrong {
				x.done++
			}
		}
	}
	if x.queue += x.queued.n; wrong {
		x.failed = x.trace(x.at)
	}
	return x
}

// begin makes the decisions before the first step in every way. It stops when see returns true.
func (x *exhaustion) begin(see func() bool) bool {
	t := x.t
	threads := uint64(t.p.doc.Exploration.Threads) - 1
	x.at.from = none
	return x.enumerate(1, func(try []uint64) {
		t.src.Reset(0)
		t.src.Try(append([]uint64{threads}, try...))
		t.start()
	}, see)
}

// goOn takes a step from a state in every way.
func (x *exhaustion) goOn(state []byte, see func() bool) bool {
	t := x.t
	x.at.from = uint32(x.done)
	t.unpack(state, int(t.p.doc.Exploration.Threads))
	t.snapshotIn(&x.before)
	t.looked.known = false
	return x.enumerate(0, func(try []uint64) {
		t.goBack(&x.before, 0)
		t.src.Try(try)
		t.src.Begin()
		t.step()
		t.src.End()
	}, func() bool {
		// Without an action, because none is allowed with these inputs, the state is unchanged.
		return (t.actions > x.before.actions || t.failed != nil) && see()
	})
}

// enumerate makes the decisions after the first ones on the tape in every way.
func (x *exhaustion) enumerate(behind int, run func(try []uint64), see func() bool) bool {
	free := func(m choice.Mark, _ int) bool { return m.Limit > 0 && m.Limit <= mostValues }
	x.at.way = 0
	for marks, fresh := range x.t.ways(behind, free, run) {
		if fresh && see() {
			return true
		}
		x.at.way++
		for _, m := range marks {
			if m.Limit > mostValues {
				x.partly = fmt.Sprintf("a decision has %d ways", m.Limit)
			}
		}
	}
	return false
}

// arrive handles the state that a step leads to. It reports whether that is a failure.
func (x *exhaustion) arrive() bool {
	t := x.t
	x.generated++
	if t.failed != nil || len(t.beyond) > 0 {
		return true
	}
	fresh, going := x.fresh()
	if !fresh {
		return false
	}
	switch {
	case going && x.last:
		x.queue++
	case going:
		x.text = t.pack(x.text[:0])
		x.queued.add(x.text)
		x.from.add(x.at)
	}
	return false
}

// fresh reports whether no equivalent state was visited before, and whether another step is
// possible.
func (x *exhaustion) fresh() (fresh, going bool) {
	x.key = x.t.m.Canonical(x.key[:0])
	for i := range x.t.threads {
		if w := &x.t.walkers[i]; !w.Over() {
			going, x.key = true, w.Sketch(append(x.key, byte(i)))
		}
	}
	return x.known.add(fingerprint(x.key)), going
}

// trace returns the tape of the decisions that lead to a state.
func (x *exhaustion) trace(to descent) []uint64 {
	ways := []uint32{to.way}
	for to.from != none {
		to = x.from.of(int(to.from))
		ways = append(ways, to.way)
	}
	slices.Reverse(ways)
	var tape []uint64
	var state []byte
	for i, way := range ways {
		see := func() bool {
			if x.at.way != way {
				return false
			}
			tape = append(tape, x.t.src.Tape().Values...)
			return true
		}
		if i == 0 {
			x.begin(see)
		} else {
			x.goOn(state, see)
		}
		state = x.t.pack(nil)
	}
	return tape
}

// collisionOdds returns the probability that two states had the same fingerprint, so that the
// second was not expanded.
func (x *exhaustion) collisionOdds() float64 {
	n := float64(x.known.n)
	return n * n / 2 / math.Pow(2, 64)
}

func statesCommand() campaign.Command {
	var depth int
	var file string
	return campaign.Command{
		Use:     "states MODEL",
		Summary: "Explore all states of a model",
		Long: `States goes through every state that a model's protocols reach, breadth first, without
the module: all inputs, choices and orders of actors. States that differ only in which
instance is which count once. It stops at the first state in which a property does not
hold, and prints the fewest actions that lead there.

--exhaustive N ends at N actions. If the queue is empty before, the properties are proven
for the model: no sequence of actions that its protocols allow breaks them.

Exit codes: 0 all properties hold, 1 one does not, 2 the model was refused.`,
		Example: `  thresh fresnelfir states shop.model.star --exhaustive 8`,
		Least:   1, Most: 1,
		Flags: func(fs campaign.Flags) {
			fs.IntVar(&depth, "exhaustive", maxSteps, "explore sequences of at most `N` actions, such as 8")
			traceFlag(fs, &file, "the actions that break a property")
		},
		Run: func(ctx context.Context, d campaign.Desk, args []string) error {
			if depth < 1 || depth > maxSteps {
				return diag.Refused("--exhaustive must be from 1 to %d actions, got %d", maxSteps, depth)
			}
			c, err := aloneCampaign(ctx, d, args[0])
			if err != nil {
				return err
			}
			start := time.Now()
			x := c.exhaust(ctx, depth)
			if err := context.Cause(ctx); err != nil {
				return fmt.Errorf("exploring the states: %w", err)
			}
			x.print(d, c, depth, time.Since(start))
			if x.failed != nil && file != "" {
				if err := d.Write(file, func(w io.Writer) error { return c.writeTrace(w, file, c.retrace(choice.Encode(x.failed))) }); err != nil {
					return err
				}
			}
			if x.failed != nil {
				return diag.ExitError(diag.ExitFindings)
			}
			return nil
		},
	}
}

// retrace returns the steps of a tape, with the model's states.
func (c *Campaign) retrace(tape []byte) *passed {
	t := newTraversal(c.plan)
	if err := c.prepare(t, nil, campaign.Case{Payload: tape}); err != nil {
		return nil // not a tape
	}
	t.trace = &trace{shows: true}
	t.run()
	return t.trace.shown
}

// print says what was visited, and what that proves.
func (x *exhaustion) print(d campaign.Desk, c *Campaign, depth int, took time.Duration) {
	out := d.Out()
	fmt.Fprintf(out, "%d states generated, %d distinct, %d in the queue, depth %d, %.0f distinct states a second\n",
		x.generated, x.known.n, x.queue, x.depth, float64(x.known.n)/max(took.Seconds(), 1e-9))
	p := c.plan.program
	switch {
	case x.failed != nil:
		e := &executor{c: c, t: newTraversal(c.plan)}
		steps := e.traceCase(choice.Encode(x.failed)).encode()
		f := e.t.failed
		fmt.Fprintf(out, "FAIL  %s\n\n", diag.Printable(f.title))
		for _, e := range c.Describe(nil, campaign.Case{}, campaign.Outcome{Evidence: []campaign.Attachment{{Name: "steps", Data: steps}}}, nil) {
			if e.Table != nil {
				printTable(out, e.Title, e.Table)
			} else if e.Text != nil {
				fmt.Fprintf(out, "%s: %s\n", e.Title, e.Text.Body)
			}
		}
	case x.queue > 0:
		fmt.Fprintf(out, "PASS  all properties hold in every sequence of %s; longer ones were not checked\n", diag.Plural(depth, "action"))
	case x.partly != "":
		fmt.Fprintf(out, "PASS  all properties hold in all states that were reached; this is not a proof: %s\n", x.partly)
	default:
		names := []string{"the bounds of all fields"}
		for i := range p.Properties() {
			if x.t.m.Tried[i] > 0 {
				names = append(names, p.Property(i))
			}
		}
		fmt.Fprintf(out, "PROVEN  for every sequence of actions that the protocols allow: %s\n", strings.Join(names, ", "))
	}
	if x.failed == nil && x.queue == 0 {
		fmt.Fprintf(out, "probability that two states were confused (64-bit fingerprints): %.1g\n", x.collisionOdds())
	}
	for i := range p.Properties() {
		if x.failed == nil && x.t.m.Tried[i] == 0 {
			fmt.Fprintf(out, "%s was never tested\n", p.Property(i))
		}
	}
}
