package fleet

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/thresh-dev/thresh/diag"
	"github.com/thresh-dev/thresh/store"
)

// Bundle is everything that a worker needs to compile a run's campaigns: what the store keeps of
// the run, including contents.
type Bundle struct {
	Manifest store.Manifest    `json:"manifest"`
	Blobs    map[string][]byte `json:"blobs"` // by the names that the manifest uses
}

// NewBundle collects the contents that a manifest names.
func NewBundle(m store.Manifest, blob func(name string) ([]byte, error)) (Bundle, error) {
	b := Bundle{Manifest: m, Blobs: make(map[string][]byte)}
	names := make([]string, 0, len(m.Specs)+len(m.Files))
	for _, s := range m.Specs {
		names = append(names, s.Blob)
	}
	for _, f := range m.Files {
		names = append(names, f)
	}
	for _, n := range names {
		if _, there := b.Blobs[n]; there {
			continue
		}
		data, err := blob(n)
		if err != nil {
			return b, fmt.Errorf("read %s for the fleet: %w", n, err)
		}
		b.Blobs[n] = data
	}
	return b, nil
}

// Blob returns a content of the bundle.
func (b Bundle) Blob(name string) ([]byte, error) {
	data, ok := b.Blobs[name]
	if !ok {
		return nil, fmt.Errorf("the bundle has no %s", name)
	}
	return data, nil
}

// maxBundle is how many bytes a worker unpacks at most.
const maxBundle = 2 << 30

// pack returns the bundle as an object, and the object's name, which is its digest.
func (b Bundle) pack() (name string, data []byte, err error) {
	text, err := json.Marshal(b)
	if err != nil {
		return "", nil, fmt.Errorf("encode the run's bundle: %w", err)
	}
	return packed("bundle", text)
}

// packed compresses data. The name contains the digest of the uncompressed data.
func packed(kind string, data []byte) (name string, out []byte, err error) {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return "", nil, fmt.Errorf("compress a %s: %w", kind, err)
	}
	defer w.Close()
	sum := sha256.Sum256(data)
	return kind + "-" + hex.EncodeToString(sum[:]), w.EncodeAll(data, nil), nil
}

// unpacked is the inverse of packed. Content that does not match the name is an error.
func unpacked(name string, data []byte) ([]byte, error) {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBundle))
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", name, err)
	}
	defer r.Close()
	out, err := r.DecodeAll(data, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", name, err)
	}
	sum := sha256.Sum256(out)
	if _, digest, _ := strings.Cut(name, "-"); digest != hex.EncodeToString(sum[:]) {
		return nil, fmt.Errorf("the content of %s does not match its name", name)
	}
	return out, nil
}

func unpackBundle(name string, data []byte) (Bundle, error) {
	var b Bundle
	text, err := unpacked(name, data)
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err != nil {
		return b, fmt.Errorf("read a run's bundle: %w", err)
	}
	return b, nil
}

// signed returns the bytes that an announcement's signature covers.
func (a Announcement) signed() []byte {
	a.Signature = nil
	text, err := json.Marshal(a)
	if err != nil {
		panic("an announcement of plain values cannot be encoded: " + err.Error())
	}
	return text
}

// Sign signs the announcement.
func (a *Announcement) Sign(key ed25519.PrivateKey) { a.Signature = ed25519.Sign(key, a.signed()) }

// Verify reports whether the announcement was signed by one of the keys.
func (a Announcement) Verify(keys []ed25519.PublicKey) bool {
	return slices.ContainsFunc(keys, func(k ed25519.PublicKey) bool { return ed25519.Verify(k, a.signed(), a.Signature) })
}

// WriteKeys creates a pair of keys: the private one in path, readable only by its owner, and the
// public one in path with .pub added. Neither file may exist.
func WriteKeys(path string) error {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return diag.Environment("make a key: %w", err)
	}
	for _, f := range []struct {
		name string
		mode os.FileMode
		data []byte
	}{{path, 0o600, private.Seed()}, {path + ".pub", 0o644, public}} {
		file, err := os.OpenFile(f.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode)
		if err != nil {
			return diag.Environment("write a key: %w", err)
		}
		_, err = fmt.Fprintln(file, base64.StdEncoding.EncodeToString(f.data))
		if cerr := file.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return diag.Environment("write %s: %w", f.name, err)
		}
	}
	return nil
}

// ReadPrivateKey reads what WriteKeys wrote to path. It refuses a .pub file: a public key has the
// same length, and with it as a seed anybody could sign.
func ReadPrivateKey(path string) (ed25519.PrivateKey, error) {
	if private, public := strings.CutSuffix(path, ".pub"); public {
		return nil, diag.WithHint(diag.Refused("%s is a public key; only a private key can sign", path), "sign with "+private)
	}
	keys, err := readKeys(path, ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	return ed25519.NewKeyFromSeed(keys[0]), nil
}

// ReadPublicKeys reads public keys, one per line; # begins a comment.
func ReadPublicKeys(path string) ([]ed25519.PublicKey, error) {
	keys, err := readKeys(path, ed25519.PublicKeySize)
	var list []ed25519.PublicKey
	for _, k := range keys {
		list = append(list, ed25519.PublicKey(k))
	}
	return list, err
}

func readKeys(path string, size int) ([][]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, diag.Refused("read a key: %w", err)
	}
	var keys [][]byte
	for n, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		key, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(key) != size {
			return nil, diag.Refused("%s:%d: not a key: want %d bytes in base64", path, n+1, size)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, diag.Refused("%s holds no key", path)
	}
	return keys, nil
}
