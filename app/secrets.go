package app

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/secret"
	"github.com/thresh-dev/thresh/engine/seq"
)

// secretVariable is what the variables are called that give the values of a stored
// document's literal secrets: THRESH_SECRET_1 is that of ${secret:1}.
const secretVariable = "THRESH_SECRET_"

// systemSchema stands in files that say how a system is reached.
var systemSchema = []byte("thresh.system.v1")

// credentials are the variables that documents send as such, with the files that may give
// them values.
type credentials struct{ names, files []string }

// Options of formats that give variables their values.
const (
	optVar     = "var"
	optVarFile = "var-file"
)

// credentialsOf are those of documents with options.
func credentialsOf(docs []Document, options map[string][]string) (c credentials) {
	if len(options[optVar])+len(options[optVarFile]) == 0 {
		return c
	}
	for _, d := range docs {
		c.names = append(c.names, secret.Scan(d.Data).Variables...)
	}
	slices.Sort(c.names)
	return credentials{slices.Compact(c.names), options[optVarFile]}
}

// scan finds the secrets of a file that a document names: those that a system file has, and
// the values of credentials. A seed or a dictionary is data, and stays as it is.
func (c credentials) scan(path string, data []byte) (found secret.Declared, declares bool) {
	if slices.Contains(c.files, path) {
		return secret.ScanVariables(data, c.names), true
	}
	if declares = bytes.Contains(data, systemSchema); declares {
		found = secret.Scan(data)
	}
	return found, declares
}

// sealed is a file as it is stored.
func (c credentials) sealed(path string, data []byte) []byte {
	found, _ := c.scan(path, data)
	return secret.Seal(data, found)
}

// valued are options with the values of credentials that are not stored, which are in the environment.
func valued(options map[string][]string) (map[string][]string, error) {
	out := maps.Clone(options)
	out[optVar] = slices.Clone(out[optVar])
	for i, text := range out[optVar] {
		if name, held := secret.Held(text); held {
			v, ok := os.LookupEnv(name)
			if !ok {
				return nil, diag.WithHint(diag.Environment("the value of %s is a secret and is not stored", name), "export "+name+"=...")
			}
			out[optVar][i] = name + "=" + v
		}
	}
	if len(out[optVar]) == 0 {
		return options, nil
	}
	return out, nil
}

// sealed is a document as it is stored: without its literal secrets.
func sealed(text []byte) []byte { return secret.Seal(text, secret.Scan(text)) }

// storedAs names what a store keeps of a document that is alone in its run.
func storedAs(d Document) string {
	sum := sha256.Sum256(sealed(d.Data))
	return hex.EncodeToString(sum[:])
}

// revealed is a text with its literal secrets, and these. Those of a stored text
// are in the file that it was, or in the environment. Found is what scan finds in text.
func revealed(path string, text []byte, found secret.Declared, scan func([]byte) secret.Declared) ([]byte, []secret.Secret, error) {
	given := make(map[int]string)
	if found.Held > 0 {
		if now, err := os.ReadFile(path); err == nil && !secret.Sealed(now) {
			if d := scan(now); bytes.Equal(secret.Seal(now, d), text) {
				text, found = now, d
			}
		}
	}
	for i, l := range found.Literals {
		given[found.Number(i)] = l.Value
	}
	out, err := secret.Reveal(text, func(n int) (v string, ok bool) {
		if v, ok = os.LookupEnv(secretVariable + strconv.Itoa(n)); ok {
			given[n] = v
		}
		return v, ok
	})
	if missing, ok := errors.AsType[*secret.MissingError](err); ok {
		name := secretVariable + strconv.Itoa(missing.N)
		return nil, nil, diag.WithHint(diag.Environment("%s: needs a secret, which is not stored: %w", path, err),
			"export "+name+"=..., or put the document back as it was")
	}
	var list []secret.Secret
	for _, n := range slices.Sorted(maps.Keys(given)) {
		list = append(list, secret.Secret{Name: strconv.Itoa(n), Value: given[n]})
	}
	return out, list, err
}

// keeper knows the secrets of the texts that it has read.
type keeper struct {
	// lenient: placeholders may stay, since nothing is executed.
	lenient bool
	list    []secret.Secret
	literal bool  // one of them stands in a text
	missing error // a secret of a file: its document is not to blame
}

// reveal is a text with its literal secrets. Their names begin with prefix.
func (k *keeper) reveal(path, prefix string, text []byte, found secret.Declared, scan func([]byte) secret.Declared) ([]byte, error) {
	data, values, err := revealed(path, text, found, scan)
	if err != nil && k.lenient {
		data, values, err = text, nil, nil
	}
	for _, s := range values {
		k.literal = true
		k.list = append(k.list, secret.Secret{Name: prefix + s.Name, Value: s.Value})
	}
	for _, name := range found.Variables {
		if v, ok := os.LookupEnv(name); ok {
			k.list = append(k.list, secret.Secret{Name: name, Value: v})
		}
	}
	return data, err
}

// reader reads files with their literal secrets.
func (k *keeper) reader(read func(string) ([]byte, error), c credentials) func(string) ([]byte, error) {
	if read == nil {
		return nil
	}
	return func(path string) ([]byte, error) {
		data, err := read(path)
		if found, declares := c.scan(path, data); err == nil && declares {
			data, err = k.reveal(path, "file ", data, found, func(b []byte) secret.Declared { d, _ := c.scan(path, b); return d })
			k.missing = cmp.Or(k.missing, err)
		}
		return data, err
	}
}

// redact takes secrets out of diagnostics. In a line of a document a mark is as
// long as what it replaces, so that carets stay where they belong.
func redact(r *secret.Redactor, list diag.List) {
	if r == nil {
		return
	}
	lines := make(map[string]string) // one long line may have a thousand errors
	for i := range list {
		d := &list[i]
		if _, known := lines[d.Source]; !known {
			lines[d.Source] = string(r.Fixed([]byte(d.Source)))
		}
		d.Message, d.Hint, d.Source = r.String(d.Message), r.String(d.Hint), lines[d.Source]
		for j := range d.Related {
			d.Related[j].Message = r.String(d.Related[j].Message)
		}
	}
}

// compileSealed compiles a document whose secrets stay where they are: what its
// campaigns give to journals, reports and files has marks in their place, and
// their identity does not depend on them. It returns what of the document is stored.
func compileSealed(ctx context.Context, d *Document, set campaign.Settings, c credentials) (camps []campaign.Any, kept []byte, problems diag.List, err error) {
	k := keeper{lenient: set.Check}
	given := d.Data
	if d.Release == nil {
		d.Release = func() {}
	}
	found := secret.ScanLong(given, d.Release)
	kept = secret.Seal(given, found)
	if d.Data, err = k.reveal(d.Path, "", given, found, secret.Scan); err != nil {
		return nil, kept, nil, err
	}
	read := set.Read
	set.Read = k.reader(read, c)
	var r *secret.Redactor // known once everything was read
	set.Redact = func(b []byte) []byte {
		if r == nil {
			return b
		}
		return r.Bytes(b)
	}
	camps, problems = d.Contract.Compile(ctx, d.Spec, set)
	if k.missing != nil {
		return nil, kept, nil, k.missing
	}
	r = secret.New(k.list)
	if r == nil {
		return camps, kept, problems, nil
	}
	redact(r, problems)
	ids := seq.Map(camps, func(x campaign.Any) campaign.Identity { return x.Identity() })
	if k.literal && !set.Check {
		ids = sealedIdentities(ctx, *d, kept, set, read, c, ids)
	}
	camps = slices.Clone(camps)
	for i, x := range camps {
		camps[i] = redactCampaign(x, ids[i], r)
	}
	return camps, kept, problems, nil
}

// sealedIdentities are the identities of the campaigns of a document that has
// other words for its secrets.
func sealedIdentities(ctx context.Context, d Document, kept []byte, set campaign.Settings, read func(string) ([]byte, error), c credentials, ids []campaign.Identity) []campaign.Identity {
	worded := func(text []byte) []byte { // as it may stand in a URL
		text, _ = secret.Reveal(text, func(n int) (string, bool) { return fmt.Sprintf("secret-%d-secret", n), true }) // all are known
		return text
	}
	d.Data = worded(kept)
	set.Read = func(path string) ([]byte, error) {
		data, err := read(path)
		if _, declares := c.scan(path, data); err == nil && declares {
			data = worded(c.sealed(path, data))
		}
		return data, err
	}
	camps, _ := d.Contract.Compile(ctx, d.Spec, set)
	if len(camps) != len(ids) {
		return ids
	}
	for i, x := range camps {
		ids[i] = x.Identity()
	}
	return ids
}
