package fresnelfir

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/thresh-dev/thresh/port/dut"
)

// verdict is what is wrong with a recording.
type verdict struct {
	failed    *failure // nil: nothing is wrong
	calls     []int    // the calls that show it, by begin
	undecided bool     // there are too many orders to decide
	until     int64    // the moment at which it shows
	among     []int    // all related calls that had begun by then
}

// judgeRecording judges a recording.
func (j *judge) judgeRecording() (v verdict) {
	if v := j.broken(); v.failed != nil {
		return v
	}
	for _, calls := range j.apart() {
		j.tried = 0
		if j.explained(calls, 1<<62) {
			continue
		}
		if j.tried > mostOrders {
			return verdict{undecided: true}
		}
		return j.earliest(calls)
	}
	return verdict{}
}

// broken looks for a call that crashed the system or was not answered without an injected fault to
// explain it.
func (j *judge) broken() (v verdict) {
	last := -1
	for i := range j.rec.Calls {
		c := &j.rec.Calls[i]
		if c.Cause == dut.None || c.Cause == dut.Refused || c.Excused || c.Step >= 0 && j.mod.actions[j.score.steps[c.Step].action].trap && c.Cause.Refuses() {
			continue
		}
		if last < 0 || c.Begin < j.rec.Calls[last].Begin {
			last = i
		}
	}
	if last < 0 {
		return v
	}
	c := &j.rec.Calls[last]
	name, at := j.name(c), j.p.doc.Bindings.Place
	if b := j.p.doc.Binding(name); b != nil {
		at = b.Place
	}
	f := dut.Fault{Cause: c.Cause, Message: c.Why, Stack: c.Stack}
	v.failed = &failure{kind: kindCrash, level: byModule, subject: name, cause: f.Signature(), at: at, title: name + " fails where actors call at the same time: " + f.Error()}
	if c.Cause == dut.Timeout {
		v.failed.kind, v.failed.cause, v.failed.title = kindTimeout, "time", name+" is not answered where actors call at the same time"
	}
	for i := range j.rec.Calls { // and the calls that overlap it
		if o := &j.rec.Calls[i]; i == last || o.Begin < c.Begin && (o.End == 0 || o.End > c.Begin) {
			v.calls = append(v.calls, i)
		}
	}
	return v
}

// name returns the action or observer of a call.
func (j *judge) name(c *called) string {
	if c.Step < 0 {
		return j.p.doc.Functions[c.Observer].Name
	}
	return j.p.program.Actions()[j.score.steps[c.Step].action].Name
}

// earliest finds the earliest moment at which no order explains the answers so far.
func (j *judge) earliest(calls []int) (v verdict) {
	var ends []int64
	for _, i := range calls {
		if c := &j.rec.Calls[i]; c.End > 0 && !c.Dropped {
			ends = append(ends, c.End)
		}
	}
	slices.Sort(ends)
	from, to := 0, len(ends)-1 // no order explains the answers up to ends[to]
	for from < to {
		j.tried = 0
		if mid := (from + to) / 2; j.explained(calls, ends[mid]) || j.tried > mostOrders {
			from = mid + 1
		} else {
			to = mid
		}
	}
	v.until = ends[to]
	var last *called
	for _, i := range calls {
		c := &j.rec.Calls[i]
		if c.Begin > v.until {
			continue
		}
		v.among = append(v.among, i)
		if !c.Dropped {
			v.calls = append(v.calls, i)
		}
		if c.End == v.until {
			last = c
		}
	}
	slices.SortFunc(v.calls, func(a, b int) int { return cmp.Compare(j.rec.Calls[a].Begin, j.rec.Calls[b].Begin) })
	v.failed = j.inexplicable(last, v.among)
	return v
}

// lessOrders is mostOrders for one attempt to shrink a history.
const lessOrders = 50_000

// minimize reduces calls that no order explains to the necessary ones. If any one of them is
// dropped, so that it may or may not have taken effect, an order explains the rest or the finding
// is another one.
func (j *judge) minimize(v *verdict) {
	if v.among == nil {
		return
	}
	for again := true; again; {
		again = false
		for k := len(v.calls) - 1; k >= 0; k-- {
			c := &j.rec.Calls[v.calls[k]]
			if c.End == v.until {
				continue
			}
			rest := slices.Delete(slices.Clone(v.calls), k, k+1)
			c.Dropped, j.tried = true, mostOrders-lessOrders
			if j.explained(v.among, v.until) || j.tried > mostOrders || !j.sameFinding(v) {
				c.Dropped = false
				continue
			}
			v.calls, again = rest, true
		}
	}
}

// sameFinding reports whether the calls of a verdict that are not dropped show the same finding.
func (j *judge) sameFinding(v *verdict) bool {
	for _, i := range v.calls {
		if c := &j.rec.Calls[i]; c.End == v.until {
			return j.inexplicable(c, v.among).title == v.failed.title
		}
	}
	return false
}

// inexplicable returns the failure of a call whose answer no order of the calls explains. If an
// order does once calls answered by the killed program may have had no effect, the failure is that
// something was lost.
func (j *judge) inexplicable(c *called, calls []int) *failure {
	name := j.name(c)
	f := &failure{kind: kindDiscrepancy, level: byModule, subject: name, cause: "linearizability", at: j.p.doc.Bindings.Place,
		title: fmt.Sprintf("no order of the calls explains what %s answers", name)}
	if b := j.p.doc.Binding(name); b != nil {
		f.at = b.Place
	}
	if c.Cause == dut.Refused {
		f.title = fmt.Sprintf("no order of the calls explains why %s is refused", name)
	}
	killed := int64(0)
	for _, x := range j.rec.Faults {
		if x.Kind.kind() == faultKill && x.At < c.End {
			killed = max(killed, x.Until)
		}
	}
	var lost []*called
	for _, i := range calls {
		if x := &j.rec.Calls[i]; x != c && x.End > 0 && x.Begin < killed && x.Step >= 0 && !x.Dropped {
			lost, x.Dropped = append(lost, x), true
		}
	}
	if j.tried = mostOrders - lessOrders; len(lost) > 0 && j.explained(calls, c.End) {
		f.cause = "acknowledged, then lost"
		f.title = fmt.Sprintf("%s shows that something acknowledged was lost when the system was killed", name)
	}
	for _, x := range lost {
		x.Dropped = false
	}
	return f
}
