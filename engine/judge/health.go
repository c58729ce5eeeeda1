package judge

import (
	"fmt"
	"slices"
)

// Health counts the calls of one tool or model in cases without faults.
type Health struct {
	Calls  int `json:"calls"`
	Failed int `json:"failed"`
	// Rejected counts the failed calls that a server declined, as it may: nothing
	// was found, the card was declined.
	Rejected int    `json:"rejected,omitempty"`
	Turns    int    `json:"turns"` // turns with such calls
	First    int    `json:"first"` // the first of these turns
	How      string `json:"how"`   // the last failure
	turn     int
	asked    []string // what the model calls it
}

// declined has the status codes by which a server declines a request that it
// understood.
var declined = []int{402, 404, 409}

// HealthOf counts the calls of a trace, by name.
func HealthOf(t Trace) map[string]Health {
	all := make(map[string]Health)
	strange := unknownTool(t) // they fail because they do not exist
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

// Unhealthy says what is wrong with calls of a name; "" if nothing is. Calls are
// unhealthy if every one failed, and not only because a server declined what a
// single prompt asked for.
func (h Health) Unhealthy(name string) string {
	if h.Calls == 0 || h.Failed < h.Calls || h.Rejected == h.Failed && h.Turns < 2 {
		return ""
	}
	if len(h.asked) == 1 && normalizeName(h.asked[0]) != normalizeName(name) {
		name = fmt.Sprintf("%s (asked for as %s)", name, h.asked[0])
	}
	return fmt.Sprintf("every call of %s fails even without faults: %s", name, h.How)
}
