package judge

import (
	"fmt"
	"strings"
	"testing"
)

// Of what a rule names, that without which it holds untested is idle: an event that must
// stand before others is not, for the rule fails without it.
func TestMentions(t *testing.T) {
	zero, one := 0, 1
	named := func(name string) *Pattern { return &Pattern{Kind: Tool, Name: name} }
	for _, x := range []struct {
		rule         Rule
		want, negate string
	}{
		{Rule{}, "a", "a"},
		{Rule{AtLeast: &one}, "a", "a"},
		{Rule{Exactly: &one}, "a", "a"},
		{Rule{Exactly: &zero}, "a", "a"},
		{Rule{AtMost: &zero}, "a", "a"},
		{Rule{AtMost: &one}, "a idle", "a"},
		{Rule{Before: named("b")}, "a, b idle", "a, b"},
		{Rule{After: named("b")}, "a idle, b", "a, b"},
		{Rule{NeverAfter: named("b")}, "a idle, b idle", "a, b"},
		{Rule{NeverAfter: named("*"), AtMost: &one}, "a idle", "a"},
		{Rule{Before: named("a"), AtMost: &zero}, "a, a idle", "a"},
	} {
		x.rule.Event = *named("a")
		for negate, want := range map[bool]string{false: x.want, true: x.negate} {
			var got []string
			for _, m := range x.rule.Mentions(negate) {
				got = append(got, m.Name+map[bool]string{true: " idle"}[m.Idle])
			}
			if strings.Join(got, ", ") != want {
				t.Errorf("%+v, negated %t: %q, want %s", x.rule, negate, got, want)
			}
		}
	}
	pay := Event{Kind: Tool, Name: "pay", Names: []string{"visits"}, Source: OnWire}
	for _, x := range []struct {
		t    Trace
		want Verdict
	}{
		{Trace{Events: []Event{pay}}, Pass}, {Trace{Events: []Event{pay}, Own: []string{"other", "Visits"}}, Fail},
		{Trace{Events: []Event{pay, {Kind: Tool, Name: "visits", Source: OnWire}}}, Pass},
	} {
		got, _, err := (&Rule{Event: *named("visits"), Exactly: &one}).Judge(x.t)
		if in := (Mention{Kind: Tool, Name: "visits"}).In(x.t); err != nil || got != x.want || in != (got == Pass) {
			t.Errorf("%+v: %d %v, mentioned %t", x.t, got, err, in)
		}
	}
	for _, x := range []struct {
		m    Mention
		seen []string
		want string
	}{
		{Mention{Tool, "charge", true}, nil, "no tool charge occurred in any of its cases, so this was not tested; none was seen"},
		{Mention{Model, "gpt", true}, nil, "no model gpt occurred in any of its cases, so this was not tested"},
		{Mention{Tool, "charge", true}, []string{"chrage", "orders"}, "no tool charge occurred in any of its cases, so this was not tested; did you mean chrage?"},
		{Mention{Tool, "charge", true}, []string{"charge"}, "no tool charge occurred in any of its cases, so this was not tested"},
		{Mention{Tool, "charge", true}, []string{"orders", "mail"}, "no tool charge occurred in any of its cases, so this was not tested; seen: orders, mail"},
		{Mention{Tool, "charge", false}, []string{"chrage"}, "no tool charge occurred in any of its cases; did you mean chrage?"},
		{Mention{Tool, "charge", false}, []string{"orders"}, ""},
		{Mention{Tool, "charge", false}, []string{"charge"}, ""},
	} {
		if got := x.m.Missing(x.seen, "none was seen"); got != x.want {
			t.Errorf("%s: %q, want %q", fmt.Sprint(x.m, x.seen), got, x.want)
		}
	}
}
