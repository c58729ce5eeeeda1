package operator

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/thresh-dev/thresh/engine/mutator"
	"github.com/thresh-dev/thresh/engine/redteam"
	"github.com/thresh-dev/thresh/engine/textop"
)

// facts is the data of a case for Fold.
type facts struct {
	status    textop.Status
	print     mutator.Fingerprint // of the child, if status is OK
	applied   []mutator.Applied
	judged    bool // there is a verdict
	unjudged  bool // there is no verdict, or it is on another text
	judgement mutator.Judgement
	score     *float64
	more      bool // the fields that follow are set
	same      bool // the text repeats an earlier one: not sent
	spent     spent
	asked     int64  // calls other than messages: to models that judge, and in tries without a verdict
	reply     string // its beginning, if the system failed
	signal    redteam.Signal
	lacks     bool     // there is no call of a tool that a judge names
	tools     []string // called tools, if lacks
	beside    []string // judges that fail besides the subject of the finding
	silent    bool     // the system said nothing and called no tool, and no judge failed
}

// statuses is the encoding order of statuses.
func statuses() [3]textop.Status {
	return [...]textop.Status{textop.OK, textop.Skipped, textop.Invalid}
}

func statusCode(s textop.Status) byte {
	for i, x := range statuses() {
		if x == s {
			return byte(i)
		}
	}
	return 2
}

// encode encodes the facts: status with flags, fingerprint, data for a search or a budget,
// applications, verdict.
func (f *facts) encode() []byte {
	head := statusCode(f.status)
	if f.judged {
		head |= 4 | byte(f.judgement)<<4
	}
	if f.score != nil {
		head |= 8
	}
	if f.unjudged {
		head |= 64
	}
	if f.more {
		head |= 128
	}
	b := []byte{head}
	if f.status == textop.OK {
		b = binary.LittleEndian.AppendUint64(b, f.print.Exact)
		b = binary.LittleEndian.AppendUint64(b, f.print.Near)
	}
	if f.score != nil {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(*f.score))
	}
	if f.more {
		g := f.signal
		flags := byte(0)
		if f.same {
			flags |= 1
		}
		if g.Refused {
			flags |= 2
		}
		if f.asked > 0 {
			flags |= 4
		}
		if f.lacks {
			flags |= 8
		}
		if f.silent {
			flags |= 16
		}
		if len(f.beside) > 0 {
			flags |= 32
		}
		b = append(b, flags, g.Hidden, g.Near, g.Length)
		b = binary.LittleEndian.AppendUint32(b, g.Shape)
		for _, n := range []int64{f.spent.calls, f.spent.in, f.spent.out} {
			b = binary.AppendUvarint(b, uint64(n))
		}
		if f.asked > 0 {
			b = binary.AppendUvarint(b, uint64(f.asked))
		}
		b = append(binary.AppendUvarint(b, uint64(len(f.reply))), f.reply...)
		if f.lacks {
			text := strings.Join(f.tools, "\n")
			b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
		}
		if len(f.beside) > 0 {
			text := strings.Join(f.beside, "\n")
			b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
		}
	}
	for _, a := range f.applied {
		b = binary.AppendUvarint(b, uint64(a.Op)<<2|uint64(statusCode(a.Status)))
	}
	return b
}

func decodeFacts(b []byte) (f facts, ok bool) {
	if len(b) == 0 {
		return f, false
	}
	head := b[0]
	b = b[1:]
	code := head & 3
	if code > 2 {
		return f, false
	}
	f.status = statuses()[code]
	word := func() uint64 {
		if len(b) < 8 {
			ok = false
			b = nil
			return 0
		}
		v := binary.LittleEndian.Uint64(b)
		b = b[8:]
		return v
	}
	ok = true
	if f.status == textop.OK {
		f.print = mutator.Fingerprint{Exact: word(), Near: word()}
	}
	if head&4 != 0 {
		f.judged, f.judgement = true, mutator.Judgement(head>>4&3)
	}
	f.unjudged = head&64 != 0
	if head&8 != 0 {
		v := math.Float64frombits(word())
		f.score = &v
	}
	if head&128 != 0 {
		if len(b) < 9 {
			return f, false
		}
		f.more, f.same = true, b[0]&1 != 0
		f.signal = redteam.Signal{Refused: b[0]&2 != 0, Hidden: b[1], Near: b[2], Length: b[3], Shape: binary.LittleEndian.Uint32(b[4:])}
		f.silent = b[0]&16 != 0
		texts := []*string{&f.reply}
		var tools, beside string
		if f.lacks = b[0]&8 != 0; f.lacks {
			texts = append(texts, &tools)
		}
		if b[0]&32 != 0 {
			texts = append(texts, &beside)
		}
		numbers := []*int64{&f.spent.calls, &f.spent.in, &f.spent.out}
		if b[0]&4 != 0 {
			numbers = append(numbers, &f.asked)
		}
		b = b[8:]
		for _, x := range numbers {
			v, n := binary.Uvarint(b)
			if n <= 0 {
				return f, false
			}
			*x, b = int64(v), b[n:]
		}
		for _, x := range texts {
			size, n := binary.Uvarint(b)
			if n <= 0 || size > uint64(len(b)-n) {
				return f, false
			}
			*x, b = string(b[n:n+int(size)]), b[n+int(size):]
		}
		if tools != "" {
			f.tools = strings.Split(tools, "\n")
		}
		if beside != "" {
			f.beside = strings.Split(beside, "\n")
		}
	}
	for len(b) > 0 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return f, false
		}
		b = b[n:]
		if v&3 > 2 {
			return f, false
		}
		f.applied = append(f.applied, mutator.Applied{Op: int(v >> 2), Status: statuses()[v&3]})
	}
	return f, ok
}
