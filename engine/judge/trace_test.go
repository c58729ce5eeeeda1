package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// A call that the model asked for was carried out if a request followed it before the model
// spoke again, in the same turn; of several at once nobody knows which. Calls of these tools
// without a request are no part of the trace.
func TestCallsWithoutARequest(t *testing.T) {
	parse := func(text string) (list []Event) {
		turn := 0
		for _, word := range strings.Fields(text) {
			kind, name, _ := strings.Cut(word, ":")
			switch kind {
			case "turn":
				turn++
				continue
			case "chat":
				list = append(list, Event{Kind: Tool, Source: InChat, Name: name, Turn: turn})
			case "wire":
				list = append(list, Event{Kind: Tool, Source: OnWire, Name: name, Turn: turn})
			default:
				list = append(list, Event{Kind: Kind(kind), Name: name, Turn: turn})
			}
		}
		return list
	}
	write := func(list []Event) string {
		var words []string
		for _, e := range list {
			kind := string(e.Kind)
			if e.Source != "" {
				kind = string(e.Source)
			}
			words = append(words, kind+":"+e.Name)
		}
		return strings.Join(words, " ")
	}
	for _, x := range []struct{ events, carried, without string }{
		{"model:m chat:Pay wire:cards model:m", "[pay]", "model:m chat:Pay wire:cards model:m"},
		{"chat:pay", "[]", ""},
		{"model:m chat:pay model:m wire:cards", "[]", "model:m model:m wire:cards"},
		{"model:m chat:pay turn wire:cards", "[]", "model:m wire:cards"},
		{"model:m chat:pay chat:ask wire:cards", "[]", "model:m chat:pay chat:ask wire:cards"},
		{"model:m chat:ask chat:pay model:m", "[]", "model:m chat:ask model:m"},
		{"model:m chat:pay log:l model:m", "[]", "model:m log:l model:m"},
		{"model:m chat:pay log:l wire:cards", "[pay]", "model:m chat:pay log:l wire:cards"},
		{"wire:pay model:m chat:pay reply:r", "[]", "wire:pay model:m reply:r"},
	} {
		trace := Trace{Events: parse(x.events)}
		if got := fmt.Sprint(slices.Sorted(maps.Keys(trace.CarriedOut()))); got != x.carried {
			t.Errorf("%s: carried out %s, want %s", x.events, got, x.carried)
		}
		if got := write(trace.WithoutUnsent(func(name string) bool { return name == "pay" }).Events); got != x.without {
			t.Errorf("%s: without %s, want %s", x.events, got, x.without)
		}
	}
	trace := Trace{Events: parse("model:m chat:pay wire:cards wire:cards fault: log:l"), Offered: []Offer{{Name: "pay"}, {Name: "ask"}}}
	if got := fmt.Sprint(trace.Occurred()); got != "map[log:[l] model:[m] request:[cards] tool:[pay cards ask]]" {
		t.Error(got)
	}
}
