package report

import (
	"bufio"
	"bytes"
	"encoding"
	"encoding/json"
	"io"
	"math"
	"reflect"
	"strings"
)

// encoder writes indented JSON as encoding/json does, but piece by piece, so that a matrix of ten
// thousand cells is not held a second time as text. A nil slice becomes an empty list, not null. A
// number that JSON lacks (NaN, infinity) becomes 0, so that one odd number in the evidence does not
// lose the report.
type encoder struct {
	w     *bufio.Writer // keeps the first error
	depth int
	any   bool // the open object or list is not empty
	leaf  bytes.Buffer
	lines *json.Encoder // writes to leaf
}

func newEncoder(w io.Writer) *encoder {
	e := &encoder{w: bufio.NewWriterSize(w, 1<<15)}
	e.lines = json.NewEncoder(&e.leaf)
	e.lines.SetEscapeHTML(false)
	return e
}

func (e *encoder) begin(open byte) {
	_ = e.w.WriteByte(open)
	e.depth, e.any = e.depth+1, false
}

func (e *encoder) end(shut byte) {
	e.depth--
	if e.any {
		e.line()
	}
	_ = e.w.WriteByte(shut)
	e.any = true
}

func (e *encoder) line() {
	_ = e.w.WriteByte('\n')
	for range e.depth {
		_, _ = e.w.WriteString("  ")
	}
}

// next begins a member of the open object or an element of the open list.
func (e *encoder) next() {
	if e.any {
		_ = e.w.WriteByte(',')
	}
	e.line()
	e.any = true
}

// key begins a member.
func (e *encoder) key(name string) {
	e.next()
	_, _ = e.w.WriteString(`"` + name + `": `) // a field's name
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

func (e *encoder) value(v reflect.Value) error {
	t := v.Type()
	if t.Implements(jsonMarshaler) || t.Implements(textMarshaler) {
		return e.scalar(v.Interface())
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return e.value(v.Elem())
		}
	case reflect.Struct:
		e.begin('{')
		err := e.fields(v)
		e.end('}')
		return err
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return e.scalar(append([]byte{}, v.Bytes()...)) // base64, or the text of a RawMessage
		}
		return e.list(v)
	case reflect.Array:
		return e.list(v)
	case reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return e.scalar(finite(f))
		}
	}
	return e.scalar(v.Interface())
}

func (e *encoder) list(v reflect.Value) error {
	e.begin('[')
	for i := range v.Len() {
		e.next()
		if err := e.value(v.Index(i)); err != nil {
			return err
		}
	}
	e.end(']')
	return nil
}

// fields writes the members of a struct into the open object.
func (e *encoder) fields(v reflect.Value) error {
	t := v.Type()
	for i := range v.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
			continue
		case f.Anonymous && name == "":
			if err := e.fields(v.Field(i)); err != nil {
				return err
			}
			continue
		case strings.Contains(rest, "omitempty") && empty(v.Field(i)):
			continue
		case name == "":
			name = f.Name
		}
		e.key(name)
		if err := e.value(v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// scalar writes a value that is encoded in one piece.
func (e *encoder) scalar(v any) error {
	e.leaf.Reset()
	if err := e.lines.Encode(v); err != nil {
		return err
	}
	text := bytes.TrimSuffix(e.leaf.Bytes(), []byte("\n"))
	if raw, ok := v.(json.RawMessage); ok && len(raw) > 0 {
		var b bytes.Buffer
		if err := json.Indent(&b, text, strings.Repeat("  ", e.depth), "  "); err != nil {
			return err
		}
		text = b.Bytes()
	}
	_, err := e.w.Write(text)
	return err
}
