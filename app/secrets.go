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

// secretVariable is the prefix of the environment variables that give the values of a stored
// document's literal secrets: THRESH_SECRET_1 gives that of ${secret:1}.
const secretVariable = "THRESH_SECRET_"

// systemSchema appears in files that say how to reach a system.
var systemSchema = []byte("thresh.system.v1")

// credentials lists the variables that documents send as credentials, and the files that may set
// them.
type credentials struct{ names, files []string }

// Options of formats that set variables.
const (
	optVar     = "var"
	optVarFile = "var-file"
)

// credentialsOf returns the credentials of documents with options.
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

// scan finds the secrets in a file that a document names: those of a system file, and the values of
// credentials. A seed or a dictionary is data and stays unchanged.
func (c credentials) scan(path string, data []byte) (found secret.Declared, declares bool) {
	if slices.Contains(c.files, path) {
		return secret.ScanVariables(data, c.names), true
	}
	if declares = bytes.Contains(data, systemSchema); declares {
		found = secret.Scan(data)
	}
	return found, declares
}

// sealed returns a file as it is stored.
func (c credentials) sealed(path string, data []byte) []byte {
	found, _ := c.scan(path, data)
	return secret.Seal(data, found)
}

// valued returns options with the values of credentials. Values that are not stored come from the
// environment.
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

// sealed returns a document as it is stored: without its literal secrets.
func sealed(text []byte) []byte { return secret.Seal(text, secret.Scan(text)) }

// storedAs names what a store keeps of a document that is alone in its run.
func storedAs(d Document) string {
	sum := sha256.Sum256(sealed(d.Data))
	return hex.EncodeToString(sum[:])
}

// revealed returns a text with its literal secrets, and the secrets. Those of a stored text come
// from the original file if it has not changed, or from the environment. found is what scan finds
// in text.
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

// keeper collects the secrets of the texts that it reads.
type keeper struct {
	// lenient keeps placeholders without a value, since nothing is executed.
	lenient bool
	list    []secret.Secret
	literal bool  // some text contains a secret literally
	missing error // a file lacks a secret; the document is not at fault
}

// reveal returns a text with its literal secrets. It adds prefix to the names of the secrets it
// collects.
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

// reader returns a function that reads files with their literal secrets.
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

// redact takes secrets out of diagnostics. In a line of a document, a mark is as long as the secret
// it replaces, so that carets keep their place.
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

// compileSealed compiles a document so that its secrets stay inside: whatever its campaigns give to
// journals, reports and files has marks in their place, and their identity does not depend on the
// secrets. kept is what the store keeps of the document.
func compileSealed(ctx context.Context, d *Document, set campaign.Settings, c credentials) (camps []campaign.Any, kept []byte, problems diag.List, err error) {
	d.Name = cmp.Or(d.Name, diag.DocumentName(d.Path))
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
	var r *secret.Redactor // set after compilation, when everything has been read
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

// sealedIdentities returns the identities that the document's campaigns have with fixed words in
// place of the secrets.
func sealedIdentities(ctx context.Context, d Document, kept []byte, set campaign.Settings, read func(string) ([]byte, error), c credentials, ids []campaign.Identity) []campaign.Identity {
	worded := func(text []byte) []byte { // the words may appear in a URL
		text, _ = secret.Reveal(text, func(n int) (string, bool) { return fmt.Sprintf("secret-%d-secret", n), true }) // every number has a word
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
