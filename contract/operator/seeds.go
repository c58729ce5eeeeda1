package operator

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
)

// Format is the form of a seed file.
type Format string

// The formats. JSONL takes records of mutation_seed_v1 and normalized_v1, short
// records of id and text, and children of an earlier run. CSV has the same
// fields as columns, by their names in the first row. In Lines every line that
// is not blank is a seed.
const (
	JSONL Format = "jsonl"
	CSV   Format = "csv"
	Lines Format = "lines"
)

// Formats are all formats.
func Formats() []Format { return []Format{JSONL, CSV, Lines} }

// FormatOf guesses the format from a file's name and its first bytes.
func FormatOf(name string, head []byte) Format {
	switch strings.ToLower(path.Ext(name)) {
	case ".csv":
		return CSV
	case ".jsonl", ".ndjson":
		return JSONL
	}
	if bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(head, []byte(mark)), " \t\r\n"), []byte("{")) {
		return JSONL
	}
	return Lines
}

// mark is the byte order mark that some editors put at the beginning.
const mark = "\ufeff"

// maxLine bounds one record.
const maxLine = 16 << 20

// SeedReader reads seeds one at a time, so that a stream of any length takes
// the memory of one record.
type SeedReader struct {
	// Constraints hold for seeds that come without any.
	Constraints textop.Constraints

	path     string
	format   Format
	lines    *bufio.Reader
	table    *csv.Reader
	header   []string
	ended    bool
	line     int
	ordinal  int64
	altered  bool // the present record's text is not what stands in the file
	buckets  []textop.Bucket
	warned   map[string]bool
	warnings diag.List
	blocked  int64 // records with is_mutable false
}

// NewSeedReader reads seeds from r. name is what messages call it; an empty
// format is guessed. Of a record with several bucket tags the first that is in
// prefer counts, or else the first.
func NewSeedReader(r io.Reader, name string, format Format, prefer ...textop.Bucket) *SeedReader {
	s := &SeedReader{path: name, format: format, lines: bufio.NewReaderSize(r, 64<<10), buckets: prefer, warned: make(map[string]bool)}
	if head, _ := s.lines.Peek(512); s.format == "" { // what cannot be read is met again by Next
		s.format = FormatOf(name, head)
	}
	if s.format == CSV {
		s.table = csv.NewReader(s.lines)
		s.table.FieldsPerRecord = -1
		s.table.ReuseRecord = true
	}
	return s
}

// Next returns the next seed, or io.EOF. An error about a record is a
// [diag.List] with its place.
func (s *SeedReader) Next() (*mutator.Seed, error) {
	for {
		record, err := s.record()
		if err != nil {
			return nil, err
		}
		seed, err := s.seed(record)
		if err != nil || seed != nil {
			return seed, err
		}
		s.blocked++
	}
}

// Warnings is what was doubtful so far, each kind of doubt once.
func (s *SeedReader) Warnings() diag.List { return s.warnings }

// Blocked is how many records say that they must not be mutated.
func (s *SeedReader) Blocked() int64 { return s.blocked }

func (s *SeedReader) fault(code, path, format string, args ...any) error {
	return diag.List{{Code: "operator." + code, Pos: diag.Pos{File: s.path, Line: max(s.line, 1), Col: 1}, Path: path, Message: fmt.Sprintf(format, args...)}}
}

// record reads the fields of the next record.
func (s *SeedReader) record() (map[string]any, error) {
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
		if s.format == Lines {
			return map[string]any{"id": fmt.Sprintf("line-%d", s.line), "text": string(bytes.TrimRight(text, "\r\n"))}, nil
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var fields map[string]any
		if err := d.Decode(&fields); err != nil || fields == nil || d.More() {
			return nil, s.fault("seed-syntax", "", "is not one JSON object on a line: %s", shortError(err))
		}
		// The decoder replaces what UTF-8 does not have, such as half a surrogate pair.
		s.altered = hasReplacement(fields) && !bytes.Contains(text, []byte("\ufffd")) && !bytes.Contains(bytes.ToLower(text), []byte(`\ufffd`))
		return fields, nil
	}
}

// hasReplacement reports whether the text of a record holds U+FFFD.
func hasReplacement(fields map[string]any) bool {
	_, v := lookup(fields, textFields)
	text, _ := v.(string)
	return strings.ContainsRune(text, utf8.RuneError)
}

func shortError(err error) string {
	if err == nil {
		return "something else is there"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// next reads a line.
func (s *SeedReader) next() ([]byte, error) {
	var line []byte
	for {
		part, err := s.lines.ReadSlice('\n')
		line = append(line, part...)
		if err == nil || errors.Is(err, io.EOF) && len(line) > 0 {
			s.line++
			if s.line == 1 {
				line = bytes.TrimPrefix(line, []byte(mark))
			}
			return line, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) {
				return nil, io.EOF
			}
			return nil, fmt.Errorf("reading seeds from %s: %w", s.path, err)
		}
		if len(line) > maxLine {
			s.line++
			return nil, s.fault("seed-size", "", "is a line of more than %d MiB", maxLine>>20)
		}
	}
}

// row reads a row of CSV.
func (s *SeedReader) row() (map[string]any, error) {
	for {
		if s.ended { // without columns there are no records
			return nil, io.EOF
		}
		row, err := s.table.Read()
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		var bad *csv.ParseError
		if errors.As(err, &bad) {
			s.line = bad.Line
			return nil, s.fault("seed-syntax", "", "is not CSV: %v", bad.Err)
		}
		if err != nil {
			return nil, fmt.Errorf("reading seeds from %s: %w", s.path, err)
		}
		s.line, _ = s.table.FieldPos(0)
		if s.header == nil {
			s.header = slices.Clone(row)
			s.header[0] = strings.TrimPrefix(s.header[0], mark)
			for i := range s.header {
				s.header[i] = strings.ToLower(strings.TrimSpace(s.header[i]))
			}
			if !slices.ContainsFunc(textFields, func(f string) bool { return slices.Contains(s.header, f) }) {
				s.ended = true
				return nil, s.fault("seed-header", "", "the first row names no column for the text: expected one of %s", strings.Join(textFields, ", "))
			}
			continue
		}
		if len(row) > len(s.header) {
			return nil, s.fault("seed-syntax", "", "has %d fields: the first row names %d columns", len(row), len(s.header))
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

// The fields that a seed's text, id, bucket and surface are looked for in, the
// first that is there counts.
var (
	textFields    = []string{"mutation_target_text", "seed_text", "text", "child_text", "prompt", "input_primary"}
	idFields      = []string{"record_id", "testcase_id", "seed_id", "id"}
	bucketFields  = []string{"bucket_id", "bucket", "bucket_tags"}
	surfaceFields = []string{"attack_surface", "surface"}
)

// seed makes a seed of a record; nil if the record must not be mutated.
func (s *SeedReader) seed(f map[string]any) (*mutator.Seed, error) {
	if v, ok := f["is_mutable"]; ok && (v == false || v == "false" || v == "0") {
		return nil, nil
	}
	seed := &mutator.Seed{Ordinal: s.ordinal}
	textKey, v := lookup(f, textFields)
	text, ok := v.(string)
	switch {
	case v == nil:
		return nil, s.fault("seed-text", "", "has no text: expected a field %s", strings.Join(textFields, ", "))
	case !ok:
		return nil, s.fault("seed-text", textKey, "must be a string")
	case strings.TrimSpace(text) == "":
		return nil, s.fault("seed-text", textKey, "is blank: there is nothing to mutate")
	}
	key, v := lookup(f, idFields)
	switch id := v.(type) {
	case nil:
		seed.ID = fmt.Sprintf("line-%d", s.line)
	case string:
		seed.ID = id
	case json.Number:
		seed.ID = id.String()
	default:
		return nil, s.fault("seed-id", key, "must be a string")
	}
	if seed.ID == "" {
		return nil, s.fault("seed-id", key, "is empty")
	}
	if err := s.route(seed, f); err != nil {
		return nil, err
	}
	if err := s.limits(seed, f); err != nil {
		return nil, err
	}
	limits := &s.Constraints
	if seed.Constraints != nil {
		limits = seed.Constraints
	}
	if s.altered || !utf8.ValidString(text) {
		s.doubt("seed-utf8", textKey, "holds what UTF-8 does not have; it is taken as U+FFFD")
	}
	seed.Text = textop.Normalize(text, *limits)
	s.ordinal++
	return seed, nil
}

// route reads bucket and surface.
func (s *SeedReader) route(seed *mutator.Seed, f map[string]any) error {
	key, v := lookup(f, bucketFields)
	var tags []string
	switch v := v.(type) {
	case nil:
	case string:
		if tags = []string{v}; s.format == CSV {
			tags = strings.FieldsFunc(v, func(r rune) bool { return r == ';' || r == '|' })
		}
	case []any:
		for _, e := range v {
			tag, ok := e.(string)
			if !ok {
				return s.fault("seed-bucket", key, "must be a list of strings")
			}
			tags = append(tags, tag)
		}
	default:
		return s.fault("seed-bucket", key, "must be a string or a list of strings")
	}
	for i, tag := range tags {
		if strings.TrimSpace(tag) == "" {
			continue
		}
		b, found := textop.ParseBucket(tag)
		if err := s.found(key, found); err != nil {
			return err
		}
		if i == 0 || slices.Contains(s.buckets, b) && !slices.Contains(s.buckets, seed.Bucket) {
			seed.Bucket, seed.BucketTag = b, tag
		}
	}
	key, v = lookup(f, surfaceFields)
	tag, ok := v.(string)
	if v == nil || ok && strings.TrimSpace(tag) == "" {
		seed.Surface = textop.PromptText // as the engine has it that users know
		return nil
	}
	if !ok {
		return s.fault("seed-surface", key, "must be a string")
	}
	surface, found := textop.ParseSurface(tag)
	seed.Surface, seed.SurfaceTag = surface, tag
	return s.found(key, found)
}

// limits reads what a seed sets in place of the configuration.
func (s *SeedReader) limits(seed *mutator.Seed, f map[string]any) error {
	raw := make(map[string]any)
	for _, key := range []string{"strength", "constraints"} {
		if v := f[key]; v != nil {
			if text, ok := v.(string); ok && s.format == CSV {
				if err := json.Unmarshal([]byte(text), &v); err != nil {
					return s.fault("seed-"+key, key, "is not JSON: %s", shortError(err))
				}
			}
			raw[key] = v
		}
	}
	if len(raw) == 0 {
		return nil
	}
	var found diag.List
	c := textop.NewContext(raw, &found)
	if err := s.found("", found); err != nil {
		return err
	}
	if raw["strength"] != nil {
		seed.Strength = textop.Range{Min: c.Strength, Max: c.Strength}
	}
	if raw["constraints"] != nil {
		seed.Constraints = &c.Constraints
	}
	return nil
}

// Doubt is a warning about the record that was read last.
func (s *SeedReader) Doubt(code, message string) diag.Diagnostic {
	return diag.Diagnostic{Code: "operator." + code, Level: diag.Warning, Pos: diag.Pos{File: s.path, Line: max(s.line, 1), Col: 1}, Message: message}
}

// doubt warns of a kind of thing once.
func (s *SeedReader) doubt(code, path, message string) {
	_ = s.found(path, diag.List{{Code: "operator." + code, Level: diag.Warning, Message: message}}) // no error
}

// found takes diagnostics about a value: errors are returned, and warnings kept
// once for each message.
func (s *SeedReader) found(path string, list diag.List) error {
	var errs diag.List
	for _, d := range list {
		d.Pos = diag.Pos{File: s.path, Line: s.line, Col: 1}
		if d.Path == "" {
			d.Path = path
		}
		if d.Level == diag.Error {
			errs = append(errs, d)
			continue
		}
		if !s.warned[d.Message] && len(s.warnings) < 100 {
			s.warned[d.Message] = true
			s.warnings = append(s.warnings, d)
		}
	}
	return errs.Err()
}

// lookup finds the first of the fields that is there and not null.
func lookup(f map[string]any, names []string) (key string, v any) {
	for _, n := range names {
		if v := f[n]; v != nil {
			return n, v
		}
	}
	return names[0], nil
}
