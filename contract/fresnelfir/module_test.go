package fresnelfir

import (
	"context"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/examples/wasmemit"
	"github.com/thresh-dev/thresh/port/dut"
)

// A module that does not fit is refused before anything runs, with the place of
// every binding that does not.
func TestUnfitModules(t *testing.T) {
	m := wasmemit.New()
	i32 := wasmemit.Params(wasmemit.I32)
	m.Func("write_articl", i32, i32).I32(1)
	m.Func("revise", wasmemit.Params(wasmemit.I32), nil)
	m.Func("submit", wasmemit.Params(wasmemit.I32, wasmemit.I32), i32).I32(1)
	m.Func("publish", wasmemit.Params(wasmemit.Externref, wasmemit.I32), nil)
	m.Func("send_back", wasmemit.Params(wasmemit.I32, wasmemit.I32), nil)
	m.Func("is_live", i32, i32).I32(1)
	m.Func("revisions", i32, i32).I32(1)
	m.Func("read", wasmemit.Params(wasmemit.I32, wasmemit.I32), i32).I32(1)
	m.ExportGlobal("withdraw", m.Global(wasmemit.I32, true, 0))
	for _, c := range []struct {
		name   string
		module []byte
		want   []string
	}{
		{"bindings", m.Bytes(), []string{
			`$.bindings.actions.write_article.function: write_article: the module does not export it (did you mean write_articl?) [fresnelfir.missing-export]`,
			`$.bindings.actions.revise_article.args: revise: the function takes 1 parameters, the binding gives 2 [fresnelfir.param-count-mismatch]`,
			`$.bindings.actions.submit_article.returns: submit: the function returns (i32), the binding wants void [fresnelfir.return-count-mismatch]`,
			`$.bindings.actions.publish_article.args: publish: parameter "actor_role" is an enum, which does not go into externref [fresnelfir.type-mismatch]`,
			`$.bindings.actions.withdraw_article.function: withdraw: the export is a global, not a function [fresnelfir.wrong-export-kind]`,
		}},
		{"no module", []byte("\x00asm\x02\x00\x00\x00"), []string{`$.bindings.entry: the module is not usable: `}},
		{"nothing", nil, []string{`$.bindings.entry: the module is not usable: `}},
	} {
		read := func(string) ([]byte, error) { return append([]byte{}, c.module...), nil }
		_, diags := New(engine(t).Open).Compile(context.Background(), campaign.Spec{Path: "article.json", Data: []byte(readExample(t, "article.json"))}, campaign.Settings{Read: read})
		var got []string
		for _, d := range diags {
			if d.Pos.Line == 0 {
				t.Errorf("%s: without a place: %v", c.name, d)
			}
			got = append(got, d.Text()+" ["+d.Code+"]")
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %s", c.name, strings.Join(got, "\n"))
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], c.want[i]) {
				t.Errorf("%s:\n got %s\nwant %s", c.name, got[i], c.want[i])
			}
		}
	}
}

func readExample(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("../../examples/fresnelfir/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A finding's capsule is a document that shows it again, anywhere, with the
// module inside; with a module that has no such fault nothing is found.
func TestCapsule(t *testing.T) {
	g := engine(t)
	c := withModule(t, g, readExample(t, "article.json"), exampleModule("article", "a withdrawn article stays live"))
	_, failing := explore(t, c, firstFailure)
	for title, at := range failing {
		files, err := c.Promote(t.Context(), campaign.Finding{ID: "F-1", Kind: kindDiscrepancy, Title: title, Flaky: true}, [][]byte{at.Payload}, "/nowhere")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(files[1].Data), " It was not confirmed, so the test may pass") {
			t.Errorf("a test that may pass does not say so:\n%s", files[1].Data)
		}
		text := files[0].Data
		for name, module := range map[string][]byte{"the one inside": nil, "a sound one": exampleModule("article", "")} {
			again := capsuleCampaign(t, g.Open, text, module)
			s, found := explore(t, again, "")
			if _, ok := found[title]; ok != (module == nil) || s.cases != 1 {
				t.Errorf("%s: %d cases, %v", name, s.cases, found)
			}
		}
		again := capsuleCampaign(t, g.Open, text, nil)
		twice, err := again.Promote(t.Context(), campaign.Finding{ID: "F-1", Kind: kindDiscrepancy, Title: title}, [][]byte{at.Payload}, "/nowhere")
		if err != nil || string(twice[0].Data) != string(text) {
			t.Errorf("a capsule of a capsule is another: %v\n%s", err, twice[0].Data)
		}
		return
	}
	t.Error("nothing failed")
}

func capsuleCampaign(t testing.TB, open dut.Opener, text, module []byte) *Campaign {
	t.Helper()
	list, diags := New(open).Compile(context.Background(), campaign.Spec{Path: "capsule.json", Data: text}, campaign.Settings{
		Read: func(string) ([]byte, error) {
			if module == nil {
				return nil, fs.ErrNotExist
			}
			return module, nil
		},
	})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	c, _ := campaign.As[*Campaign](list[0])
	return c
}

// A number that only one comparison in the module knows is found by it, from
// every seed, in a few hundred traversals.
func TestConstantsAreFedBack(t *testing.T) {
	g := engine(t)
	for seed := range uint64(5) {
		text := strings.Replace(readExample(t, "queue.json"), `"max": 1000 }`, `"max": 2000000000 }`, -1)
		c := withModuleNamed(t, g, "queue.json", text, exampleModule("queue", "the number 777 cannot be pushed"))
		c.seed, c.budget = seed, 500
		if _, failing := explore(t, c, firstFailure); len(failing) == 0 {
			t.Errorf("seed %d: not found", seed)
		}
	}
}
