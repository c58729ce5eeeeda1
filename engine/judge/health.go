package judge

import (
	"fmt"
	"slices"
)

// Health counts the calls of one tool or model where nothing was injected.
type Health struct {
	Calls  int `json:"calls"`
	Failed int `json:"failed"`
	// Rejected are those of Failed by which a server declines what was asked, as
	// it may: nothing was found, the card was declined.
	Rejected int    `json:"rejected,omitempty"`
	Turns    int    `json:"turns"` // that made such calls
	First    int    `json:"first"` // the first of these turns
	How      string `json:"how"`   // the last failure
	turn     int
	asked    []string // what the model calls it
}

// declined are the statuses by which a server declines what it understood.
var declined = []int{402, 404, 409}

// HealthOf counts the calls of a trace, by name.
func HealthOf(t Trace) map[string]Health {
	all := make(map[string]Health)
	strange := unknownTool(t) // they fail for they do not exist
	for i := range t.Events {
		e := &t.Events[i]
		if e.Kind != Tool && e.Kind != Model || e.Source == InChat || len(e.Faults) > 0 || e.Unrecorded || slices.ContainsFunc(strange, func(p Problem) bool { return p.Subject == t.subject(i) }) {
			continue
		}
		key, asked := t.subject(i), names(t.wanted(i))
		h := all[key]
		for _, name := range asked {
			if !slices.Contains(h.asked, name) {
				h.asked = append(h.asked, name)
			}
		}
		if h.Calls++; h.Calls == 1 {
			h.First = e.Turn
		}
		if h.Calls == 1 || h.turn != e.Turn {
			h.turn = e.Turn
			h.Turns++
		}
		if e.Failed() {
			h.Failed++
			h.How = e.failureText()
			if slices.Contains(declined, e.Status) || e.Declined && e.Error == "" {
				h.Rejected++
			}
		}
		all[key] = h
	}
	return all
}

// Unhealthy says what is wrong with calls of a name, "" if nothing is: every one
// failed, and not just because a server declined what a single prompt asked of it.
func (h Health) Unhealthy(name string) string {
	if h.Calls == 0 || h.Failed < h.Calls || h.Rejected == h.Failed && h.Turns < 2 {
		return ""
	}
	if len(h.asked) == 1 && normalizeName(h.asked[0]) != normalizeName(name) {
		name = fmt.Sprintf("%s (asked for as %s)", name, h.asked[0])
	}
	return fmt.Sprintf("every call of %s fails even without faults: %s", name, h.How)
}
