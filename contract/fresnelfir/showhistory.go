package fresnelfir

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/port/dut"
)

// historyName names the evidence of a failure in a history.
const historyName = "history"

// shown is a history for people: the calls that show a failure, in the order in which they began.
type shown struct {
	Of    int         `json:"of"` // number of calls made
	Calls []shownCall `json:"calls"`
	Steps []string    `json:"faults,omitempty"`
	Place string      `json:"place,omitempty"`
}

// shownCall is one row. Begin and End number the ends of the calls shown.
type shownCall struct {
	Actor   string   `json:"actor"`
	Action  string   `json:"action"`
	Args    []string `json:"args,omitempty"`
	Begin   int      `json:"begin"`
	End     int      `json:"end"` // 0: never
	Answer  string   `json:"answer"`
	Blamed  bool     `json:"blamed,omitempty"`
	IsFault bool     `json:"fault,omitempty"`
}

// show prepares a verdict for people.
func (j *judge) show(v verdict) *shown {
	x := &shown{Of: len(j.rec.Calls), Place: v.failed.at.Path()}
	var moments []int64
	until := int64(0)
	for _, i := range v.calls {
		c := &j.rec.Calls[i]
		moments = append(moments, c.Begin, c.End)
		until = max(until, c.Begin, c.End)
	}
	var faults []faulted
	for _, f := range j.rec.Faults {
		k := f.Kind.kind()
		if f.At < until && (k == faultKill || k == faultClock || k == faultDrop && slices.ContainsFunc(v.calls, func(i int) bool { // otherwise it affects another call
			c := &j.rec.Calls[i]
			return c.End == 0 && c.Thread == f.Thread
		})) {
			faults = append(faults, f)
			moments = append(moments, f.At, f.Until)
		}
	}
	slices.Sort(moments)
	moments = slices.Compact(moments)
	if len(moments) > 0 && moments[0] == 0 {
		moments = moments[1:]
	}
	at := func(moment int64) int {
		i, _ := slices.BinarySearch(moments, moment)
		return i + 1
	}
	for k, i := range v.calls {
		c := &j.rec.Calls[i]
		s := shownCall{Actor: "actor " + strconv.Itoa(c.Thread+1), Action: j.name(c), Begin: at(c.Begin), Answer: j.answerText(c)}
		if c.End > 0 {
			s.End = at(c.End)
		}
		if c.Step >= 0 {
			s.Args = j.score.steps[c.Step].says
		} else {
			s.Actor = "at the end"
			for _, of := range c.Of {
				s.Args = append(s.Args, j.score.insts[of].name)
			}
		}
		s.Blamed = c.End > 0 && c.End == until || len(v.calls) == 1 && k == 0
		x.Calls = append(x.Calls, s)
	}
	for _, f := range faults {
		s := shownCall{Actor: "environment", Action: f.Kind.String(), Begin: at(f.At), IsFault: true}
		if s.End = s.Begin; f.Until > 0 {
			s.End = at(f.Until)
		}
		x.Calls = append(x.Calls, s)
	}
	slices.SortStableFunc(x.Calls, func(a, b shownCall) int { return a.Begin - b.Begin })
	return x
}

// answerText returns a call's answer for people.
func (j *judge) answerText(c *called) string {
	switch {
	case c.Cause == dut.Refused:
		return strings.TrimSuffix("refused: "+c.Why, ": ")
	case c.Cause != dut.None:
		return c.Why
	case c.End == 0:
		return "nobody knows"
	}
	if c.Value.Kind == dut.Ref {
		var of int // entity of the returned value
		if c.Step >= 0 {
			x := &j.score.steps[c.Step]
			of = j.mod.actions[x.action].returns.entity
			if x.made >= 0 && j.score.insts[x.made].entity == of {
				return j.score.insts[x.made].name // the system may have used this number before
			}
		} else {
			of = j.mod.observers[c.Observer].returns.entity
		}
		for i := range j.score.insts {
			if n, ok := j.rec.number(j.score, j.mod, int32(i), j.replies); ok && n == c.Value.Int && j.score.insts[i].entity == of {
				return j.score.insts[i].name
			}
		}
	}
	return c.Value.String()
}

// markNeedless returns the recording with all calls outside a verdict marked as dropped.
func (j *judge) markNeedless(v verdict) *recording {
	r := *j.rec
	r.Calls = slices.Clone(r.Calls)
	for i := range r.Calls {
		r.Calls[i].Dropped = !slices.Contains(v.calls, i)
	}
	return &r
}

func (x *shown) encode() []byte {
	b, err := json.Marshal(x)
	if err != nil {
		return nil // never happens: there are only numbers and strings
	}
	return b
}

// historyExhibits returns exhibits for what show prepared; nil if data is something else.
func historyExhibits(data []byte) []campaign.Exhibit {
	var x shown
	if data == nil || json.Unmarshal(data, &x) != nil {
		return nil
	}
	var rows [][]string
	var focus []int
	line := &campaign.Timeline{Unit: "step"}
	most := 0
	for _, c := range x.Calls {
		most = max(most, c.Begin, c.End)
	}
	for i, c := range x.Calls {
		span := campaign.Span{Lane: c.Actor, Label: c.Action, Start: float64(c.Begin), End: float64(c.End), Kind: "call", Note: c.Answer}
		if c.IsFault {
			span.Kind = "fault"
		} else {
			span.Label += "(" + strings.Join(c.Args, ", ") + ")"
		}
		end := strconv.Itoa(c.End)
		if c.End == 0 {
			span.End, end = float64(most+1), "never"
		}
		if c.Blamed {
			focus = append(focus, i)
		}
		line.Spans = append(line.Spans, span)
		rows = append(rows, []string{c.Actor, span.Label, strconv.Itoa(c.Begin), end, c.Answer, bar(c, most)})
	}
	table := campaign.TableExhibit("History", []string{"actor", "call", "from", "to", "answer", "when"}, rows)
	table.Table.Focus, table.Brief = focus, true
	list := []campaign.Exhibit{
		table,
		{Kind: "timeline", Title: "When calls overlap", Timeline: line},
		campaign.TextExhibit("What this shows", fmt.Sprintf("%d of the %d calls of the history. No order in which each call takes effect between its\nbegin and its end explains the answers, whether or not the other calls were made.\nWithout any one of these calls there is such an order.\nFrom and to count the begins and ends of what is shown.", len(x.Calls), x.Of)),
	}
	if x.Place != "" {
		list = append(list, campaign.TextExhibit(placeTitle, x.Place))
	}
	return list
}

// bar draws when a call took place.
func bar(c shownCall, most int) string {
	end := c.End
	end = cmp.Or(end, most+1)
	return strings.Repeat("·", c.Begin-1) + strings.Repeat("█", max(end-c.Begin, 1)) + strings.Repeat("·", max(most+1-end, 0))
}

// history is a list that only grows. Every length of it stays available, and states of a campaign
// share their common part. nil is the empty list.
type history[T any] struct {
	before *history[T]
	item   T
	count  int
}

func (h *history[T]) add(item T) *history[T] {
	return &history[T]{h, item, h.len() + 1}
}

func (h *history[T]) len() int {
	if h == nil {
		return 0
	}
	return h.count
}

// all returns the list, oldest first.
func (h *history[T]) all() []T {
	list := make([]T, h.len())
	for ; h != nil; h = h.before {
		list[h.count-1] = h.item
	}
	return list
}
