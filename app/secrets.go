package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/thresh-dev/thresh/campaign"
	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/engine/secret"
)

// secretVariable is what the variables are called that give the values of a stored
// document's literal secrets: THRESH_SECRET_1 is that of ${secret:1}.
const secretVariable = "THRESH_SECRET_"

// systemSchema stands in files that say how a system is reached.
var systemSchema = []byte("thresh.system.v1")

// declares reports whether a file that a document names may declare secrets. A seed
// or a dictionary is data, and stays as it is.
func declares(path string, data []byte) bool { return bytes.Contains(data, systemSchema) }

// sealed is a text as it is stored: without its literal secrets.
func sealed(text []byte) []byte {
	return secret.Seal(text, secret.Scan(text), secret.Placeholder)
}

// storedAs names what a store keeps of a document that is alone in its run.
func storedAs(d Document) string {
	sum := sha256.Sum256(sealed(d.Data))
	return hex.EncodeToString(sum[:])
}

// revealed is a stored text with its literal secrets: those of the environment, or
// of the file that it was.
func revealed(path string, text []byte) ([]byte, error) {
	if !secret.Sealed(text) {
		return text, nil
	}
	if now, err := os.ReadFile(path); err == nil && bytes.Equal(sealed(now), text) {
		return now, nil
	}
	out, err := secret.Reveal(text, func(n int) (string, bool) { return os.LookupEnv(secretVariable + strconv.Itoa(n)) })
	var missing *secret.MissingError
	if errors.As(err, &missing) {
		name := secretVariable + strconv.Itoa(missing.N)
		return nil, diag.WithHint(diag.Environment("%s: a secret that is not stored is needed: %w", path, err),
			"export "+name+"=..., or put the document back as it was")
	}
	return out, err
}

// compileSealed compiles a document whose secrets stay where they are: what its
// campaigns give to journals, reports and files has marks in their place, and
// their identity does not depend on them.
func compileSealed(ctx context.Context, d *Document, set campaign.Settings) ([]campaign.Any, diag.List, error) {
	data, err := revealed(d.Path, d.Data)
	if err != nil {
		return nil, nil, err
	}
	d.Data = data
	var list []secret.Secret
	literal := false
	learn := func(text []byte, prefix string) {
		found := secret.Scan(text)
		for _, name := range found.Variables {
			if v, ok := os.LookupEnv(name); ok {
				list = append(list, secret.Secret{Name: name, Value: v})
			}
		}
		for i, l := range found.Literals {
			literal = true
			list = append(list, secret.Secret{Name: prefix + strconv.Itoa(i+1), Value: l.Value})
		}
	}
	learn(d.Data, "")
	read := set.Read
	if read != nil {
		set.Read = func(path string) ([]byte, error) {
			data, err := read(path)
			if err == nil && declares(path, data) {
				learn(data, "file ")
			}
			return data, err
		}
	}
	camps, problems := d.Contract.Compile(ctx, d.Spec, set)
	r := secret.New(list)
	if r == nil {
		return camps, problems, nil
	}
	for i := range problems {
		problems[i].Message, problems[i].Hint = r.String(problems[i].Message), r.String(problems[i].Hint)
	}
	ids := make([]campaign.Identity, len(camps))
	for i, x := range camps {
		ids[i] = x.Identity()
	}
	if literal {
		ids = sealedIdentities(ctx, *d, set, read, ids)
	}
	camps = slices.Clone(camps)
	for i, x := range camps {
		camps[i] = veil(x, ids[i], r)
	}
	return camps, problems, nil
}

// sealedIdentities are the identities of the campaigns of a document that has
// other words for its secrets.
func sealedIdentities(ctx context.Context, d Document, set campaign.Settings, read func(string) ([]byte, error), ids []campaign.Identity) []campaign.Identity {
	word := func(n int) string { return fmt.Sprintf("secret-%d-secret", n) } // as it may stand in a URL
	d.Data = secret.Seal(d.Data, secret.Scan(d.Data), word)
	set.Read = func(path string) ([]byte, error) {
		data, err := read(path)
		if err == nil && declares(path, data) {
			data = secret.Seal(data, secret.Scan(data), word)
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
