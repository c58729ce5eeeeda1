package spectest

import "github.com/thresh-dev/thresh/engine/jsontree"

// Report is a conformance report in the format that the suite's tools read:
// results in the order in which they were run, keys sorted, ASCII alone.
func Report(results []Result) []byte {
	list := jsontree.Node{Kind: jsontree.Array}
	text := func(s string) jsontree.Node { return jsontree.Node{Kind: jsontree.String, Text: s} }
	for _, r := range results {
		n := jsontree.Node{Kind: jsontree.Object}
		n.Set("id", text(r.ID))
		n.Set("status", text(r.Status))
		n.Set("category", jsontree.Node{})
		n.Set("message", jsontree.Node{})
		if r.Status == "fail" {
			n.Set("category", text(r.Category))
			n.Set("message", text(r.Message))
		}
		list.Items = append(list.Items, n)
	}
	root := jsontree.Node{Kind: jsontree.Object}
	root.Set("version", jsontree.Node{Kind: jsontree.Int, Text: "1"})
	root.Set("results", list)
	return append(jsontree.Style{Indent: 2, ASCII: true}.Append(nil, &root), '\n')
}
