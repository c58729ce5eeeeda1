package system

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/port/sut"
)

// A tool that says it changed something, and did not, is found by the tool that shows it; one that
// did, refused, or of which nothing shows, is not.
func TestWhatChangesNothing(t *testing.T) {
	typed := object(`"id":{"type":"integer"},"status":{"enum":["open","paid","cancelled"]}`, "id")
	id := []sut.Argument{{Name: "id", Type: "integer"}}
	arg := object(`"id":{"type":"integer"}`, "id")
	for name, x := range map[string]struct {
		does   string          // the tool
		shows  json.RawMessage // the schema of what get_job answers
		before string          // what that answers first
		after  string          // and then
		end    sut.End         // of the tool
		want   string
		says   string // the tool, if not the thing's id
	}{
		"cancelled nothing":           {"cancel_job", typed, `{"id":7,"status":"open"}`, `{"id":7,"status":"open"}`, sut.Answered, "cancel_job: is answered, and get_job shows the same after it as before: status is open", ""},
		"cancelled":                   {"cancel_job", typed, `{"id":7,"status":"open"}`, `{"id":7,"status":"cancelled"}`, sut.Answered, "", ""},
		"cancelled before":            {"cancel_job", typed, `{"id":7,"status":"cancelled"}`, `{"id":7,"status":"cancelled"}`, sut.Answered, "", ""},
		"refused":                     {"cancel_job", typed, `{"id":7,"status":"open"}`, `{"id":7,"status":"open"}`, sut.Refused, "", ""},
		"refused in a member":         {"cancel_job", typed, `{"id":7,"status":"open"}`, `{"id":7,"status":"open"}`, sut.Answered, "", `{"cancelled": false}`},
		"refused with an error":       {"cancel_job", typed, `{"id":7,"status":"open"}`, `{"id":7,"status":"open"}`, sut.Answered, "", `{"error": {"code": 3}}`},
		"refused in words":            {"cancel_job", typed, `{"id":7,"status":"open"}`, `{"id":7,"status":"open"}`, sut.Answered, "", `Job 7 is running and cannot be stopped.`},
		"without an error":            {"cancel_job", typed, `{"id":7,"status":"open"}`, `{"id":7,"status":"open"}`, sut.Answered, "cancel_job: is answered, and get_job shows the same after it as before: status is open", `{"ok": true, "error": null}`},
		"put off":                     {"cancel_job", typed, `{"id":7,"status":"open"}`, `{"id":7,"status":"open"}`, sut.Answered, "", `cancellation requested`},
		"on its way":                  {"cancel_job", typed, `{"id":7,"status":"open"}`, `{"id":7,"status":"open","stopping":true}`, sut.Answered, "", ""},
		"paid nothing":                {"pay_job", typed, `{"id":7,"status":"open"}`, `{"id":7,"status":"open"}`, sut.Answered, "pay_job: is answered, and get_job shows the same after it as before: status is open", ""},
		"sent, which is no state":     {"send_job", typed, `{"id":7,"status":"open"}`, `{"id":7,"status":"open"}`, sut.Answered, "", ""},
		"without a schema":            {"cancel_job", nil, `{"job":{"id":7,"state":"active"}}`, `{"job":{"id":7,"state":"active"}}`, sut.Answered, "cancel_job: is answered, and get_job shows the same after it as before: state is active", ""},
		"a truth":                     {"archive_job", object(`"archived":{"type":"boolean"}`), `{"id":7,"archived":false}`, `{"id":7,"archived":false}`, sut.Answered, "archive_job: is answered, and get_job shows the same after it as before: archived is false", ""},
		"nothing shows":               {"cancel_job", nil, `{"id":7,"title":"active"}`, `{"id":7,"title":"active"}`, sut.Answered, "", ""},
		"of a part":                   {"cancel_job", nil, `{"id":7,"owner":{"state":"active"}}`, `{"id":7,"owner":{"state":"active"}}`, sut.Answered, "", ""},
		"deleted nothing":             {"delete_job", nil, `{"id":7}`, `{"id":7}`, sut.Answered, "delete_job: is answered, and get_job shows the same after it as before: it is still there", ""},
		"deleted, as it says":         {"delete_job", nil, `{"id":7,"deleted":true}`, `{"id":7,"deleted":true}`, sut.Answered, "", ""},
		"about another kind of thing": {"cancel_order", typed, `{"id":7,"status":"open"}`, `{"id":7,"status":"open"}`, sut.Answered, "", ""},
	} {
		ops := []sut.Operation{
			{Name: "create_job", Schema: object(``)}, {Name: x.does, Arguments: id, Schema: arg},
			{Name: "get_job", Arguments: id, Schema: arg, Answers: map[string]json.RawMessage{"0": x.shows}},
		}
		var all []usage
		for i := range ops {
			args := `{"id":1}`
			if i == 0 {
				args = `{}`
			}
			all = append(all, usage{&ops[i], [2][]input{{{Operation: ops[i].Name, Valid: true, Args: json.RawMessage(args)}}}})
		}
		c := &Campaign{plan: &sut.Plan{Kind: sut.MCP}}
		usual, _ := c.chains(all)
		var got []string
		for _, payload := range usual[2] {
			changed := false
			service := &cellar{call: func(k sut.Call, args map[string]string) sut.Observation {
				o := sut.Observation{End: sut.Answered, Output: []byte(`{"id":7}`)}
				switch {
				case k.Operation == x.does:
					o.End, changed = x.end, true
					if x.says != "" {
						o.Output = []byte(x.says)
					}
				case k.Operation == "get_job" && changed:
					o.Output = []byte(x.after)
				case k.Operation == "get_job":
					o.Output = []byte(x.before)
				}
				o.Value = o.Output
				return o
			}}
			e := &executor{since: new(atomic.Int64), c: c, x: service}
			out, err := e.Execute(t.Context(), &state{ops: ops}, campaign.Case{Payload: payload})
			if err != nil {
				t.Fatal(err)
			}
			if out.Kind == kindIdle {
				got = append(got, out.Title)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(slices.DeleteFunc([]string{x.want}, func(s string) bool { return s == "" })) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// What a tool is about comes from the tool that is named for making it, else from one that takes
// the same argument, else from one that answers with it, whatever its verb if the argument is an
// id of a thing; what is about all things is asked once there are several.
func TestMakersOfTools(t *testing.T) {
	id, pot := []sut.Argument{{Name: "id", Type: "integer"}}, []sut.Argument{{Name: "pot_id", Type: "integer"}}
	answer := map[string]json.RawMessage{"0": object(`"pot_id":{}`)}
	ops := []sut.Operation{
		{Name: "list_pots", Answers: answer, Reads: true}, {Name: "compost_pot", Arguments: pot, Answers: answer}, {Name: "burn_pots", Answers: answer, Destroys: true},
		{Name: "plant", Answers: answer}, {Name: "get_pot", Arguments: pot},
		{Name: "add_note", Arguments: id}, {Name: "create_job", Answers: map[string]json.RawMessage{"0": object(`"id":{}`)}}, {Name: "get_job", Arguments: id}, {Name: "count", Reads: true},
	}
	var all []usage
	for i := range ops {
		args := `{"id":1}`
		if len(ops[i].Arguments) == 0 {
			args = `{}`
		} else {
			args = strings.Replace(args, "id", ops[i].Arguments[0].Name, 1)
		}
		all = append(all, usage{&ops[i], [2][]input{{{Operation: ops[i].Name, Valid: true, Args: json.RawMessage(args)}}}})
	}
	usual, _ := (&Campaign{plan: &sut.Plan{Kind: sut.MCP}}).chains(all)
	for i, want := range []string{"create_job create_job create_job", "plant compost_pot", "", "", "plant get_pot", "create_job add_note", "", "create_job get_job", "create_job create_job create_job"} {
		first := ""
		if len(usual[i]) > 0 {
			var in input
			if err := json.Unmarshal(usual[i][0], &in); err != nil {
				t.Fatal(err)
			}
			for _, b := range in.Before {
				first += b.Operation + " "
			}
			if first += in.Operation; in.leaks() {
				t.Errorf("%s is a leak", first)
			}
		}
		if !strings.HasPrefix(strings.ReplaceAll(first, "add_note add_note add_note ", ""), want) || want == "" && first != "" {
			t.Errorf("%s: %s", ops[i].Name, first)
		}
	}
}

// A tool that lists things is asked for one of several, and for those with a word, once they are made.
func TestListsOfTools(t *testing.T) {
	ops := []sut.Operation{
		{Name: "add_note"},
		{Name: "list_notes", Reads: true, Arguments: argumentsIn("", "limit", "color", "done"), Schema: object(`"limit":{"type":"integer","minimum":1},"color":{"enum":["red","blue"]},"done":{"type":"boolean"}`)},
		{Name: "sort_notes", Destroys: true, Arguments: argumentsIn("", "limit"), Schema: object(`"limit":{"type":"integer"}`)},
	}
	var all []usage
	for i := range ops {
		all = append(all, usage{&ops[i], [2][]input{{{Operation: ops[i].Name, Valid: true, Args: json.RawMessage(`{}`)}}}})
	}
	var got []string
	for i := range all {
		for _, in := range lists(all, &all[i]) {
			got = append(got, fmt.Sprintf("%d %s %s %t", len(in.Before), in.Operation, in.Args, in.leaks()))
		}
	}
	if want := `3 list_notes {"limit":1} false|3 list_notes {"color":"red"} false|3 list_notes {"color":"blue"} false|3 list_notes {"done":true} false|3 list_notes {"done":false} false`; strings.Join(got, "|") != want {
		t.Errorf("%s", strings.Join(got, "|"))
	}
}

// What a system says of each text that an argument may be is one cause.
func TestCauseOfQuotedTexts(t *testing.T) {
	of := func(args, about, why string) string {
		in := &input{Operation: "find", About: about, Valid: true, Args: json.RawMessage(args)}
		return fmt.Sprint(judge(nil, &sut.Operation{Name: "find"}, in, &sut.Observation{End: sut.Crashed, Why: why}).Cause)
	}
	for name, x := range map[string][3]string{
		"texts":       {of(`{"q":"@@"}`, `q: "@@"`, `cannot find "@@" here`), of(`{"q":"\u0001 -"}`, `q: control`, `cannot find "\u0001 -" there`), "same"},
		"patterns":    {of(`{"q":"["}`, `q: "["`, `Invalid regular expression: /[/: Unterminated character class`), of(`{"q":"\\"}`, `q: "\\"`, `Invalid regular expression: /\/: \ at end of pattern`), "same"},
		"by chance":   {of(`{"q":"a"}`, `q: usual`, `there is a hole`), of(`{"q":"b"}`, `q: other`, `there is another`), ""},
		"other words": {of(`{"q":"@@"}`, `q: "@@"`, `cannot find "@@"`), of(`{"q":"!!"}`, `q: "!!"`, `cannot read "!!"`), ""},
	} {
		if (x[0] == x[1]) != (x[2] == "same") {
			t.Errorf("%s: %s, %s", name, x[0], x[1])
		}
	}
}
