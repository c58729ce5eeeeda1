package spectest

import (
	"bytes"
	"strings"

	"github.com/thresh-dev/thresh/contract/spectest/layout"
	"github.com/thresh-dev/thresh/diag"
)

// Format returns a document in its authoring form: the opening fence of a block
// says yaml spec-test, then what else it said, and the block is laid out as
// package layout does. All else of the document stays as it is, and so does a
// block that cannot be read, which is reported. A data file in YAML is laid out as a
// whole; one in JSON has no form of its own.
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
	mark := len(data) - len(d.text) // a byte order mark
	var out bytes.Buffer
	at := 0
	copyTo := func(end int) { // offsets are those of the text without the mark
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
		_, _, info, _ := fenceOf(l[max(bytes.IndexAny(l, "`~"), 0):]) // behind the mark of a list item, perhaps
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

// unread is why a block cannot be laid out, if so.
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

// canonicalInfo is an info string in its authoring form.
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
