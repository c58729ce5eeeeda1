package lock

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if held, err := Held(path); held || err != nil {
		t.Fatalf("no file: held %v, %v", held, err)
	}
	l, err := Own(path)
	if err != nil {
		t.Fatal(err)
	}
	if held, _ := Held(path); !held {
		t.Error("an owned lock is not held")
	}
	_, err = Own(path)
	var he *HeldError
	if !errors.As(err, &he) {
		t.Fatalf("second owner: %v", err)
	}
	if he.PID != os.Getpid() || time.Since(he.Started) > time.Hour || time.Until(he.Started) > time.Minute {
		t.Errorf("owner is given as %d, started %v", he.PID, he.Started)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if held, _ := Held(path); held {
		t.Error("a lock given back is held")
	}
	if l, err = Own(path); err != nil {
		t.Fatalf("after giving back: %v", err)
	}
	l.Close()
}

func TestOwnSurvivesALook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	look, err := Wait(path, Shared)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	go func() {
		l, err := Own(path)
		if err == nil {
			err = l.Close()
		}
		got <- err
	}()
	look.Close()
	if err := <-got; err != nil {
		t.Fatalf("a lock that was looked at could not be had: %v", err)
	}
}

func TestRemovedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := samefile(f, path); err != nil {
		t.Fatal(err)
	}
	os.Remove(path)
	if err := samefile(f, path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
	os.WriteFile(path, nil, 0o666)
	if err := samefile(f, path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("replaced: %v", err)
	}
}

func TestUpgrade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	a, _ := Wait(path, Shared)
	b, err := Wait(path, Shared)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := a.TryUpgrade(); ok || err != nil {
		t.Fatalf("with another holder: %v, %v", ok, err)
	}
	if ok, _ := b.TryUpgrade(); ok {
		t.Fatal("a failed upgrade lost the shared lock")
	}
	b.Close()
	if ok, err := a.TryUpgrade(); !ok || err != nil {
		t.Fatalf("alone: %v, %v", ok, err)
	}
	if held, _ := Held(path); !held {
		t.Error("an upgraded lock is not exclusive")
	}
	if err := a.Downgrade(); err != nil {
		t.Fatal(err)
	}
	if held, _ := Held(path); held {
		t.Error("a downgraded lock is exclusive still")
	}
	a.Close()
}
