package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/campaign"
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
		"an empty file":                 {nil, 0, &TornError{0, 0}},
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
		"a short one behind a bad one":  {join(head, spoilt, record(byte(KindEnd)|samePlace)), 0, &TornError{int64(HeadSize), int64(len(one) + 6)}},
		"a long one behind a bad one":   {join(head, []byte{0xff}, record(append([]byte{byte(KindEnd) | samePlace, 0}, make([]byte, searchBody-2)...)...)), 0, &DamageError{int64(HeadSize), 1 + 2 + searchBody + crcSize, "a record does not match its checksum"}},
		"a longer one":                  {join(head, []byte{0xff}, record(append([]byte{byte(KindEnd) | samePlace, 0}, make([]byte, searchBody-1)...)...)), 0, &TornError{int64(HeadSize), 1 + 2 + searchBody + 1 + crcSize}},
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
		if strings.Contains(fmt.Sprint(s.Err()), " 0 bytes") {
			t.Errorf("%s: %v", name, s.Err())
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
	// The length of the largest record takes five bytes, of which four are as long as a checksum.
	length := binary.AppendUvarint(nil, MaxRecord)
	if got := WholeRecords(append(records[:len(records):len(records)], length[:4]...)); len(length) != 5 || got != len(records) {
		t.Errorf("cut in a length of %d bytes: %d, want %d", len(length), got, len(records))
	}
}

// What an encoder refuses leaves both it and the bytes as they were.
func TestRefusedEntries(t *testing.T) {
	for name, e := range map[string]Entry{
		"no kind": {}, "a kind too high": {Kind: maxKind + 1}, "a negative campaign": {Kind: KindEnd, Campaign: -1}, "a negative attempt": {Kind: KindEnd, Attempt: -1},
		"a negative round": {Kind: KindEnd, Case: campaign.Case{Round: -1}}, "a negative case": {Kind: KindEnd, Case: campaign.Case{Index: -1}},
		"too much data":  {Kind: KindEnd, Data: make([]byte, MaxRecord-63)},
		"a long outcome": {Kind: KindOutcome, At: 5, Outcome: campaign.Outcome{Data: make([]byte, MaxRecord)}},
	} {
		var enc Encoder
		if got, err := enc.Append([]byte("before"), &e); err == nil || string(got) != "before" || enc != (Encoder{}) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	for n := 0x7c; n < 0x82; n++ {
		file, _ := encode(t, []Entry{{Kind: KindEnd, Data: make([]byte, n)}, {Kind: KindEnd, Data: []byte("x")}})
		if all, err := decode(file); err != nil || len(all) != 2 || len(all[0].Data) != n {
			t.Errorf("%d bytes of data: %v", n, err)
		}
	}
}

// A file that became shorter than it was said to be is torn; one that cannot be
// read is neither torn nor damaged.
func TestShortAndUnreadable(t *testing.T) {
	one := record(byte(KindEnd)|samePlace, 0, 'x')
	file := append(AppendHead(nil), one...)
	s := NewScanner(bytes.NewReader(file), int64(len(file)+9))
	for s.Next() {
	}
	var torn *TornError
	if !errors.As(s.Err(), &torn) || torn.Offset != int64(len(file)) || torn.Bytes != 9 {
		t.Errorf("%v", s.Err())
	}
	gone := errors.New("gone")
	s = NewScanner(unreadable{gone}, 100)
	if s.Next() || !errors.Is(s.Err(), gone) || s.Next() {
		t.Errorf("%v", s.Err())
	}
}

type unreadable struct{ err error }

func (u unreadable) ReadAt([]byte, int64) (int, error) { return 0, u.err }
