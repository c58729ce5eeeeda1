package spectest

import (
	"testing"

	"github.com/thresh-dev/thresh/engine/doctree"
	"github.com/thresh-dev/thresh/engine/speclang"
)

// What a tree of assertions says of a reply, and of what cannot be looked at.
func TestTrees(t *testing.T) {
	for _, c := range []struct {
		tree         string
		holds, known bool
		reason       string
	}{
		{`[{target: reply, must: [{contain: [paid]}]}]`, true, true, "holds"},
		{`[{target: reply, must: [{contain: [paid, sent]}]}]`, false, true, `expected reply to contain "sent"`},
		{`[{target: reply, cannot: [{contain: [lost]}]}]`, true, true, "holds"},
		{`[{target: reply, cannot: [{contain: [paid]}]}]`, false, true, `expected reply not to contain "paid"`},
		{`[{target: reply, cannot: [{regex: ["p.id"]}, {contain: [x]}]}]`, false, true, `expected reply not to match "p.id"`},
		{`[{target: reply, cannot: [{must: [{contain: [it]}, {contain: [is]}]}]}]`, false, true, `expected no branch of assert[0].cannot to hold, but assert[0].cannot[0] does: reply to contain "it" and reply to contain "is"`},
		{`[{target: reply, can: [{contain: [x]}, {regex: ["^y"]}]}]`, false, true, `expected one of these to hold: reply to contain "x"; or reply to match "^y"`},
		{`[{target: reply, can: [{contain: [x]}, {contain: [paid]}]}]`, true, true, "holds"},
		{`[{target: reply, must: [{json_type: [dict]}]}]`, false, true, `expected reply to be JSON of type dict: the text is not JSON`},
		{`[{target: reply, can: [{json_type: [dict]}, {contain: [paid]}]}]`, true, true, "holds"},
		{`[{target: prompt, must: [{json_type: [list]}]}]`, false, true, `expected prompt to be JSON of type list: it is JSON of type dict`},
		{`[{target: prompt, must: [{json_type: [dict]}]}]`, true, true, "holds"},
		{`[{target: events, must: [{json_type: [dict]}]}]`, false, true, `expected events to be JSON of type dict: it is JSON of type list`},
		{`[{target: reply, must: [{evaluate: [[eq, [subject], "it is paid"]]}]}]`, true, true, "holds"},
		{`[{target: reply, must: [{evaluate: [[and, [contains, it], [eq, [len, [subject]], 4]]]}]}]`, false, true,
			`expected reply to satisfy ["and",["contains","it"],["eq",["len",["subject"]],4]]: ["len", ["subject"]] is 10 in ["eq", ["len", ["subject"]], 4], which does not hold`},
		{`[{target: reply, must: [{evaluate: [[add, [subject], 1]]}]}]`, false, false, ``},
		{`[{target: trace, must: [{contain: [a]}]}]`, false, false, ``},
	} {
		text := []byte("assert: " + c.tree + "\n")
		doc, err := doctree.Parse(text, doctree.Options{})
		if err != nil {
			t.Fatal(err)
		}
		tree, list := ReadTree("judges.yaml", text, doc.Root.Get("assert"))
		if list.HasErrors() {
			t.Errorf("%s: %v", c.tree, list)
			continue
		}
		holds, known, reason := tree.Judge(func(target string) (speclang.Value, string) {
			switch target {
			case "reply":
				return speclang.StringValue("it is paid"), ""
			case "prompt":
				return speclang.StringValue(`{"a": 1}`), ""
			case "events":
				v, err := speclang.ParseJSON(`[{"tool": "pay"}]`)
				if err != nil {
					t.Fatal(err)
				}
				return v, ""
			}
			return speclang.NullValue(), "there is no " + target
		})
		if holds != c.holds || known != c.known || c.known && reason != c.reason {
			t.Errorf("%s: %t %t\n%s, want %t %t\n%s", c.tree, holds, known, reason, c.holds, c.known, c.reason)
		}
		if !known && reason == "" {
			t.Errorf("%s: nothing is said", c.tree)
		}
	}
	text := []byte("assert: [{target: reply, must: [{contains: [a]}]}]\n")
	doc, err := doctree.Parse(text, doctree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, list := ReadTree("judges.yaml", text, doc.Root.Get("assert")); !list.HasErrors() {
		t.Error("an operator that is none is taken")
	}
}
