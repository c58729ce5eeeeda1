package mutator

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/engine/textop"
)

// ChildVersion is the schema_version of children as lines of JSON.
const ChildVersion = "thresh.child.v1"

// AppendChild appends a child as a line of JSON, without the line end.
func AppendChild(b []byte, c *Child) []byte {
	b = append(b, `{"schema_version":"`+ChildVersion+`","testcase_id":`...)
	b = AppendString(b, c.ID)
	b = append(b, `,"seed_id":`...)
	b = AppendString(b, c.Seed.ID)
	b = append(b, `,"seed_index":`...)
	b = strconv.AppendInt(b, c.Seed.Ordinal, 10)
	b = append(b, `,"child_index":`...)
	b = strconv.AppendInt(b, c.Index, 10)
	b = append(b, `,"derived_seed":`...)
	b = strconv.AppendUint(b, c.Derived, 10)
	b = append(b, `,"bucket_id":`...)
	b = AppendString(b, cmp.Or(c.Seed.BucketTag, string(c.Seed.Bucket)))
	b = append(b, `,"surface":`...)
	b = AppendString(b, cmp.Or(string(c.Seed.Surface), c.Seed.SurfaceTag))
	b = append(b, `,"status":"`...)
	b = append(b, c.Status...)
	b = append(b, `","child_text":`...)
	b = AppendString(b, c.Text)
	b = append(b, `,"mutation_trace":[`...)
	for i := range c.Steps {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendStep(b, &c.Steps[i])
	}
	return append(b, "]}"...)
}

// AppendResult appends the result of one application as a JSON object with the
// fields of the contract's ApplyResult (OC-4.1).
func AppendResult(b []byte, r *textop.Result) []byte {
	b = append(b, `{"status":"`...)
	b = append(b, r.Status...)
	b = append(b, `","child_text":`...)
	b = AppendString(b, r.Child)
	b = append(b, `,"trace":`...)
	b = AppendStep(b, &r.Trace)
	b = append(b, `,"error":`...)
	if r.Error == "" {
		return append(b, "null}"...)
	}
	return append(AppendString(b, r.Error), '}')
}

// AppendStep appends a step as a JSON object: the minimal fields of OC-5.1, then
// the others.
func AppendStep(b []byte, s *textop.Step) []byte {
	b = append(b, `{"op_id":`...)
	b = AppendString(b, s.OpID)
	b = append(b, `,"status":"`...)
	b = append(b, s.Status...)
	b = append(b, `","params":`...)
	b = appendParams(b, s.Params)
	b = append(b, `,"len_before":`...)
	b = strconv.AppendInt(b, int64(s.LenBefore), 10)
	b = append(b, `,"len_after":`...)
	b = strconv.AppendInt(b, int64(s.LenAfter), 10)
	for _, p := range s.Extra {
		b = append(b, ',')
		b = AppendString(b, p.Key)
		b = append(b, ':')
		b = appendValue(b, p.Value)
	}
	return append(b, '}')
}

func appendParams(b []byte, ps textop.Params) []byte {
	b = append(b, '{')
	for i, p := range ps {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendString(b, p.Key)
		b = append(b, ':')
		b = appendValue(b, p.Value)
	}
	return append(b, '}')
}

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return append(b, "null"...)
		}
	case string:
		return AppendString(b, v)
	case textop.Params:
		return appendParams(b, v)
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, e)
		}
		return append(b, ']')
	case map[string]any:
		ps := make(textop.Params, 0, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			ps = append(ps, textop.Param{Key: k, Value: v[k]})
		}
		return appendParams(b, ps)
	}
	text, err := json.Marshal(v)
	if err != nil { // no built-in operator has such a value, and plug-ins return JSON
		return append(b, "null"...)
	}
	return append(b, text...)
}

const hex = "0123456789abcdef"

// plain returns the index, from i on, of the next byte that JSON must escape. It
// checks eight bytes at a time.
func plain(s string, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	zero := func(x uint64) uint64 { return (x - ones) &^ x & highs } // has a high bit where a byte is 0, and none if no byte is
	for ; i+8 <= len(s); i += 8 {
		x := binary.LittleEndian.Uint64([]byte(s[i : i+8]))
		if (x-ones*' ')&^x&highs|zero(x^ones*'"')|zero(x^ones*'\\') != 0 {
			break
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// AppendString appends a JSON string. Text stays readable: only what JSON
// requires is escaped, and invalid UTF-8 becomes U+FFFD.
func AppendString(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	b = append(b, '"')
	from := 0
	for i := plain(s, 0); i < len(s); i = plain(s, i+1) {
		c := s[i]
		b = append(b, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(b, s[from:]...), '"')
}
