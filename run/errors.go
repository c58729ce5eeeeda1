package run

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
)

// ErrorLimit is how many cases of a run may have verdict error before the run
// ends: a number, or a share of the cases.
type ErrorLimit struct {
	Cases int64
	Share float64 // above 0: a share of the cases, and Cases is ignored
}

// ParseErrorLimit parses a limit as users write it: "20" or "5%".
func ParseErrorLimit(text string) (*ErrorLimit, error) {
	number, percent := strings.CutSuffix(text, "%")
	if percent {
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || !(v > 0 && v <= 100) {
			return nil, diag.Refused("a share of errors must be over 0%% and at most 100%%, got %q", text)
		}
		return &ErrorLimit{Share: v / 100}, nil
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 {
		return nil, diag.Refused("a limit of errors must be a number from 0, or a share such as 5%%, got %q", text)
	}
	return &ErrorLimit{Cases: n}, nil
}

// fewest is the number of cases that is assumed at least for a campaign that
// does not plan its cases, so that the first error does not exceed every share.
const fewest = 100

func (l *ErrorLimit) exceeded(errors, cases int64) bool {
	if l.Share > 0 {
		return errors > int64(math.Floor(l.Share*float64(cases)+1e-9))
	}
	return errors > l.Cases
}

// tooManyErrors reports whether the cases with verdict error, counted in case
// order, exceed the limit of the run.
func (a *attempt) tooManyErrors() bool {
	limit := a.r.opt.MaxErrors
	if limit == nil {
		return false
	}
	errs, cases := a.counts.Error, a.expected(a.c, a.counts.Run)
	for k, c := range a.r.job.Campaigns {
		switch {
		case k < a.k:
			errs += a.r.records[k].Cases.Error
			cases += a.r.records[k].Cases.Run
		case k > a.k:
			cases += a.expected(c, 0)
		}
	}
	return limit.exceeded(errs, cases)
}

// expected returns how many cases a campaign of the run will have, as far as
// known.
func (a *attempt) expected(c campaign.Any, known int64) int64 {
	n := max(known, fewest)
	if planned := campaign.TraitsOf(c).Planned; planned > 0 {
		n = max(known, planned)
	}
	if a.limit > 0 {
		n = min(n, a.limit)
	}
	return n
}

// Limits for the reasons why cases have no verdict.
const (
	reasonsKept  = 64
	reasonsShown = 3
	namesShown   = 5
)

// reasons are why cases were skipped, or have no result, in case order.
type reasons struct {
	order []string
	of    map[string]*reason
}

type reason struct {
	cases int64
	names []string // of the first cases, if the document names its cases
}

func (r *reasons) add(why, name string) {
	why = strings.TrimPrefix(diag.FirstLine(why), name+": ")
	if r.of == nil {
		r.of = make(map[string]*reason)
	}
	x := r.of[why]
	if x == nil {
		if len(r.order) == reasonsKept {
			return
		}
		x = &reason{}
		r.of[why] = x
		r.order = append(r.order, why)
	}
	if x.cases++; name != "" && len(x.names) < namesShown {
		x.names = append(x.names, name)
	}
}

// String names the most frequent reasons.
func (r *reasons) String() string {
	list := slices.Clone(r.order)
	slices.SortStableFunc(list, func(a, b string) int { return int(r.of[b].cases - r.of[a].cases) })
	var b strings.Builder
	for i, why := range list[:min(len(list), reasonsShown)] {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(why)
		x := r.of[why]
		more := x.cases - int64(len(x.names))
		switch {
		case len(x.names) > 0 && more > 0:
			fmt.Fprintf(&b, " (%s and %d more)", strings.Join(x.names, ", "), more)
		case len(x.names) > 0:
			fmt.Fprintf(&b, " (%s)", strings.Join(x.names, ", "))
		case len(list) > 1:
			fmt.Fprintf(&b, " (%s)", diag.Plural(x.cases, "case"))
		}
	}
	if more := len(list) - reasonsShown; more > 0 {
		fmt.Fprintf(&b, "; and %s", diag.Plural(more, "other reason"))
	}
	return b.String()
}
