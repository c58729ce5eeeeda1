package spectest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/internal/golden"
)

// What a failing case says: of every kind of assertion, under must, can and cannot.
func TestWhatFailuresSay(t *testing.T) {
	const expected = "testdata/failures.txt"
	at, _ := os.Getwd()
	t.Chdir(t.TempDir())
	write(t, "one.txt", []byte("one two\n"))
	write(t, "n.json", []byte(`{"n": 7, "name": "Ada", "tags": ["a", "b"], "big": {"x": 1, "y": [1, 2, 3]}}`))
	write(t, "lines.txt", []byte("a\nb\nc\nd\n"))
	write(t, "page.txt", []byte("first line\nsecond line\nthird lime\nlast line"))
	write(t, "nfd.txt", []byte("cafe\u0301\n"))
	write(t, "418.txt", []byte("418"))
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
		{"nfd.txt", `{target: text, must: [{contain: ["\u00e9"]}]}`}, {"418.txt", `{target: text, must: [{evaluate: [[eq, [subject], 418]]}]}`},
		{"418.txt", `{target: text, must: [{evaluate: [[eq, 418, [json_parse, '"418"']]]}]}`}, {"n.json", `{when: '$.tags | first < 1'}`}, {"n.json", `{can: [{when: $.n == 8}, {when: $.n == 9}]}`},
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
	golden.Check(t, at+"/"+expected, out.String())
}

// Of many checks that fail, the first are listed, each with what it expected cut to a length,
// and the others counted.
func TestManyFailures(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "one.txt", []byte("one\n"))
	body := "id: MANY\ntype: text.file\npath: one.txt\nassert:\n"
	for i := range 53 {
		body += fmt.Sprintf("- {target: text, must: [{evaluate: [[eq, [subject], 'w%d%s']]}]}\n", i, strings.Repeat(" long", 1000*(i%2)))
	}
	_, outcomes := play(t, newContract(nil), blockDocument(body)+blockDocument("type: text.file\npath: one.txt\nassert: [{target: text, must: [{contain: [two]}]}]\n"), nil)
	all := besideFailures(outcomes[0])
	if len(all) != 50 || all[49].Left != 2 || all[48].Left != 0 || len(*all[0].Expected) > 4200 || len(*all[1].Expected) != 2 || *all[1].Actual != "one\n" {
		t.Errorf("%d are kept, %d are left, %d and %d bytes", len(all), all[49].Left, len(*all[0].Expected), len(*all[1].Expected))
	}
	lines := strings.Split(besides(all), "\n")
	if len(lines) != 52 || lines[50] != "also:     2 more checks" || lines[1] != `also:     line 8: expected text to satisfy ["eq",["subject"],"w2"]` {
		t.Errorf("%d lines: %q, %q", len(lines), lines[1], lines[50])
	}
	camps, _ := newContract(nil).Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: []byte(blockDocument(body) + blockDocument("type: text.file\n"))}, ofFiles(nil))
	c, _ := campaign.As[*Campaign](camps[0])
	for i, want := range []string{"MANY", "a.spec.md:61", ""} {
		if got := c.CaseName(nil, campaign.Case{Index: int64(i)}); got != want {
			t.Errorf("case %d is %q, want %q", i, got, want)
		}
	}
}

// How a text differs is found in all of it, and so is the number of its lines, though only its
// beginning is kept.
func TestLongTexts(t *testing.T) {
	t.Chdir(t.TempDir())
	row := "the ta" + strings.Repeat("x", 60) + "\n"
	text := strings.Repeat(row, 1500)
	write(t, "long.txt", []byte(text+"the tail\nsecret\n"))
	body := "id: LONG\ntype: text.file\npath: long.txt\nassert:\n- target: text\n  must:\n"
	checks := []string{
		fmt.Sprintf("evaluate: [[eq, [subject], %q]]", text+"the tale\nsecret\n"), "contain: [the tali]", "contain: [\"the tail\\nsecret\\nmore\"]",
		fmt.Sprintf("evaluate: [[eq, [subject], %q]]", strings.Repeat("other\n", 60)),
	}
	want := []string{`differs:  in line 1501: expected "the tale\n", actual "the tail\n"`, "actual:   1502 lines\nnearest:  line 1501: \"the tail\"", "nearest:  ends at line 1502, without \"more\"", "differs:  in line 1: expected \"other\\n\""}
	for i, check := range checks {
		doc := blockDocument(body + "  - " + check + "\n  - contain: [beside it]\n  - contain: [the tall]\n- {target: text, cannot: [{contain: [secret]}]}\n")
		_, outcomes := play(t, newContract(nil), doc, nil)
		camps, _ := newContract(nil).Compile(t.Context(), campaign.Spec{Path: "a.spec.md", Data: []byte(doc)}, ofFiles(nil))
		c, _ := campaign.As[*Campaign](camps[0])
		said := make(map[string]string)
		for _, d := range c.Describe(nil, campaign.Case{}, outcomes[0], nil) {
			if said[d.Title] = "?"; d.Text != nil {
				said[d.Title] = d.Text.Body
			}
			if d.Title == "Actual text" && d.Text.Marks != nil {
				t.Errorf("%s: a line of the beginning is marked", check[:20])
			}
		}
		beside := said["More checks that failed"]
		if got := said["Failure"]; !strings.Contains(got, want[i]) || strings.Contains(got, "composition") {
			t.Errorf("%s:\n%s", check[:20], got)
		}
		if !strings.Contains(beside, "nearest:  line 1501: \"the tail\"") || !strings.Contains(beside, "found:    line 1502: \"secret\"") {
			t.Errorf("beside %s:\n%s", check[:20], beside)
		}
		if len(said) != 4 { // the actual text, the block, and no comparison of beginnings
			t.Errorf("%s: %d exhibits", check[:20], len(said))
		}
	}
}

// Files of a folder come by format, and by name.
func TestOrderOfFiles(t *testing.T) {
	d := Discovery{Pattern: DefaultPattern, Formats: []string{"yaml", "md"}}
	got := d.Order("in", strings.Fields("in/b.spec.md in/b.spec.yml in/a.spec.yml in/c.spec.yaml in/a.spec.md in/a.spec.yaml in/x.md in/deep/a.spec.md"))
	if text := strings.Join(got, " "); text != "in/a.spec.yaml in/c.spec.yaml in/a.spec.yml in/b.spec.yml in/a.spec.md in/b.spec.md" {
		t.Error(text)
	}
}
