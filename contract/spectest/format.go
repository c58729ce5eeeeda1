package spectest

import (
	"bytes"
	"strings"

	"github.com/thresh-dev/thresh/contract/spectest/layout"
	"github.com/thresh-dev/thresh/diag"
)

// Format returns a document in its authoring form: the opening fence of a block reads yaml
// spec-test, followed by any other words, and the block is formatted by package layout. The rest of
// the document is unchanged, and so is a block that cannot be parsed, which is reported. A YAML
// data file is formatted as a whole; a JSON data file has no authoring form.
func Format(path string, data []byte) ([]byte, diag.List) {
	var left diag.List
	d := newDocument(path, data)
	switch d.format {
	case "json":
		return data, nil
	case "yaml":
		form := layout.Block(string(data))
		if form == string(data) {
			left = d.unread(0)
		}
		return []byte(form), left
	}
	mark := len(data) - len(d.text) // length of the byte order mark
	var out bytes.Buffer
	at := 0
	copyTo := func(end int) { // offsets do not count the mark
		out.Write(data[at:min(end+mark, len(data))])
		at = end + mark
	}
	for i := range len(d.found) {
		b := d.found.blockAt(i)
		if !b.closed {
			left = append(left, d.unread(i)...)
			continue
		}
		l := line(d.text, b.open)
		_, _, info, _ := fenceOf(l[max(bytes.IndexAny(l, "`~"), 0):]) // the fence may follow the mark of a list item
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
		} else {
			left = append(left, d.unread(i)...)
		}
	}
	out.Write(data[at:])
	return out.Bytes(), left
}

// unread lists the reasons why a block cannot be formatted.
func (d *document) unread(block int) diag.List {
	var list diag.List
	for _, e := range d.block(block) {
		if e.fault != nil {
			list = append(list, *e.fault)
		}
		for _, t := range e.twice {
			list = append(list, d.problem(t.Repeat, "duplicate-key", "", twiceIn(t), ""))
		}
	}
	for i := range list {
		list[i].Level = diag.Warning
		list[i].Message += "; the block is not formatted"
	}
	return list
}

// canonicalInfo is the authoring form of an info string.
func canonicalInfo(info string) string {
	form := []string{"yaml", "spec-test"}
	seen := map[string]bool{}
	for w := range strings.FieldsSeq(info) {
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
