package spectest

import (
	"bytes"
	"strings"

	"github.com/thresh-dev/thresh/contract/spectest/layout"
)

// Format returns a document in its authoring form: the opening fence of a block
// says yaml spec-test, then what else it said, and the block is laid out as
// package layout does. All else of the document stays as it is. A data file in
// YAML is laid out as a whole; one in JSON has no form of its own.
func Format(path string, data []byte) []byte {
	switch formatOf(path) {
	case "json":
		return data
	case "yaml":
		return []byte(layout.Block(string(data)))
	}
	d := newDocument(path, data)
	mark := len(data) - len(d.text) // a byte order mark
	var out bytes.Buffer
	at := 0
	copyTo := func(end int) { // offsets are those of the text without the mark
		out.Write(data[at:min(end+mark, len(data))])
		at = end + mark
	}
	for _, b := range d.found {
		if !b.closed {
			continue
		}
		l := line(d.text, b.open)
		_, _, info, _ := fenceOf(l)
		if form := canonicalInfo(info); form != info {
			copyTo(b.open + len(l) - len(info))
			out.WriteString(form)
			at += len(info)
		}
		body := string(data[b.start+mark : b.end+mark])
		if form := layout.Block(body); form != body {
			copyTo(b.start)
			out.WriteString(form)
			at = b.end + mark
		}
	}
	out.Write(data[at:])
	return out.Bytes()
}

// canonicalInfo is an info string in its authoring form.
func canonicalInfo(info string) string {
	form := []string{"yaml", "spec-test"}
	seen := map[string]bool{}
	for _, w := range strings.Fields(info) {
		kind := strings.ToLower(w)
		if kind == "yml" {
			kind = "yaml"
		}
		if (kind == "yaml" || kind == "spec-test") && !seen[kind] {
			seen[kind] = true
			continue
		}
		form = append(form, w)
	}
	return strings.Join(form, " ")
}
