package fleet

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/thresh-dev/thresh/diag"
)

// TrustFile is the file in a folder of keys that lists the members of a fleet, one per line: "ROLE
// NAME PUBLIC-KEY"; # begins a comment. Keys are NATS nkeys, which are ed25519 keys with a prefix
// and a checksum. A member's private key is in NAME.key, readable only by its owner.
const TrustFile = "trust"

// Member is an enrolled member of a fleet.
type Member struct{ Role, Name, Key string }

// InitKeys creates a folder of keys for a fleet of one coordinator and one worker.
func InitKeys(dir string) ([]Member, error) {
	if _, err := os.Lstat(filepath.Join(dir, TrustFile)); err == nil {
		return nil, diag.Refused("%s is already the trust list of a fleet", filepath.Join(dir, TrustFile))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, diag.Environment("make the folder of keys: %w", err)
	}
	for _, role := range []string{RoleCoordinator, RoleWorker} {
		if _, err := Enroll(dir, role, role, ""); err != nil {
			return nil, err
		}
	}
	return Members(dir)
}

var memberName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Enroll adds a member to the trust list of a folder. Without a public key it creates a pair and
// writes the private one to NAME.key.
func Enroll(dir, role, name, key string) (m Member, err error) {
	if !memberName.MatchString(name) {
		return m, diag.Refused("%q is not a valid member name: want up to 64 letters, digits, dots, hyphens and underscores", name)
	}
	members, err := Members(dir)
	if err != nil && !(errors.Is(err, os.ErrNotExist) && role == RoleCoordinator) {
		return m, err
	}
	if slices.ContainsFunc(members, func(x Member) bool { return x.Name == name }) {
		return m, diag.Refused("%s is already a member; revoke it first to give it another key", name)
	}
	m = Member{role, name, key}
	if key == "" {
		pair, err := nkeys.CreateUser()
		if err != nil {
			return m, diag.Environment("make a key: %w", err)
		}
		seed, err := pair.Seed()
		if err == nil {
			m.Key, err = pair.PublicKey()
		}
		if err == nil {
			err = writeNew(filepath.Join(dir, name+".key"), append(seed, '\n'))
		}
		if err != nil {
			return m, diag.Environment("write the key of %s: %w", name, err)
		}
	} else if !nkeys.IsValidPublicUserKey(key) {
		return m, diag.Refused("%q is not the public key of a member: want an nkey of a user: U and 55 characters", key)
	}
	return m, writeTrust(dir, append(members, m))
}

func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// Revoke removes a member, given by name or public key, from the trust list. Running coordinators
// and workers notice within seconds.
func Revoke(dir, who string) (Member, error) {
	members, err := Members(dir)
	if err != nil {
		return Member{}, err
	}
	i := slices.IndexFunc(members, func(m Member) bool { return m.Name == who || m.Key == who })
	if i < 0 {
		names := make([]string, len(members))
		for i, m := range members {
			names[i] = m.Name
		}
		return Member{}, diag.WithHint(diag.Refused("%q is not a member of this fleet", who), "members: "+strings.Join(names, ", "))
	}
	m := members[i]
	return m, writeTrust(dir, slices.Delete(members, i, i+1))
}

// Members reads the trust list of a folder.
func Members(dir string) ([]Member, error) {
	path := filepath.Join(dir, TrustFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, diag.WithHint(diag.Refused("read the trust list of a fleet: %w", err), "thresh fleet init "+dir+" makes one")
	}
	var list []Member
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) != 3 || f[0] != RoleCoordinator && f[0] != RoleWorker || !memberName.MatchString(f[1]) || !nkeys.IsValidPublicUserKey(f[2]) {
			return nil, diag.Refused("%s:%d: want %s or %s, a name and a public key, got %q", path, n, RoleCoordinator, RoleWorker, diag.Cut(line, 80))
		}
		list = append(list, Member{f[0], f[1], f[2]})
	}
	return list, nil
}

// writeTrust replaces the trust list atomically: a concurrent reader sees either the old list or
// the new one.
func writeTrust(dir string, members []Member) error {
	var b strings.Builder
	b.WriteString("# The members of this fleet. A worker needs this file and its own .key, nothing else from this folder.\n")
	for _, m := range members {
		fmt.Fprintf(&b, "%s %s %s\n", m.Role, m.Name, m.Key)
	}
	path := filepath.Join(dir, TrustFile)
	err := os.WriteFile(path+".new", []byte(b.String()), 0o600)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return diag.Environment("write the trust list of a fleet: %w", err)
	}
	return nil
}

// Keys holds a member's own key and the members that it trusts.
type Keys struct {
	Self Member
	pair nkeys.KeyPair
	dir  string

	mu     sync.Mutex
	trust  map[string]Member // by key
	looked time.Time         // when the trust list was last read
}

// OpenKeys reads a folder of keys for a member with a role: the first in the trust list whose
// private key is in the folder.
func OpenKeys(dir, role string) (*Keys, error) {
	members, err := Members(dir)
	if err != nil {
		return nil, err
	}
	k := &Keys{dir: dir}
	for _, m := range members {
		path := filepath.Join(dir, m.Name+".key")
		seed, err := os.ReadFile(path)
		if m.Role != role || errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, diag.Refused("read a key: %w", err)
		}
		pair, err := nkeys.FromSeed(bytes.TrimSpace(seed))
		if err != nil {
			return nil, diag.Refused("%s is not a private key: %w", path, err)
		}
		if public, err := pair.PublicKey(); err != nil || public != m.Key {
			return nil, diag.Refused("%s is not the key that the trust list has for %s", path, m.Name)
		}
		k.Self, k.pair = m, pair
		k.trustMembers(members)
		return k, nil
	}
	return nil, diag.WithHint(diag.Refused("%s has no key of a %s that its trust list names", dir, role), "thresh fleet list "+dir+" shows the members, thresh fleet enroll "+dir+" NAME adds a worker")
}

func (k *Keys) trustMembers(members []Member) {
	trust := make(map[string]Member, len(members))
	for _, m := range members {
		trust[m.Key] = m
	}
	k.trust, k.looked = trust, time.Now()
}

// member returns the member that has a key. It reads the trust list again after 2 seconds; an
// unreadable list changes nothing.
func (k *Keys) member(key string) (Member, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.looked) > 2*time.Second {
		k.looked = time.Now()
		if members, err := Members(k.dir); err == nil {
			k.trustMembers(members)
		}
	}
	m, ok := k.trust[key]
	return m, ok
}
