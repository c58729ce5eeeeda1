package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/doctree"
)

// column matches a place in a text where a row's value is inserted.
var column = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_ .-]*)\}`)

// dataset reads a golden prompt that stands for one prompt per row of a file: its texts contain
// names of columns in braces.
func (d *decoder) dataset(n *doctree.Node, path string, add func(n *doctree.Node, path string)) {
	name := n.Get("dataset")
	file, ok := d.str(name, path+".dataset")
	if !ok {
		return
	}
	sample := 0
	if k := n.Get("sample"); !k.IsNull() {
		sample = d.integer(k, path+".sample", 0, 1, 1_000_000)
	}
	if d.opt.Read == nil { // nothing will be run
		add(withoutDataset(n), path)
		return
	}
	data, err := d.opt.Read(file)
	if err != nil {
		d.fail(name.Pos, "dataset", path+".dataset", "cannot be read: %v", err)
		return
	}
	rows, columns, err := rowsOf(file, data)
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("it has no rows")
	}
	if err != nil {
		d.fail(name.Pos, "dataset", path+".dataset", "%s: %v", file, err)
		return
	}
	bare := withoutDataset(n)
	if !d.columns(bare, path, file, columns) {
		return
	}
	for _, i := range chosen(len(rows), sample, d.seed) {
		row := filled(bare, rows[i])
		add(&row, fmt.Sprintf("%s, row %d", path, i+1))
	}
}

// withoutDataset returns a golden prompt without the keys of its dataset. If it has no text of its
// own, its text is the column prompt.
func withoutDataset(n *doctree.Node) *doctree.Node {
	bare := *n
	bare = bare.WithMembers(slices.DeleteFunc(slices.Clone(n.Members()), func(m doctree.Member) bool { return m.Key.Text == "dataset" || m.Key.Text == "sample" }))
	if n.Get("prompt") == nil && n.Get("turns") == nil {
		at := n.Get("dataset").Pos
		bare = bare.WithMembers(append(bare.Members(), doctree.Member{Key: doctree.Node{Kind: doctree.String, Text: "prompt", Pos: at}, Value: doctree.Node{Kind: doctree.String, Text: "{prompt}", Pos: at}}))
	}
	return &bare
}

// columns checks that all columns that the texts name exist. What is expected may have braces of its
// own.
func (d *decoder) columns(n *doctree.Node, path, file string, columns []string) bool {
	fine := true
	for _, key := range []string{"prompt", "turns", "id", "expect", "user"} {
		level, stays := diag.Error, ""
		if key != "prompt" && key != "turns" {
			level, stays = diag.Warning, "; the text stays as it is"
		}
		eachText(n.Get(key), func(x *doctree.Node) {
			for _, m := range column.FindAllStringSubmatch(x.Text, -1) {
				if !slices.Contains(columns, m[1]) {
					d.report(level, x.Pos, "dataset", path+"."+key, diag.DidYouMean(m[1], columns), "%s has no column %q; it has %s%s", file, m[1], strings.Join(columns, ", "), stays)
					fine = fine && level != diag.Error
				}
			}
		})
	}
	return fine
}

// eachText calls f for every string in a tree.
func eachText(n *doctree.Node, f func(*doctree.Node)) {
	if n == nil {
		return
	}
	if n.Kind == doctree.String {
		f(n)
	}
	for i := range n.Items() {
		eachText(&n.Items()[i], f)
	}
	for i := range n.Members() {
		eachText(&n.Members()[i].Value, f)
	}
}

// filled returns a tree in which the names of columns are replaced by a row's values.
func filled(n *doctree.Node, row map[string]string) doctree.Node {
	out := *n
	if n.Kind == doctree.String {
		text := column.ReplaceAllStringFunc(n.Text, func(s string) string {
			if v, ok := row[s[1:len(s)-1]]; ok {
				return v
			}
			return s
		})
		out = out.As(text, text)
	}
	if n.Kind == doctree.Seq {
		items := slices.Clone(n.Items())
		for i := range items {
			items[i] = filled(&items[i], row)
		}
		return out.WithItems(items)
	}
	if members := slices.Clone(n.Members()); members != nil {
		for i := range members {
			members[i].Value = filled(&members[i].Value, row)
		}
		return out.WithMembers(members)
	}
	return out
}

// chosen returns most of the numbers below n in ascending order, or all of them if most is 0. The
// same seed gives the same numbers, and mostly the same ones if n grows.
func chosen(n, most int, seed int64) []int {
	list := make([]int, n)
	keys := make(map[int]uint64, n)
	for i := range list {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d row %d", seed, i))
		list[i], keys[i] = i, binary.BigEndian.Uint64(sum[:])
	}
	if most == 0 || most >= n {
		return list
	}
	slices.SortFunc(list, func(a, b int) int {
		if keys[a] < keys[b] {
			return -1
		}
		return 1
	})
	list = list[:most]
	slices.Sort(list)
	return list
}

// rowsOf reads a file of JSON lines, or a CSV file with a header row.
func rowsOf(file string, data []byte) (rows []map[string]string, columns []string, err error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	switch strings.ToLower(filepath.Ext(file)) {
	case ".jsonl", ".ndjson":
		return linesOf(data)
	case ".csv", ".tsv":
	default:
		return nil, nil, fmt.Errorf("must be .jsonl or .csv")
	}
	r := csv.NewReader(bytes.NewReader(data))
	if strings.HasSuffix(strings.ToLower(file), ".tsv") {
		r.Comma = '\t'
	}
	for {
		record, err := r.Read()
		switch {
		case err == io.EOF:
			return rows, columns, nil
		case err != nil:
			return nil, nil, err // the error names line and column
		case columns == nil:
			for _, by := range [...][2]string{{";", "semicolons"}, {"\t", "tabs"}} {
				if len(record) == 1 && r.Comma == ',' && strings.Contains(record[0], by[0]) {
					return nil, nil, fmt.Errorf("its columns are separated by %s: separate them by commas, or by tabs in a .tsv file", by[1])
				}
			}
			columns = record
			continue
		}
		row := make(map[string]string, len(record))
		for i, v := range record {
			row[columns[i]] = v
		}
		rows = append(rows, row)
	}
}

func linesOf(data []byte) (rows []map[string]string, columns []string, err error) {
	known := make(map[string]bool)
	number := 0
	for line := range bytes.Lines(data) {
		if number++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var values map[string]json.RawMessage
		if err := json.Unmarshal(line, &values); err != nil || values == nil {
			return nil, nil, fmt.Errorf("line %d is not a JSON object", number)
		}
		row := make(map[string]string, len(values))
		for key, raw := range values {
			known[key] = true
			var text string
			if json.Unmarshal(raw, &text) != nil {
				text = string(raw)
			}
			row[key] = text
		}
		rows = append(rows, row)
	}
	return rows, slices.Sorted(maps.Keys(known)), nil
}
