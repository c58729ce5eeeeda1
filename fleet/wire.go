package fleet

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/thresh-dev/thresh/campaign"
)

// Announcement announces a run to workers.
type Announcement struct {
	Run        string              `json:"run"`
	Epoch      string              `json:"epoch"` // differs between coordinators of the same run
	Bundle     string              `json:"bundle"`
	Identities []campaign.Identity `json:"identities"`
	Require    []string            `json:"require,omitempty"` // labels that a worker must have
	Version    string              `json:"version"`
	// CaseTimeout is the limit for one case; 0: none.
	CaseTimeout time.Duration `json:"case_timeout,omitempty"`
	Began       time.Time     `json:"began"`          // when its coordinator started
	Expires     time.Time     `json:"expires"`        // renewed while the coordinator runs
	Over        bool          `json:"over,omitempty"` // the run is withdrawn
	// Signature is an ed25519 signature over the announcement without this field.
	Signature []byte `json:"signature,omitempty"`
}

// take is a worker's request for a lease.
type take struct {
	Worker string `json:"worker"`
}

// taken answers a take with a lease and how often it was given out, or with no lease and perhaps
// why this worker gets none.
type taken struct {
	Lease      *lease `json:"lease,omitempty"`
	Deliveries uint64 `json:"deliveries,omitempty"`
	Refused    string `json:"refused,omitempty"`
}

// hold reports that a worker is busy with a lease or gives it back. It has no answer.
type hold struct {
	Worker     string        `json:"worker"`
	Deliveries uint64        `json:"deliveries"`
	Back       bool          `json:"back,omitempty"`
	After      time.Duration `json:"after,omitempty"` // when another worker may have it
}

// lease is an entry of the queue: some cases of one round of a campaign. A worker asks which of
// them are still wanted when it takes the lease.
type lease struct {
	ID       string `json:"id"`
	Campaign int    `json:"campaign"`
	Cold     bool   `json:"cold,omitempty"`
	Probe    bool   `json:"probe,omitempty"` // touch the target once; there are no cases
	State    string `json:"state,omitempty"` // chain name of the state
	Round    int    `json:"round,omitempty"`
	Base     int64  `json:"base,omitempty"` // index of the round's first case
	// Explicit is a case that may not belong to the round and is sent whole.
	Explicit *explicit `json:"explicit,omitempty"`
}

// explicit is a case with its payload. An empty payload differs from none.
type explicit struct {
	Index   int64  `json:"index"`
	Payload []byte `json:"payload"`
}

// claim is a worker's request for what is left of a lease.
type claim struct {
	Worker     string `json:"worker"`
	Host       string `json:"host"`
	Deliveries uint64 `json:"deliveries"`
}

// grant answers a claim.
type grant struct {
	Stale bool `json:"stale,omitempty"` // nobody waits for the lease any more
	// Ranges are half-open and in the order in which to run the cases.
	Ranges [][2]int64 `json:"ranges,omitempty"`
	// Careful requests each outcome as soon as it is known, because a worker has died during this
	// lease.
	Careful bool `json:"careful,omitempty"`
	Reverse bool `json:"reverse,omitempty"` // run from the last case to the first
	// Elsewhere leaves the lease to another worker, because it checks this worker's answer.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

// report is what a worker sends about a lease: outcomes so far, or why there are none. The header
// is JSON, followed by the outcomes in binary.
type report struct {
	Worker string `json:"worker"`
	Lane   int    `json:"lane"`
	Last   bool   `json:"last,omitempty"`
	// Handback says that the worker is leaving and gives back the cases it has not run.
	Handback bool            `json:"handback,omitempty"`
	Busy     time.Duration   `json:"busy,omitempty"`  // time in the target since the last report
	Redo     string          `json:"redo,omitempty"`  // the campaign must run again on cold lanes
	Fatal    string          `json:"fatal,omitempty"` // nothing more can be run
	Unfit    string          `json:"unfit,omitempty"` // this worker cannot run the campaign at all
	Facts    *campaign.Facts `json:"facts,omitempty"` // answer to a probe
	Notes    []string        `json:"notes,omitempty"` // on how cases were run
	Object   string          `json:"object,omitempty"`
}

// receipt answers a report.
type receipt struct {
	Stop bool `json:"stop,omitempty"` // the rest is not wanted
}

// entry is one encoded outcome.
type entry struct {
	index   int64
	outcome campaign.Outcome
}

// appendEntry appends an outcome: index, facts, elapsed time, evidence.
func appendEntry(b []byte, index int64, o *campaign.Outcome) []byte {
	b = binary.AppendVarint(b, index)
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	b = o.AppendFacts(b)
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	b = binary.AppendUvarint(b, uint64(max(o.Elapsed, 0)))
	b = binary.AppendUvarint(b, uint64(len(o.Evidence)))
	for _, e := range o.Evidence {
		b = binary.AppendUvarint(b, uint64(len(e.Name)))
		b = append(b, e.Name...)
		b = binary.AppendUvarint(b, uint64(len(e.Data)))
		b = append(b, e.Data...)
	}
	return b
}

var errMalformed = errors.New("malformed outcomes")

// decodeEntries reads what appendEntry wrote. The result shares no memory with b.
func decodeEntries(b []byte) ([]entry, error) {
	var list []entry
	for len(b) > 0 {
		var e entry
		index, n := binary.Varint(b)
		if n <= 0 || len(b) < n+4 {
			return nil, errMalformed
		}
		size := int(binary.LittleEndian.Uint32(b[n:]))
		if b = b[n+4:]; size > len(b) {
			return nil, errMalformed
		}
		o, ok := campaign.DecodeFacts(b[:size])
		if !ok {
			return nil, errMalformed
		}
		b = b[size:]
		elapsed, ok1 := uvarint(&b)
		count, ok2 := uvarint(&b)
		if !ok1 || !ok2 || count > uint64(len(b)) {
			return nil, errMalformed
		}
		o.Elapsed = time.Duration(elapsed)
		for range count {
			name, ok := chunk(&b)
			data, ok2 := chunk(&b)
			if !ok || !ok2 {
				return nil, errMalformed
			}
			o.Evidence = append(o.Evidence, campaign.Attachment{Name: string(name), Data: append([]byte(nil), data...)})
		}
		e.index, e.outcome = index, o
		list = append(list, e)
	}
	return list, nil
}

func uvarint(b *[]byte) (uint64, bool) {
	v, n := binary.Uvarint(*b)
	if n <= 0 {
		return 0, false
	}
	*b = (*b)[n:]
	return v, true
}

func chunk(b *[]byte) ([]byte, bool) {
	n, ok := uvarint(b)
	if !ok || n > uint64(len(*b)) {
		return nil, false
	}
	data := (*b)[:n]
	*b = (*b)[n:]
	return data, true
}

// frame puts a JSON header before a body.
func frame(header, body []byte) []byte {
	b := binary.AppendUvarint(make([]byte, 0, len(header)+len(body)+4), uint64(len(header)))
	return append(append(b, header...), body...)
}

func splitFrame(b []byte) (header, body []byte, err error) {
	header, ok := chunk(&b)
	if !ok {
		return nil, nil, errMalformed
	}
	return header, b, nil
}
