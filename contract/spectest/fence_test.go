package spectest

import (
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
