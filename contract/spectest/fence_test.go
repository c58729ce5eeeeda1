package spectest

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestBlocks(t *testing.T) {
	for _, c := range []struct{ name, doc, want string }{
		{"plain", "a\n```yaml spec-test\nid: A\n```\nb\n", "id: A\n"},
		{"order and case of words", "~~~ SPEC-TEST x YML\nid: A\n~~~\n", "id: A\n"},
		{"longer close", "```yaml spec-test\nid: A\n``````\n", "id: A\n"},
		{"shorter close", "````yaml spec-test\na\n```\nb\n````\n", "a\n```\nb\n"},
		{"other character", "```yaml spec-test\na\n~~~\n```\n", "a\n~~~\n"},
		{"attributes", "```{.yaml .spec-test}\nid: A\n```\n", ""},
		{"joined words", "```yaml,spec-test\nid: A\n```\n", ""},
		{"example in a longer fence", "````\n```yaml spec-test\nid: A\n```\n````\n", ""},
		{"example in a tilde fence", "~~~md\n```yaml spec-test\nid: A\n```\n~~~\n", ""},
		{"quoted", "> ```yaml spec-test\n> id: A\n> ```\n", "quoted:> id: A\n"},
		{"comment", "<!--\n```yaml spec-test\nid: A\n\ntype: x\n```\n-->\n", "id: A\n\ntype: x\n"},
		{"details without a blank line", "<details>\n```yaml spec-test\nid: A\n\ntype: x\n```\n</details>\n", "id: A\n\ntype: x\n"},
		{"list item", "- item\n\n  ```yaml spec-test\n  id: A\n  type: x\n  ```\n", "  id: A\n  type: x\n"},
		{"deep indent", "text\n\n        ```yaml spec-test\n        id: A\n        ```\n", "        id: A\n"},
		{"unclosed", "```yaml spec-test\nid: A\n", "unclosed:id: A\n"},
		{"empty", "```yaml spec-test\n```\n", ""},
		{"crlf", "```yaml spec-test\r\nid: A\r\n```\r\n", "id: A\r\n"},
		{"two", "```yaml spec-test\na\n```\n```yaml spec-test\nb\n```\n", "a\n|b\n"},
		{"inline", "``` yaml spec-test ```\nid: A\n", ""},
	} {
		var got []string
		for _, b := range blocks([]byte(c.doc)) {
			body := c.doc[b.start:b.end]
			if b.quoted {
				body = "quoted:" + body
			}
			if !b.closed {
				body = "unclosed:" + body
			}
			got = append(got, body)
		}
		if s := strings.Join(got, "|"); s != c.want {
			t.Errorf("%s: %q, want %q", c.name, s, c.want)
		}
	}
}

// A long document has the blocks that it has when it is parsed as a whole.
func TestPortions(t *testing.T) {
	pieces := []string{
		"# h\n", "text\n", "\n", "\n\n", "- item\n", "  more of it\n", "> quoted\n", "<div>\nx\n</div>\n\n", "<!-- one line -->\n", "a < b\n", "    code\n",
		"<!--\nfar\n\n```yaml spec-test\nid: C\n```\n\n-->\n", "```yaml spec-test\nid: A\n\n# c\n\nx\n```\n", "~~~\n```yaml spec-test\n~~~\n", "  ```yaml spec-test\n  id: B\n  ```\n",
	}
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		for b.Len() < 3*portionSize {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		doc := []byte(b.String())
		n := portion(doc)
		if n == len(doc) {
			t.Errorf("document %d is not parted", seed)
		}
		if got, want := blocks(doc), portionBlocks(doc); !slices.Equal(got, want) {
			t.Errorf("document %d, parted at %d, has %d blocks, want %d", seed, n, len(got), len(want))
		}
	}
}

func FuzzBlocks(f *testing.F) {
	f.Add([]byte("- x\n  ```yaml spec-test\n  a\n```\n<!--\n~~~ yml spec-test\n"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		end := 0
		for _, b := range blocks(doc) {
			if b.open < end || b.start < b.open || b.end < b.start || b.end > len(doc) {
				t.Fatalf("%+v after %d of %d", b, end, len(doc))
			}
			end = b.end
		}
	})
}
