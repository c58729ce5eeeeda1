package campaign

import (
	"encoding/binary"
	"hash"
	"time"
)

// Verdict is the result of a case.
type Verdict uint8

// The verdicts. VerdictError means that Thresh or the environment failed. It never
// counts as a pass or as a failure of the target.
const (
	VerdictPass Verdict = iota
	VerdictFail
	VerdictSkip
	VerdictError
)

var verdictNames = [...]string{"pass", "fail", "skip", "error"}

func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return "invalid"
}

// MarshalText implements encoding.TextMarshaler.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (v *Verdict) UnmarshalText(b []byte) error {
	for i, n := range verdictNames {
		if n == string(b) {
			*v = Verdict(i)
			return nil
		}
	}
	*v = VerdictError
	return nil
}

// Severity is how serious a finding is.
type Severity uint8

// The severities, mildest first.
const (
	SeverityNote Severity = iota
	SeverityLow
	SeverityMedium
	SeverityHigh
	SeverityCritical
)

var severityNames = [...]string{"note", "low", "medium", "high", "critical"}

func (s Severity) String() string {
	if int(s) < len(severityNames) {
		return severityNames[s]
	}
	return "invalid"
}

// MarshalText implements encoding.TextMarshaler.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Severity) UnmarshalText(b []byte) error {
	for i, n := range severityNames {
		if n == string(b) {
			*s = Severity(i)
		}
	}
	return nil
}

// Outcome is what happened in one case. The fields up to Data are facts, which
// depend on state and case alone: they are stored and folded, and are part of the
// run's digest. The fields after Data are evidence, which may differ between equal
// runs and is part of no digest.
type Outcome struct {
	Verdict   Verdict
	Severity  Severity
	Kind      string   // the contract's word for the kind of failure: "crash", "timeout", "output", ...
	Title     string   // one line for people, without addresses, process ids, paths and times
	Signature string   // the contract's own grouping key; may be empty
	Cause     []string // layers of the cause, outermost first: signal, sanitizer class, top frames
	Input     string   // hex digest of the input, to count the different inputs of a group; may be empty
	Data      []byte   // the contract's own facts, for Fold

	Elapsed  time.Duration // time in the target
	Evidence []Attachment  // output, standard error, transcripts; stored for findings and as [Traits].Records says
	// Whole is, for a minimized case, the evidence of the case it was made from, for
	// [Describer]; nil: unknown, or the case is not minimized.
	Whole []Attachment
}

// Attachment is a named piece of evidence.
type Attachment struct {
	Name string // "stderr", "stdout", "exec.json", ...
	Data []byte
}

// MeasuredAttachment names the attachment for what may differ between equal runs,
// such as milliseconds. Reports that list every case leave it out, so that equal
// runs have equal reports.
const MeasuredAttachment = "measured.json"

// InputAttachment names the attachment with the case's explicit payload, if that
// depends on more than state and case, such as on how calls overlapped. It replaces
// what an [Inputter] returns.
const InputAttachment = "input"

// AttemptAttachment names the attachment with the case as a line of JSON, for the
// report formats hits and attempts.
const AttemptAttachment = "attempt.json"

// RecordedAttachment names the attachment with the answers that the target got from
// its surroundings, such as a model, so that replays give the same answers. The
// answers of the first execution are kept, even if later ones differ.
const RecordedAttachment = "recorded.json"

// Attached returns the attachment of that name, or nil.
func (o Outcome) Attached(name string) []byte {
	for _, a := range o.Evidence {
		if a.Name == name {
			return a.Data
		}
	}
	return nil
}

// Recording selects the cases whose evidence is stored, besides the first of each
// finding.
type Recording uint8

// The recordings.
const (
	RecordFindings Recording = iota // no others
	RecordFailures                  // every case that fails
	RecordAll                       // passing cases, too
)

// AppendFacts appends the canonical encoding of the outcome's facts to b. Equal
// facts give equal bytes. [DecodeFacts] decodes it.
func (o *Outcome) AppendFacts(b []byte) []byte {
	b = append(b, byte(o.Verdict)|byte(o.Severity)<<4)
	if o.Kind == "" && o.Title == "" && o.Signature == "" && len(o.Cause) == 0 && o.Input == "" && len(o.Data) == 0 {
		return b // the common passing case: one byte
	}
	for _, s := range [...]string{o.Kind, o.Title, o.Signature, o.Input} {
		b = appendString(b, s)
	}
	b = binary.AppendUvarint(b, uint64(len(o.Cause)))
	for _, s := range o.Cause {
		b = appendString(b, s)
	}
	b = binary.AppendUvarint(b, uint64(len(o.Data)))
	return append(b, o.Data...)
}

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// VerdictOf returns the verdict in what [Outcome.AppendFacts] wrote.
func VerdictOf(facts []byte) Verdict { return Verdict(facts[0] & 15) }

// DecodeFacts decodes what [Outcome.AppendFacts] wrote; false means that b is not
// such an encoding.
func DecodeFacts(b []byte) (Outcome, bool) {
	var o Outcome
	if len(b) == 0 {
		return o, false
	}
	o.Verdict, o.Severity = VerdictOf(b), Severity(b[0]>>4)
	if o.Verdict > VerdictError || o.Severity > SeverityCritical {
		return o, false
	}
	if b = b[1:]; len(b) == 0 {
		return o, true
	}
	ok := true
	next := func() []byte {
		n, k := binary.Uvarint(b)
		if k <= 0 || n > uint64(len(b)-k) {
			ok = false
			return nil
		}
		s := b[k : k+int(n)]
		b = b[k+int(n):]
		return s
	}
	o.Kind, o.Title, o.Signature, o.Input = string(next()), string(next()), string(next()), string(next())
	if !ok {
		return o, false
	}
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)) {
		return o, false
	}
	b = b[k:]
	for range n {
		o.Cause = append(o.Cause, string(next()))
	}
	if d := next(); len(d) > 0 {
		o.Data = append([]byte(nil), d...)
	}
	return o, ok && len(b) == 0
}

// Digest computes a campaign's part of the run's digest, from the round, index and
// facts of every case, in case order.
type Digest struct {
	h    hash.Hash
	tree Tree
	buf  []byte
}

// NewDigest returns the digest of a campaign without cases, over h (SHA-256 in
// a run).
func NewDigest(h hash.Hash, id Identity) *Digest {
	d := &Digest{h: h}
	d.buf = append(d.buf, "campaign\x00"...)
	// Not the identity's digest: documents may hold absolute paths.
	for _, s := range [...]string{id.Contract, id.Name} {
		d.buf = appendString(d.buf, s)
	}
	h.Write(d.buf)
	return d
}

// Case adds one case; cases must come in case order.
func (d *Digest) Case(c Case, o *Outcome) {
	d.buf = append(d.buf[:0], 'c')
	d.buf = binary.AppendUvarint(d.buf, uint64(c.Round))
	d.buf = binary.AppendUvarint(d.buf, uint64(c.Index))
	n := len(d.buf)
	d.buf = o.AppendFacts(d.buf)
	d.buf = binary.AppendUvarint(d.buf, uint64(len(d.buf)-n))
	d.h.Write(d.buf)
	d.tree.Add(d.buf)
}

// Root returns the root of a Merkle tree over the cases so far.
func (d *Digest) Root() []byte { return d.tree.Root() }

// Sum returns the digest so far.
func (d *Digest) Sum() []byte { return d.h.Sum(nil) }

// Sequence puts outcomes that arrive in any order into case order, in which they are
// folded, counted and digested. It keeps the outcomes after the first missing case
// in memory; the caller limits their number.
type Sequence struct {
	next    int64 // index of the next result to be released
	waiting map[int64]Outcome
}

// NewSequence returns a sequence whose first case has index first.
func NewSequence(first int64) *Sequence {
	return &Sequence{next: first, waiting: make(map[int64]Outcome)}
}

// Add takes one outcome and calls release for every outcome that is now in order.
// An outcome that was already released or is waiting is ignored, so executing a
// case twice changes nothing. If release returns false, the rest keeps waiting.
func (s *Sequence) Add(index int64, o Outcome, release func(int64, Outcome) bool) {
	if index < s.next {
		return
	}
	if index != s.next {
		if _, dup := s.waiting[index]; !dup {
			s.waiting[index] = o
		}
		return
	}
	for {
		s.next++
		if !release(s.next-1, o) {
			return
		}
		var ok bool
		if o, ok = s.waiting[s.next]; !ok {
			return
		}
		delete(s.waiting, s.next)
	}
}

// Next returns the index of the oldest case without a result.
func (s *Sequence) Next() int64 { return s.next }

// ByCause groups a list by cause, in the order in which causes first occur. Items
// whose cause is "" are groups of their own.
func ByCause[T any](list []T, cause func(T) string) [][]T {
	var out [][]T
	at := make(map[string]int)
	for _, x := range list {
		key := cause(x)
		if i, known := at[key]; known && key != "" {
			out[i] = append(out[i], x)
			continue
		}
		at[key] = len(out)
		out = append(out, []T{x})
	}
	return out
}

// GoneError says that the target no longer answers. The case has no outcome, no
// other case of its campaign is started, and what was found is reported.
type GoneError struct{ Err error }

func (e *GoneError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *GoneError) Unwrap() error { return e.Err }

// KindGone is the kind of the outcome that the run gives a case with a [GoneError].
const KindGone = "gone"
