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
		{"attributes", "```{.yaml .spec-test}\nid: A\n```\n", "near:id: A\n"},
		{"joined words", "```yaml,spec-test\nid: A\n```\n", "near:id: A\n"},
		{"example in a longer fence", "````\n```yaml spec-test\nid: A\n```\n````\n", ""},
		{"example in a tilde fence", "~~~md\n```yaml spec-test\nid: A\n```\n~~~\n", ""},
		{"quoted", "> ```yaml spec-test\n> id: A\n> ```\n", "quoted:> id: A\n"},
		{"comment", "<!--\n```yaml spec-test\nid: A\n\ntype: x\n```\n-->\n", "id: A\n\ntype: x\n"},
		{"details without a blank line", "<details>\n```yaml spec-test\nid: A\n\ntype: x\n```\n</details>\n", "id: A\n\ntype: x\n"},
		{"list item", "- item\n\n  ```yaml spec-test\n  id: A\n  type: x\n  ```\n", "  id: A\n  type: x\n"},
		{"first thing of an item", "- ```yaml spec-test\n  id: A\n  ```\n", "  id: A\n"},
		{"deep indent", "text\n\n        ```yaml spec-test\n        id: A\n        ```\n", "        id: A\n"},
		{"far behind a paragraph", "text\n        ```yaml spec-test\n        id: A\n\n        type: x\n        ```\n", "        id: A\n\n        type: x\n"},
		{"unclosed", "```yaml spec-test\nid: A\n", "unclosed:id: A\n"},
		{"empty", "```yaml spec-test\n```\n", ""},
		{"crlf", "```yaml spec-test\r\nid: A\r\n```\r\n", "id: A\r\n"},
		{"two", "```yaml spec-test\na\n```\n```yaml spec-test\nb\n```\n", "a\n|b\n"},
		{"a close that stands deeper", "```yaml spec-test\nx: |\n  a\n    ```\n```\n", "x: |\n  a\n    ```\n"},
		{"a fence that is closed nowhere is text", "~~~\n```yaml spec-test\na\n```\n", "a\n"},
		{"behind a closed fence", "~~~\nx\n~~~\n```yaml spec-test\na\n```\n", "a\n"},
		{"a quotation ends the block", "> ```yaml spec-test\n> a\n\n```yaml spec-test\nb\n```\n", "quoted:> a\n|b\n"},
		{"an item with a number", "1. ```yaml spec-test\n   a\n   ```\n", "   a\n"},
		{"inline", "``` yaml spec-test ```\nid: A\n", ""},
	} {
		var got []string
		for _, b := range blocks([]byte(c.doc), func() {}) {
			body := c.doc[b.start:b.end]
			if b.quoted {
				body = "quoted:" + body
			}
			if b.resemblesSpecTest() {
				body = "near:" + body
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

// What is built to make a parser slow takes no longer than other text.
func TestHostileMarkdown(t *testing.T) {
	lists := ""
	for i := range 700 {
		lists += strings.Repeat("  ", i) + "- a\n"
	}
	for name, rest := range map[string]string{
		"fences that are closed nowhere":      strings.Repeat("    ```x\n", 25_000),
		"fences in HTML":                      "<div>\n" + strings.Repeat("~~~x\n", 25_000),
		"fences in a paragraph":               "x\n" + strings.Repeat("     ```x\n", 25_000),
		"fences that are closed nowhere, too": "<div>\n" + strings.Repeat("````x\n~~~\n\n", 12_000),
		"nested lists":                        lists,
	} {
		if got := blocks([]byte("```yaml spec-test\nid: A\n```\n\n"+rest), func() {}); len(got) != 1 {
			t.Errorf("%s: %d blocks", name, len(got))
		}
	}
}

func FuzzBlocks(f *testing.F) {
	f.Add([]byte("- x\n  ```yaml spec-test\n  a\n```\n<!--\n~~~ yml spec-test\n"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		end := 0
		for _, b := range blocks(doc, func() {}) {
			if b.open < end || b.start < b.open || b.end < b.start || b.end > len(doc) {
				t.Fatalf("%+v after %d of %d", b, end, len(doc))
			}
			end = b.end
		}
	})
}
