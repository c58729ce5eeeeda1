package spectest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/campaign"
)

// What a failing case says: of every kind of assertion, under must, can and cannot.
func TestWhatFailuresSay(t *testing.T) {
	const golden = "testdata/failures.txt"
	want, err := os.ReadFile(golden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	at, _ := os.Getwd()
	t.Chdir(t.TempDir())
	write(t, "one.txt", []byte("one two\n"))
	write(t, "n.json", []byte(`{"n": 7, "name": "Ada", "tags": ["a", "b"], "big": {"x": 1, "y": [1, 2, 3]}}`))
	write(t, "lines.txt", []byte("a\nb\nc\nd\n"))
	write(t, "page.txt", []byte("first line\nsecond line\nthird lime\nlast line"))
	write(t, "wide.txt", []byte(strings.Repeat("é fill ", 9)+"the needle was here, "+strings.Repeat("after ü ", 9)+"\nword7 word8\n"))
	long := strings.Repeat("long ", 60)
	var out strings.Builder
	for i, x := range []struct{ file, assert string }{
		{"one.txt", `{target: text, must: [{contain: [three]}]}`},
		{"one.txt", `{target: text, must: [{regex: ['^two\d']}]}`},
		{"one.txt", `{target: text, must: [{json_type: [list]}]}`},
		{"one.txt", `{target: text, must: [{evaluate: [[eq, [len, [subject]], 3]]}]}`},
		{"one.txt", `{target: text, must: [{evaluate: [[eq, [subject], "one two"]]}]}`},
		{"one.txt", `{target: text, must: [{evaluate: [[eq, [trim, [subject]], "one  two"]]}]}`},
		{"lines.txt", `{target: text, must: [{evaluate: [[eq, [subject], "a\nb\nx\nd\n"]]}]}`},
		{"one.txt", `{target: text, must: [{evaluate: [[and, [contains, [subject], one], [contains, [subject], six]]]}]}`},
		{"one.txt", `{target: text, must: [{contain: ["` + long + `"]}]}`},
		{"one.txt", `{target: text, cannot: [{contain: [one]}]}`},
		{"one.txt", `{target: text, cannot: [{regex: ['t.o']}]}`},
		{"one.txt", `{target: text, cannot: [{evaluate: [[eq, [len, [subject]], 8]]}]}`},
		{"one.txt", `{target: text, cannot: [{contain: [one, two]}]}`},
		{"one.txt", `{target: text, cannot: [{contain: [nine]}, {contain: [one]}, {contain: [two]}]}`},
		{"one.txt", `{cannot: [{when: 'text contains "one"'}]}`},
		{"one.txt", `{target: text, cannot: [{can: [{contain: [one]}, {contain: [six]}]}]}`},
		{"one.txt", `{target: text, can: [{contain: [six]}, {regex: ['^9']}]}`},
		{"one.txt", `{target: text, can: [{contain: [b]}, {contain: [c]}, {contain: [d]}, {contain: [f]}, {contain: [g]}, {contain: [h]}]}`},
		{"n.json", `{can: [{when: $.n == 8}, {when: $.name == 'Bob'}]}`},
		{"n.json", `{when: $.n == 8}`}, {"n.json", `{when: $.n < 7}`}, {"n.json", `{when: $.name < 7}`}, {"n.json", `{when: $.name == 7}`},
		{"n.json", `{when: '$.tags == ["a", "c"]'}`}, {"n.json", `{when: len($.tags) == 3 and $.n == 7}`}, {"n.json", `{when: $.none.deeper == 1}`},
		{"n.json", `{when: '$.big == {"y": [1, 2, 4], "x": 1}'}`}, {"n.json", `{when: '$.tags[*] == ["a"]'}`}, {"one.txt", `{when: $.n == 1}`},
		{"n.json", `{when: '$.name == "` + long + `"'}`}, {"n.json", `{when: not ($.n == 7)}`},
		{"n.json", `{target: text, must: [{evaluate: [[eq, [json_parse, [subject]], [json_parse, '{"n": 7, "name": "Eve", "tags": ["a"]}']]]}]}`},
		{"page.txt", `{target: text, must: [{contain: ["second line\nthird line\nfourth"]}]}`}, {"page.txt", `{target: text, must: [{contain: ["line\nthird line\nlast lime"]}]}`},
		{"page.txt", `{target: text, must: [{contain: ["last line\nand more"]}]}`}, {"page.txt", `{target: text, must: [{contain: ["  "]}]}`},
		{"wide.txt", `{target: text, must: [{contain: ["the needle is here"]}]}`}, {"wide.txt", `{target: text, must: [{contain: ["word7 word9"]}]}`},
	} {
		doc := blockDocument(fmt.Sprintf("id: F%d\ntype: text.file\npath: %s\nassert:\n- %s\n", i+1, x.file, x.assert))
		got, outcomes := play(t, newContract(nil), doc, nil)
		o := outcomes[0]
		fmt.Fprintf(&out, "## %s\n%s: %s\n%s\n%s\n", clipped(x.assert, 120), got[0], x.file, o.Title, o.Data)
		for _, e := range o.Evidence {
			fmt.Fprintf(&out, "%s: %q\n", e.Name, e.Data)
		}
		camps, _ := newContract(nil).Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: []byte(doc)}, ofFiles(nil))
		c, _ := campaign.As[*Campaign](camps[0])
		for _, d := range c.Describe(nil, campaign.Case{}, o, nil) {
			if d.Title == "Block" {
				continue // the document again
			}
			if d.Text != nil {
				fmt.Fprintf(&out, "%s\n%s\n", d.Title, strings.TrimRight(d.Text.Body, "\n"))
			}
			if d.Table != nil {
				fmt.Fprintf(&out, "%s: %q\n", d.Title, d.Table.Rows)
			}
		}
	}
	if *update {
		if err := os.WriteFile(at+"/"+golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if d := cmp.Diff(string(want), out.String()); d != "" {
		t.Error(d)
	}
}
