package fresnelfir

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/examples/wasmemit"
)

// club is a model of members, of an entity with a name, whom the module makes, and
// whom an observer is asked about. In edits words of the text stand before what takes
// their place.
func club(entity string, edits ...string) string {
	text := document(map[string]string{
		"entities": `{"ENTITY": {"fields": {"id": {"type": "string"}, "points": {"type": "int", "min": 0, "max": 1000}}}}`,
		"functions": `{"has": {"classification": "derived", "params": [{"name": "x", "type": "ENTITY"}], "body": ["field", "x", "points"], "returns": "int"},
  "points": {"classification": "observer", "params": [{"name": "x", "type": "ENTITY"}], "binding": "points", "returns": "int"}}`,
		"protocols": `{"use": {"root": {"type": "seq", "children": [{"type": "call", "action": "join"}, {"type": "repeat", "min": 0, "max": 6, "body": {"type": "alt", "branches": [
  {"id": "join", "weight": 1, "body": {"type": "call", "action": "join"}}, {"id": "earn", "weight": 2, "body": {"type": "call", "action": "earn"}}]}}]}}}`,
		"effects": `{"join": {"creates": {"entity": "ENTITY", "assign": "member"}, "sets": [{"target": ["member", "points"], "value": 5}]},
  "earn": {"sets": [{"target": ["member", "points"], "value": ["add", ["field", "member", "points"], 1]}]}}`,
		"bindings": `{"join": ` + binding("join", "ARGS", "RETURNS", `"mutates": true, "idempotent": false, "reads": [], "writes": []`) + `,
  "earn": ` + binding("earn", `"member_id"`, "void", `"mutates": true, "idempotent": false, "reads": [], "writes": []`) + `}`,
	})
	all := slices.Concat(edits, []string{"ENTITY", entity, "ARGS", "", "RETURNS", entity})
	for i := 0; i < len(all); i += 2 {
		text = strings.ReplaceAll(text, all[i], all[i+1])
	}
	return text
}

// clubModule counts members from 1, who have five points each to begin with; of
// others it knows nothing. With args join takes as many arguments.
func clubModule(args int, returns bool) []byte {
	m := wasmemit.New()
	m.Memory(1, 1)
	count := m.Global(wasmemit.I32, true, 0)
	one := wasmemit.Params(wasmemit.I32)
	var results []wasmemit.Type
	if returns {
		results = one
	}
	at := func(f *wasmemit.Func) *wasmemit.Func { return f.I32(4).Op(wasmemit.I32Mul) }
	f := m.Func("join", wasmemit.Params(slices.Repeat([]wasmemit.Type{wasmemit.I32}, args)...), results).
		GlobalGet(count).I32(1).Op(wasmemit.I32Add).GlobalSet(count)
	at(f.GlobalGet(count)).I32(5).Memory(wasmemit.I32Store, 0)
	if returns {
		f.GlobalGet(count)
	}
	f = m.Func("earn", one, nil)
	at(at(f.Get(0)).Get(0)).Memory(wasmemit.I32Load, 0).I32(1).Op(wasmemit.I32Add).Memory(wasmemit.I32Store, 0)
	at(m.Func("points", one, one).Get(0)).Memory(wasmemit.I32Load, 0)
	return m.Bytes()
}

// What an entity is called decides on nothing: the harness makes none of those that
// the module makes, and asks about none that the module has not made or heard of.
func TestInstancesThatTheModuleDidNotMake(t *testing.T) {
	g := engine(t)
	actor := []string{"ARGS", `"actor_id"`}
	void := []string{"RETURNS", "void"}
	for _, c := range []struct {
		name, entity string
		edits        []string
		args         int
		want         []string // codes of warnings
	}{
		{"a user", "User", nil, 0, nil},
		{"a person", "Person", nil, 0, nil},
		{"a user that counts by itself", "User", void, 0, nil},
		{"a person who acts as well", "Person", actor, 1, []string{"fresnelfir.handle-collision"}},
		{"a user who acts as well", "User", actor, 1, []string{"fresnelfir.handle-collision"}},
		{"a person who acts, and who counts by itself", "Person", slices.Concat(actor, void), 1, []string{"fresnelfir.handle-collision"}},
		{"a member that a generator makes", "User", []string{`"concurrency"`, `"x": 0, "concurrency"`, "\n\"generators\": {}",
			`"generators": {"g": {"sequence": [{"action": "earn", "with": {"member": {"generate": "User"}}}]}}`}, 0, []string{"fresnelfir.handle-collision", "fresnelfir.unknown-key"}},
	} {
		text := club(c.entity, c.edits...)
		read := func(string) ([]byte, error) { return clubModule(c.args, !slices.Contains(c.edits, "RETURNS")), nil }
		list, diags := New(g.Open).Compile(context.Background(), campaign.Spec{Path: "m.json", Data: []byte(text)}, campaign.Settings{Read: read})
		var codes []string
		for _, d := range diags {
			codes = append(codes, d.Code)
		}
		if slices.Sort(codes); diags.HasErrors() || !slices.Equal(codes, c.want) {
			t.Errorf("%s: %v, want %v", c.name, diags, c.want)
		}
		if diags.HasErrors() {
			continue
		}
		camp, _ := campaign.As[*Campaign](list[0])
		camp.budget = 500
		if _, failing := explore(t, camp, ""); len(failing) > 0 {
			t.Errorf("%s: %v", c.name, failing)
		}
	}
}

// Notes of check say who acts and why, and how names are read that mean more than
// others; they are no warnings.
func TestNotesSayHowNamesAreRead(t *testing.T) {
	notes := func(text string) (list []string) {
		_, diags := New(nil).Compile(context.Background(), campaign.Spec{Path: "m.json", Data: []byte(text)}, campaign.Settings{Check: true, Strict: true})
		for _, d := range diags {
			if d.Level == diag.Note {
				list = append(list, d.Path+": "+d.Message)
			} else {
				t.Errorf("%v", d)
			}
		}
		return list
	}
	for name, c := range map[string]struct{ text, want string }{
		"the article": {readExample(t, "article.json"), `
$.entities.User: each actor is a User, which Thresh makes: it is the only entity that can: no action creates it and it has id
$.entities.User.fields.id: a string field called id is the identity of each User: unique, unless an effect sets it
$.entities.Article.fields.id: a string field called id is the identity of each Article: unique, unless an effect sets it
$.functions.shown: is compared with live, the only derived function with its parameters and type; "models" names another
$.functions.counted: is compared with revisions, the only derived function with its parameters and type; "models" names another
$.inputs.domains.actor_role: also supplies the role of each acting User, as it has the field's name
$.inputs.domains.actor_signed_in: also supplies the signed_in of each acting User, as it has the field's name
$.bindings.actions.publish_article.args[0]: is the field role of actor, not the input actor_role`},
		"nobody acts": {club("User"), `
$.entities.User.fields.id: a string field called id is the identity of each User: unique, unless an effect sets it
$.functions.points: is compared with has, the only derived function with its parameters and type; "models" names another`},
		"a bank that names all": {readExample(t, "bank.json"), ""},
	} {
		if got, want := strings.Join(notes(c.text), "\n"), strings.TrimPrefix(c.want, "\n"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}
