package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"reflect"
	"testing"
)

// record is a record with a body, whatever the body says.
func record(body ...byte) []byte {
	b := append(binary.AppendUvarint(nil, uint64(len(body))), body...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// What is wrong with a file, where, and how much of it cannot be used.
func TestWhatIsWrong(t *testing.T) {
	head := AppendHead(nil)
	one := record(byte(KindEnd)|samePlace, 0, 'x')
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	spoilt := bytes.Clone(one)
	spoilt[2] ^= 1
	long := record(append([]byte{byte(KindEnd) | samePlace, 0}, make([]byte, 2*searchWindow)...)...)
	spoiltLong := bytes.Clone(long)
	spoiltLong[9] ^= 1
	newer := bytes.Clone(head)
	newer[len(magic)] = Version + 1
	for name, x := range map[string]struct {
		file []byte
		n    int
		want error
	}{
		"whole":                         {join(head, one, one), 2, nil},
		"nothing":                       {head, 0, nil},
		"a torn tail":                   {join(head, one, one[:len(one)-1]), 1, &TornError{int64(HeadSize + len(one)), int64(len(one) - 1)}},
		"a torn length":                 {join(head, one, []byte{0x80}), 1, &TornError{int64(HeadSize + len(one)), 1}},
		"a torn head":                   {head[:3], 0, &TornError{0, 3}},
		"another file":                  {[]byte("{\"a\": 1}\n"), 0, &FormatError{"the file is not a Thresh journal"}},
		"a short other file":            {[]byte("{}"), 0, &FormatError{"the file is not a Thresh journal"}},
		"of a later version":            {newer, 0, &FormatError{"the journal has format 3, this version of Thresh reads formats 1 to 2"}},
		"damage":                        {join(head, spoilt, one), 0, &DamageError{int64(HeadSize), int64(2 * len(one)), "a record does not match its checksum"}},
		"damage of a length":            {join(head, []byte{0xff, 0xff, 0xff}, one), 0, &DamageError{int64(HeadSize), int64(3 + len(one)), "a record does not match its checksum"}},
		"a spoilt last record":          {join(head, one, spoilt), 1, &TornError{int64(HeadSize + len(one)), int64(len(one))}},
		"a long damaged one":            {join(head, spoiltLong, one), 0, &DamageError{int64(HeadSize), int64(len(long) + len(one)), "a record does not match its checksum"}},
		"a spoilt long last one":        {join(head, spoiltLong), 0, &TornError{int64(HeadSize), int64(len(long))}},
		"no kind":                       {join(head, record(samePlace, 0), one), 0, &DamageError{int64(HeadSize), int64(7 + len(one)), "a record is malformed"}},
		"no time":                       {join(head, one, record(byte(KindEnd), 0)), 1, &DamageError{int64(HeadSize + len(one)), 7, "a record is malformed"}},
		"a negative case":               {join(head, record(byte(KindOutcome)|samePlace, 0, 1, 0)), 0, &DamageError{int64(HeadSize), 9, "a record is malformed"}},
		"a negative campaign":           {join(head, record(append(append([]byte{byte(KindEnd)}, bytes.Repeat([]byte{0xff}, 9)...), 1, 0, 0, 0)...)), 0, &DamageError{int64(HeadSize), 19, "a record is malformed"}},
		"a negative attempt":            {join(head, record(append(append([]byte{byte(KindEnd), 0}, bytes.Repeat([]byte{0xff}, 9)...), 1, 0, 0)...)), 0, &DamageError{int64(HeadSize), 19, "a record is malformed"}},
		"a negative round":              {join(head, record(append(append([]byte{byte(KindEnd), 0, 0}, bytes.Repeat([]byte{0xff}, 9)...), 1, 0)...)), 0, &DamageError{int64(HeadSize), 19, "a record is malformed"}},
		"a record of one byte":          {join(head, record(byte(KindEnd)|samePlace), one), 0, &DamageError{int64(HeadSize), int64(6 + len(one)), "a record does not match its checksum"}},
		"a whole record further behind": {join(head, bytes.Repeat([]byte{0xff}, searchWindow-1), one), 0, &DamageError{int64(HeadSize), int64(searchWindow - 1 + len(one)), "a record does not match its checksum"}},
		"too far behind":                {join(head, bytes.Repeat([]byte{0xff}, searchWindow), one), 0, &TornError{int64(HeadSize), int64(searchWindow + len(one))}},
	} {
		s := NewScanner(bytes.NewReader(x.file), int64(len(x.file)))
		n := 0
		for s.Next() {
			n++
		}
		if err := s.Err(); n != x.n || !reflect.DeepEqual(err, x.want) || err != nil && err.Error() == "" {
			t.Errorf("%s: %d records, %v (%#v), want %d, %#v", name, n, err, err, x.n, x.want)
		}
		if s.Next() || !reflect.DeepEqual(s.Err(), x.want) {
			t.Errorf("%s: it goes on after its end", name)
		}
		want := 0
		if len(x.file) >= HeadSize && bytes.Equal(x.file[:HeadSize], head) {
			want = Version
		}
		if s.Version() != want {
			t.Errorf("%s: version %d", name, s.Version())
		}
	}
}

// A file that grows is read on, one that was damaged or has shrunk is not.
func TestGrow(t *testing.T) {
	one := record(byte(KindEnd)|samePlace, 0, 'x')
	file := append(append(AppendHead(nil), one...), one...)
	at := int64(HeadSize + len(one))
	for name, x := range map[string]struct {
		first, then int64
		more        bool
	}{
		"from the end of a record": {at, at + int64(len(one)), true}, "from a torn one": {at + 2, at + int64(len(one)), true},
		"to less": {at, at - 1, false}, "to the same": {at, at, false},
	} {
		s := NewScanner(bytes.NewReader(file), x.first)
		for s.Next() {
		}
		if s.Grow(x.then); s.Next() != x.more || x.more && s.Err() != nil {
			t.Errorf("%s: %t %v", name, !x.more, s.Err())
		}
	}
	file[HeadSize+2] ^= 1
	s := NewScanner(bytes.NewReader(file), int64(len(file)))
	for s.Next() {
	}
	file[HeadSize+2] ^= 1
	var damage *DamageError
	if s.Grow(int64(len(file))); s.Next() || !errors.As(s.Err(), &damage) {
		t.Errorf("a damaged file is read on: %v", s.Err())
	}
}

// Records that stand aside, and how much of a cut file is whole.
func TestAsideAndWhole(t *testing.T) {
	file, ends := encode(t, sample())
	aside := AppendAside(nil, KindEvidence, []byte("data"))
	both := append(bytes.Clone(file), aside...)
	all, err := decode(both)
	last := all[len(all)-1]
	if err != nil || last.Kind != KindEvidence || string(last.Data) != "data" || last.At != all[len(all)-2].At || last.Campaign != all[len(all)-2].Campaign {
		t.Errorf("%+v %v", last, err)
	}
	records := file[HeadSize:]
	whole := 0
	for cut := range len(records) + 1 {
		for whole < len(ends) && ends[whole]-HeadSize <= cut {
			whole++
		}
		want := 0
		if whole > 0 {
			want = ends[whole-1] - HeadSize
		}
		if got := WholeRecords(records[:cut]); got != want {
			t.Fatalf("cut at %d: %d, want %d", cut, got, want)
		}
	}
}
