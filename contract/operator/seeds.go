package operator

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/textop"
)

// Format is the format of a seed file.
type Format string

// The formats. JSONL accepts records of mutation_seed_v1 and normalized_v1, short records of id and
// text, and children of an earlier run. CSV has the same fields as columns, named in the first row.
// In Lines every non-blank line is a seed.
const (
	JSONL Format = "jsonl"
	CSV   Format = "csv"
	Lines Format = "lines"
)

// FormatOf guesses the format from a file's name and its first bytes.
func FormatOf(name string, head []byte) Format {
	switch strings.ToLower(path.Ext(name)) {
	case ".csv":
		return CSV
	case ".jsonl", ".ndjson", ".json":
		return JSONL
	}
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte(mark)), " \t\r\n")
	if rest, ok := bytes.CutPrefix(head, []byte("[")); ok { // refused there: not one object on a line
		head = bytes.TrimLeft(rest, " \t\r\n")
	}
	if bytes.HasPrefix(head, []byte("{")) {
		return JSONL
	}
	return Lines
}

// mark is the byte order mark that some editors write.
const mark = "\ufeff"

// maxLine limits the size of one record.
const maxLine = 16 << 20

// SeedReader reads seeds one at a time, so that a stream of any length takes the memory of one
// record.
type SeedReader struct {
	// Constraints apply to seeds without their own.
	Constraints textop.Constraints

	path      string
	format    Format
	lines     *bufio.Reader
	table     *csv.Reader
	header    []string
	ended     bool
	separator string // hint about the separator of a table's columns, or ""
	refused   error  // why the whole file is rejected; returned by the first Next
	line      int
	text      []byte // of the current record, unless it is CSV
	width     int    // number of fields of the current record, if it is CSV
	ordinal   int64
	altered   bool // the current record's text differs from the file
	buckets   []textop.Bucket
	warned    map[string]bool
	warnings  diag.List
	blocked   int64 // records with is_mutable false
}

// NewSeedReader reads seeds from r. name is its name in messages; an empty format is guessed. Of
// several bucket tags in a record the first one in prefer counts, or else the first.
func NewSeedReader(r io.Reader, name string, format Format, prefer ...textop.Bucket) *SeedReader {
	s := &SeedReader{path: name, format: format, lines: bufio.NewReaderSize(r, 64<<10), buckets: prefer, warned: make(map[string]bool)}
	head, _ := s.lines.Peek(512) // Next repeats a read error
	if s.format == "" {
		s.format = FormatOf(name, head)
	}
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		s.refused = s.fault("seed-encoding", "", "is UTF-16: expected UTF-8")
	} else if ext := strings.ToLower(path.Ext(name)); format == "" && (ext == ".yaml" || ext == ".yml") {
		s.refused = s.fault("seed-syntax", "", "is YAML: expected lines of JSON, CSV, or lines of text") // not every line of it is a prompt
	}
	if s.format == CSV {
		s.table = csv.NewReader(s.lines)
		s.table.FieldsPerRecord = -1
		s.table.ReuseRecord = true
		s.separator = separatorHint(head)
	}
	return s
}

// Next returns the next seed, or io.EOF. An error about a record is a [diag.List] with its place.
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

// Warnings returns the warnings so far, each kind once.
func (s *SeedReader) Warnings() diag.List { return s.warnings }

// Blocked returns the number of records marked as not mutable.
func (s *SeedReader) Blocked() int64 { return s.blocked }

func (s *SeedReader) fault(code, path, format string, args ...any) diag.List {
	return diag.List{{Code: "operator." + code, Pos: diag.Pos{File: s.path, Line: max(s.line, 1), Col: s.column(path)}, Path: path, Message: fmt.Sprintf(format, args...)}}
}

// The fields to search for a seed's text, id, bucket and surface; the first one present counts.
var (
	textFields    = []string{"mutation_target_text", "seed_text", "text", "child_text", "prompt", "input_primary"}
	idFields      = []string{"record_id", "testcase_id", "seed_id", "id"}
	bucketFields  = []string{"bucket_id", "bucket", "bucket_tags"}
	surfaceFields = []string{"attack_surface", "surface"}
)

// seed makes a seed of a record; nil if the record must not be mutated.
func (s *SeedReader) seed(f map[string]any) (*mutator.Seed, error) {
	if may, err := s.mutable(f["is_mutable"]); err != nil || !may {
		return nil, err
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
		s.doubt("seed-utf8", textKey, "contains bytes that are not UTF-8, or half a surrogate pair; they are read as U+FFFD")
	}
	seed.Text = textop.Normalize(text, *limits)
	s.ordinal++
	return seed, nil
}

// mutable reads whether a record may be mutated, in the spellings of spreadsheet programs.
func (s *SeedReader) mutable(v any) (bool, error) {
	if v == nil {
		return true, nil
	}
	switch strings.ToLower(strings.TrimSpace(fmt.Sprint(v))) {
	case "true", "1", "yes":
		return true, nil
	case "false", "0", "no":
		return false, nil
	}
	return false, s.fault("seed-mutable", "is_mutable", "must be true or false")
}

// route reads bucket and surface.
func (s *SeedReader) route(seed *mutator.Seed, f map[string]any) error {
	key, v := lookup(f, bucketFields)
	var tags []string
	switch v := v.(type) {
	case nil:
	case string:
		if tags = []string{v}; s.format == CSV && json.Unmarshal([]byte(v), &tags) != nil {
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
		if err := s.takeDiagnostics(key, found); err != nil {
			return err
		}
		if i == 1 && len(s.buckets) == 0 {
			s.doubt("seed-buckets", key, "has several buckets: the first one counts")
		}
		if i == 0 || slices.Contains(s.buckets, b) && !slices.Contains(s.buckets, seed.Bucket) {
			seed.Bucket, seed.BucketTag = b, tag
		}
	}
	key, v = lookup(f, surfaceFields)
	tag, ok := v.(string)
	if v == nil || ok && strings.TrimSpace(tag) == "" {
		seed.Surface = textop.PromptText // as in the engine that users know
		return nil
	}
	if !ok {
		return s.fault("seed-surface", key, "must be a string")
	}
	surface, found := textop.ParseSurface(tag)
	seed.Surface, seed.SurfaceTag = surface, tag
	return s.takeDiagnostics(key, found)
}

// limits reads the settings of a seed that override the configuration.
func (s *SeedReader) limits(seed *mutator.Seed, f map[string]any) error {
	raw := make(map[string]any)
	for _, key := range []string{"strength", "constraints"} {
		if v := f[key]; v != nil {
			if text, ok := v.(string); ok && s.format == CSV {
				d := json.NewDecoder(strings.NewReader(text))
				d.UseNumber() // plug-ins must get 3 as 3, not as 3.0
				if v = nil; d.Decode(&v) != nil || d.More() {
					return s.fault("seed-"+key, key, "is %q: expected %s", text, map[string]string{"strength": "an integer", "constraints": "an object as JSON"}[key])
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
	if raw["strength"] != nil && !found.HasErrors() && (c.Strength < 1 || c.Strength > maxStrength) {
		return s.fault("seed-strength", "strength", "must be from 1 to %d, got %d", maxStrength, c.Strength)
	}
	known := constraintsShape().Keys("")
	for _, key := range slices.Sorted(maps.Keys(c.Constraints.Given)) {
		if hint := diag.DidYouMean(key, known); hint != "" && !slices.Contains(known, key) {
			at := "constraints." + key
			found = append(found, diag.Diagnostic{Code: "operator.constraint", Level: diag.Warning, Path: at, Message: constraintOfPlugins, Hint: hint})
		}
	}
	if err := s.takeDiagnostics("", found); err != nil {
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

// Doubt returns a warning about the last record.
func (s *SeedReader) Doubt(code, message string) diag.Diagnostic {
	return diag.Diagnostic{Code: "operator." + code, Level: diag.Warning, Pos: diag.Pos{File: s.path, Line: max(s.line, 1), Col: 1}, Message: message}
}

// doubt warns once about a kind of problem.
func (s *SeedReader) doubt(code, path, message string) {
	_ = s.takeDiagnostics(path, diag.List{{Code: "operator." + code, Level: diag.Warning, Message: message}}) // no error
}

// takeDiagnostics handles diagnostics about a value: it returns errors, and keeps warnings once per
// message.
func (s *SeedReader) takeDiagnostics(path string, list diag.List) error {
	var errs diag.List
	for _, d := range list {
		d.Path = cmp.Or(d.Path, path)
		d.Pos = diag.Pos{File: s.path, Line: s.line, Col: 1}
		if d.Level == diag.Error {
			d.Pos.Col = s.column(d.Path)
			errs = append(errs, d)
			continue
		}
		if kind := d.Message + d.Hint; !s.warned[kind] && len(s.warnings) < 100 {
			s.warned[kind] = true
			d.Pos.Col = s.column(d.Path)
			s.warnings = append(s.warnings, d)
		}
	}
	return errs.Err()
}

// lookup finds the first field that is present and not null.
func lookup(f map[string]any, names []string) (key string, v any) {
	for _, n := range names {
		if v := f[n]; v != nil {
			return n, v
		}
	}
	return names[0], nil
}
