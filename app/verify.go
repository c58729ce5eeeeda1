package app

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/fleet"
	"github.com/thresh-dev/thresh/run"
	"github.com/thresh-dev/thresh/store"
)

// VerifyJob says how to verify a run. The zero value executes nothing.
type VerifyJob struct {
	Sample float64 // share of the cases to execute again, from 0 to 1
	Attest string  // file of the private key that signs a statement; "": none
	Trust  string  // file of public keys, one of which must have signed the statement; "": any
}

// Verified is the result of verifying a run.
type Verified struct {
	RunID     string
	Problems  []string // what is wrong; empty: the run holds
	Notes     []string
	Groups    int    // of records, in the chain
	Cases     int64  // folded again
	Compared  int    // executed again
	Unknown   int    // cases of the sample that could not be compared
	Statement []byte // the signed statement, if requested and if there are no problems
	SignedBy  string // key that signed a verified statement, in hex
}

// Types in a statement's envelope.
const (
	payloadType   = "application/vnd.in-toto+json"
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://thresh.dev/verdict/v1"
)

// statement says what a run is and found, in in-toto's form.
type statement struct {
	Type      string    `json:"_type"`
	Subject   []subject `json:"subject"`
	Predicate string    `json:"predicateType"`
	Says      says      `json:"predicate"`
}

type subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

type says struct {
	Identities []campaign.Identity `json:"identities"`
	System     map[string]string   `json:"system,omitempty"` // digests of programs, by path
	Verdict    string              `json:"verdict"`
	Digest     string              `json:"digest"`
	Root       string              `json:"root"`
	Record     string              `json:"record"` // SHA-256
}

// envelope is a DSSE envelope.
type envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     []byte      `json:"payload"`
	Signatures  []signature `json:"signatures"`
}

type signature struct {
	KeyID string `json:"keyid"`
	Sig   []byte `json:"sig"`
}

// encoded returns the bytes that DSSE signs.
func (e *envelope) encoded() []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(e.PayloadType), e.PayloadType, len(e.Payload), e.Payload)
}

// Verify checks a stored run: the chain of its journal, its record by folding the journal again,
// and a sample of its cases by executing them again. It repairs nothing.
func (a *App) Verify(ctx context.Context, st *Store, ref string, job VerifyJob) (v Verified, err error) {
	if v.RunID, err = st.ResolveRun(ref); err != nil {
		return v, err
	}
	if r, err := st.Run(v.RunID); err == nil && r.Status == "running" { // its journal ends anywhere
		return v, diag.WithHint(diag.Environment("run %s has not ended", v.RunID), "wait for it to end, or stop it")
	}
	j, err := st.OpenJournal(v.RunID)
	if file := new(fs.PathError); err != nil && errors.As(err, &file) {
		return v, err
	}
	if err != nil { // the file exists but is no journal of this version
		v.Problems = append(v.Problems, err.Error())
		return v, nil
	}
	defer j.Close()
	if j.Damage != "" || j.Torn > 0 {
		if j.Torn > 0 {
			v.Problems = append(v.Problems, fmt.Sprintf("the journal ends with %s of an incomplete record", diag.Plural(j.Torn, "byte")))
		} else {
			v.Problems = append(v.Problems, j.Damage)
		}
		return v, nil
	}
	if v.Groups, err = j.CheckChain(); err != nil {
		v.Problems = append(v.Problems, err.Error())
	}
	if !j.Chained() {
		v.Notes = append(v.Notes, "the journal is of format 1, which has no chain")
	}
	rec, ok, err := j.Record()
	if err != nil {
		v.Problems = append(v.Problems, err.Error())
		return v, nil
	}
	if !ok {
		return v, diag.WithHint(diag.Environment("run %s has no record yet: it has not ended", v.RunID), "resume it first: thresh run --resume "+v.RunID)
	}
	text, err := json.Marshal(rec)
	if err != nil {
		return v, err
	}
	if kept, err := st.Record(v.RunID); err != nil {
		v.Problems = append(v.Problems, err.Error())
	} else if other, err := json.Marshal(kept); err != nil || !bytes.Equal(text, other) {
		v.Problems = append(v.Problems, "the record that reports show differs from the journal's last one")
	}
	if err := st.CheckOutline(v.RunID); err != nil {
		v.Problems = append(v.Problems, err.Error())
	}
	damaged, err := st.Damaged(v.RunID)
	if err != nil {
		return v, err
	}
	v.Problems = append(v.Problems, damaged...)
	m := j.Manifest()
	c, _, changed, err := a.Stored(ctx, st.Blob, m)
	if err != nil && len(damaged) > 0 {
		return v, nil // the problem says why
	}
	if err != nil {
		return v, err
	}
	for _, p := range changed {
		v.Notes = append(v.Notes, p+" has changed since the run")
	}
	problems, err := run.Verify(j, &rec, c.Campaigns)
	v.Problems = append(v.Problems, problems...)
	if err != nil {
		return v, err
	}
	for _, x := range rec.Campaigns {
		v.Cases += x.Cases.Executed()
	}
	for _, f := range rec.Findings {
		for _, s := range f.Samples {
			if s.Blob == "" {
				continue
			}
			if _, err := st.Blob(s.Blob); errors.Is(err, fs.ErrNotExist) {
				v.Problems = append(v.Problems, fmt.Sprintf("%s: the input of case %d: %v", f.ID, s.Case.Index, err))
			}
		}
	}
	if job.Sample > 0 {
		err := a.sample(ctx, st, &v, &rec, job.Sample)
		if err != nil && (len(v.Problems) == 0 || ctx.Err() != nil) { // otherwise the problems say that a case is out of place
			return v, err
		}
	}
	if job.Attest == "" || len(v.Problems) > 0 {
		return v, nil
	}
	key, err := fleet.ReadPrivateKey(job.Attest)
	if err != nil {
		return v, err
	}
	v.Statement, err = attest(key, v.RunID, says{m.Identities, m.Digests, rec.Verdict, rec.Digest, rec.Environment.Root, recordSum(text)})
	return v, err
}

func recordSum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func attest(key ed25519.PrivateKey, runID string, p says) ([]byte, error) {
	payload, err := json.Marshal(statement{statementType, []subject{{runID, map[string]string{"sha256": p.Record}}}, predicateType, p})
	if err != nil {
		return nil, err
	}
	e := envelope{PayloadType: payloadType, Payload: payload}
	public := key.Public().(ed25519.PublicKey)
	e.Signatures = []signature{{hex.EncodeToString(public), ed25519.Sign(key, e.encoded())}}
	text, err := json.MarshalIndent(e, "", "  ")
	return append(text, '\n'), err
}

// VerifyStatement checks a signed statement, and the run that it names against it.
func (a *App) VerifyStatement(ctx context.Context, st *Store, text []byte, job VerifyJob) (v Verified, err error) {
	var e envelope
	var s statement
	if json.Unmarshal(text, &e) != nil || e.PayloadType != payloadType || json.Unmarshal(e.Payload, &s) != nil ||
		s.Predicate != predicateType || len(s.Subject) != 1 || len(e.Signatures) == 0 {
		return v, diag.Refused("it is not a statement made by thresh verify --attest")
	}
	var keys []ed25519.PublicKey
	if job.Trust != "" {
		if keys, err = fleet.ReadPublicKeys(job.Trust); err != nil {
			return v, err
		}
	} else if raw, err := hex.DecodeString(e.Signatures[0].KeyID); err == nil && len(raw) == ed25519.PublicKeySize {
		keys = append(keys, raw)
	}
	for _, k := range keys {
		for _, sig := range e.Signatures {
			if ed25519.Verify(k, e.encoded(), sig.Sig) {
				v.SignedBy = hex.EncodeToString(k)
			}
		}
	}
	if v.SignedBy == "" {
		v.RunID = s.Subject[0].Name
		v.Problems = append(v.Problems, "no trusted key signed this statement")
		return v, nil
	}
	signed := v.SignedBy
	if v, err = a.Verify(ctx, st, s.Subject[0].Name, VerifyJob{Sample: job.Sample}); err != nil {
		return v, err
	}
	v.SignedBy = signed
	j, err := st.OpenJournal(v.RunID)
	if err != nil && len(v.Problems) > 0 {
		return v, nil // the problem says so
	}
	if err != nil {
		return v, err
	}
	defer j.Close()
	rec, _, err := j.Record()
	if err != nil {
		return v, nil // the problems say so
	}
	record, err := json.Marshal(rec)
	if err != nil {
		return v, err
	}
	m := j.Manifest()
	now := says{m.Identities, m.Digests, rec.Verdict, rec.Digest, rec.Environment.Root, recordSum(record)}
	for _, x := range []struct {
		what      string
		then, now any
	}{
		{"identities", s.Says.Identities, now.Identities}, {"system", s.Says.System, now.System}, {"verdict", s.Says.Verdict, now.Verdict},
		{"digest", s.Says.Digest, now.Digest}, {"root", s.Says.Root, now.Root}, {"record", s.Says.Record, now.Record},
	} {
		p, _ := json.Marshal(x.then) // both were read from JSON
		q, _ := json.Marshal(x.now)
		if !bytes.Equal(p, q) && !(string(p) == "null" && string(q) == "{}") {
			v.Problems = append(v.Problems, fmt.Sprintf("the statement's %s is %s, that of the run %s", x.what, p, q))
		}
	}
	return v, nil
}

// sample executes a share of the cases again, at least one per campaign. The run's digest selects
// them, so whoever forges outcomes cannot know which are checked.
func (a *App) sample(ctx context.Context, st *Store, v *Verified, rec *campaign.Record, share float64) error {
	for _, cr := range rec.Campaigns {
		if cr.Cases.Run == 0 {
			continue
		}
		r, err := a.revive(ctx, st, v.RunID, cr.Contract, cr.Name)
		if err != nil {
			return err
		}
		var chosen []store.Entry
		var first store.Entry
		least, left := uint32(math.MaxUint32), cr.Cases.Executed()
		for e := range run.Outcomes(r.journal, r.index) {
			sum := sha256.Sum256([]byte(rec.Digest + "/" + rec.Environment.Root + "/" + cr.Name + "/" + strconv.FormatInt(e.Case.Index, 10)))
			lot := binary.BigEndian.Uint32(sum[:])
			if lot < least {
				first, least = e, lot
			}
			if float64(lot) < share*(1<<32) {
				chosen = append(chosen, e)
			}
			if left--; left == 0 {
				break
			}
		}
		if len(chosen) == 0 {
			chosen = append(chosen, first)
		}
		err = r.sample(ctx, v, chosen)
		if err = errors.Join(err, r.close()); err != nil {
			return err
		}
	}
	return nil
}

func (r *revived) sample(ctx context.Context, v *Verified, chosen []store.Entry) error {
	id := r.campaign.Identity()
	may := campaign.TraitsOf(r.campaign)
	for _, e := range chosen {
		then, i := e.Outcome, e.Case.Index
		at, state, err := run.RoundCaseAt(r.campaign, r.index, r.journal, i)
		if err != nil {
			return err
		}
		if may.Comparable == campaign.CompareNone || then.Verdict == campaign.VerdictError || may.Once(at, &then) != "" {
			v.Unknown++
			continue
		}
		now, err := r.exec.Execute(ctx, state, at)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || now.Verdict == campaign.VerdictError {
			v.Unknown++
			continue
		}
		v.Compared++
		if what := may.Comparable.Differing(then, now); what != "" {
			v.Problems = append(v.Problems, fmt.Sprintf("%s: case %d is stored as %s, and executed again it is %s (%s)", id.Name, i, brief(then), brief(now), what))
		}
	}
	return nil
}

func brief(o campaign.Outcome) string {
	if o.Title == "" {
		return o.Verdict.String()
	}
	return o.Verdict.String() + " (" + o.Title + ")"
}

// ReadStatement returns the content of the file named what; false if there is no such file.
func ReadStatement(what string) ([]byte, bool) {
	info, err := os.Stat(what)
	if err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	text, err := os.ReadFile(what)
	return text, err == nil
}
