package operator

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/jsontree"
)

// record reads the fields of the next record.
func (s *SeedReader) record() (map[string]any, error) {
	if err := s.refused; err != nil {
		s.refused, s.ended = nil, true
		return nil, err
	}
	if s.ended {
		return nil, io.EOF
	}
	if s.format == CSV {
		return s.row()
	}
	for {
		text, err := s.next()
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		if s.text = text; s.format == Lines {
			return map[string]any{"id": fmt.Sprintf("line-%d", s.line), "text": string(bytes.TrimRight(text, "\r\n"))}, nil
		}
		var fields map[string]any
		if err := unmarshalPython(text, &fields); err != nil || fields == nil {
			return nil, s.noObject()
		}
		if countKeys(text) > len(fields) {
			s.doubtRepeats()
		}
		// The decoder replaces invalid UTF-8, such as half a surrogate pair.
		s.altered = hasReplacement(fields) && !bytes.Contains(text, []byte("\ufffd")) && !bytes.Contains(bytes.ToLower(text), []byte(`\ufffd`))
		return fields, nil
	}
}

// noObject explains why the current line is not one JSON object, and where.
func (s *SeedReader) noObject() error {
	const code, what = "seed-syntax", "is not one JSON object on a line: "
	doc, err := jsontree.Parse(s.text, jsontree.Options{LoneSurrogates: true, NonFinite: true})
	var bad *jsontree.Error
	switch {
	case errors.As(err, &bad):
		return diag.List{{Code: "operator." + code, Pos: diag.Pos{File: s.path, Line: s.line, Col: bad.Position.Col}, Message: what + bad.Message()}}
	case err != nil:
		return s.fault(code, "", what+"%v", err)
	}
	return s.fault(code, "", what+"it is %s", doc.Root.Kind)
}

// unmarshalPython parses JSON as Python writes it: NaN, which Python writes for missing values,
// counts as null, and Infinity as a string, which no field here accepts.
func unmarshalPython(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(constantsOut(text)))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("expected one value")
	}
	return nil
}

// constantsOut replaces constants that JSON does not have.
func constantsOut(text []byte) []byte {
	if !bytes.Contains(text, []byte("NaN")) && !bytes.Contains(text, []byte("Infinity")) {
		return text
	}
	var out []byte
	for i := 0; i < len(text); {
		rest := text[i:]
		switch {
		case rest[0] == '"':
			end := min(stringEnd(text, i)+1, len(text))
			out, i = append(out, text[i:end]...), end
		case bytes.HasPrefix(rest, []byte("NaN")):
			out, i = append(out, "null"...), i+len("NaN")
		case bytes.HasPrefix(rest, []byte("-Infinity")):
			out, i = append(out, `"-Infinity"`...), i+len("-Infinity")
		case bytes.HasPrefix(rest, []byte("Infinity")):
			out, i = append(out, `"Infinity"`...), i+len("Infinity")
		default:
			out, i = append(out, rest[0]), i+1
		}
	}
	return out
}

// countKeys counts the keys of a JSON object, including repeated ones.
func countKeys(text []byte) int {
	n, depth := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i)
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ':':
			if depth == 1 {
				n++
			}
		}
	}
	return n
}

// stringEnd is the end of the string that begins at i.
func stringEnd(text []byte, i int) int {
	for i++; ; i++ {
		k := bytes.IndexByte(text[i:], '"')
		if k < 0 {
			return len(text)
		}
		i += k
		escapes := 0
		for text[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
}

// doubtRepeats warns about fields that the current record has twice.
func (s *SeedReader) doubtRepeats() {
	doc, err := jsontree.Parse(s.text, jsontree.Python())
	if err != nil { // the other decoder has already read it
		return
	}
	for _, key := range doc.Repeated {
		s.doubt("seed-repeat", key, "is given twice: the last one counts")
	}
}

// column is the column of a field of the current record, or 1.
func (s *SeedReader) column(path string) int {
	key, rest, nested := strings.Cut(path, ".")
	switch s.format {
	case CSV:
		if i := slices.Index(s.header, key); i >= 0 && i < s.width {
			_, col := s.table.FieldPos(i)
			return col
		}
	case JSONL:
		if path == "" {
			return 1
		}
		doc, err := jsontree.Parse(s.text, jsontree.Python())
		if err != nil {
			return 1
		}
		n := doc.Root.Get(key)
		if inner := n; nested && inner != nil {
			if inner = inner.Get(rest); inner != nil {
				n = inner
			}
		}
		if n != nil {
			return doc.Position(n.Offset).Col
		}
	}
	return 1
}

// hasReplacement reports whether the text of a record contains U+FFFD.
func hasReplacement(fields map[string]any) bool {
	_, v := lookup(fields, textFields)
	text, _ := v.(string)
	return strings.ContainsRune(text, utf8.RuneError)
}

// next reads a line.
func (s *SeedReader) next() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := s.lines.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = line[:0] // skip the rest of the line
		} else {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		switch {
		case err == nil || errors.Is(err, io.EOF) && (len(line) > 0 || long):
			s.line++
			if s.line == 1 {
				line = bytes.TrimPrefix(line, []byte(mark))
			}
			if long {
				return nil, s.fault("seed-size", "", "is a line of more than %d MiB", maxLine>>20)
			}
			return line, nil
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		}
		return nil, fmt.Errorf("reading seeds from %s: %w", s.path, err)
	}
}

// row reads a row of CSV.
func (s *SeedReader) row() (map[string]any, error) {
	for {
		row, err := s.table.Read()
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		s.width = len(row)
		if bad, ok := errors.AsType[*csv.ParseError](err); ok {
			return nil, diag.List{{
				Code: "operator.seed-syntax", Pos: diag.Pos{File: s.path, Line: bad.Line, Col: max(bad.Column, 1)},
				Message: fmt.Sprintf("is not CSV: %v, in the record that begins in line %d", bad.Err, bad.StartLine), Hint: s.separator,
			}}
		}
		if err != nil {
			return nil, fmt.Errorf("reading seeds from %s: %w", s.path, err)
		}
		s.line, _ = s.table.FieldPos(0)
		if s.header == nil {
			if err := s.columns(row); err != nil {
				s.ended = true // without columns there are no records
				return nil, err
			}
			continue
		}
		if len(row) > len(s.header) {
			return nil, s.fault("seed-syntax", "", "has %s: the first row names %s", diag.Plural(len(row), "field"), diag.Plural(len(s.header), "column"))
		}
		fields := make(map[string]any, len(row))
		for i, v := range row {
			if v != "" {
				fields[s.header[i]] = v
			}
		}
		return fields, nil
	}
}

// columns reads the column names.
func (s *SeedReader) columns(row []string) error {
	s.header = slices.Clone(row)
	s.header[0] = strings.TrimPrefix(s.header[0], mark)
	var twice diag.List
	for i := range s.header {
		s.header[i] = strings.ToLower(strings.TrimSpace(s.header[i]))
		if s.header[i] != "" && slices.Contains(s.header[:i], s.header[i]) {
			line, col := s.table.FieldPos(i)
			twice = append(twice, diag.Diagnostic{Code: "operator.seed-header", Pos: diag.Pos{File: s.path, Line: line, Col: col}, Message: fmt.Sprintf("the column %q is given twice", s.header[i])})
		}
	}
	if len(twice) > 0 {
		return twice
	}
	if !slices.ContainsFunc(textFields, func(f string) bool { return slices.Contains(s.header, f) }) {
		list := s.fault("seed-header", "", "the first row names no column for the text: expected one of %s", strings.Join(textFields, ", "))
		list[0].Hint = s.separator
		return list
	}
	return nil
}

// separatorHint is the hint for a table whose beginning shows that something other than commas
// separates its columns, or "".
func separatorHint(head []byte) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(string(head), mark), "\n")
	for _, by := range [][2]string{{";", "semicolons"}, {"\t", "tabs"}} {
		columns := strings.Split(first, by[0])
		if len(columns) > 1 && slices.ContainsFunc(columns, func(c string) bool { return slices.Contains(textFields, strings.ToLower(strings.Trim(c, "\" \r"))) }) {
			return "separate the columns by commas, not by " + by[1]
		}
	}
	return ""
}
