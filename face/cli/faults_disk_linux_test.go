package cli_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// namespaces says that this process has mounts of its own.
const namespaces = "THRESH_APP_TEST_NAMESPACES"

// isolated reports whether the test may mount file systems. If not, it has been
// run in another process that may.
func isolated(t *testing.T) bool {
	t.Helper()
	if os.Getenv(namespaces) != "" {
		return true
	}
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), namespaces+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		// The mounts are seen by the child alone and go when it does.
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &exit):
		t.Skipf("no name spaces of one's own here: %v", err)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("%s", out)
	case err != nil || !strings.Contains(string(out), "--- PASS"):
		t.Errorf("%v:\n%s", err, out)
	}
	return false
}

// mount makes a folder of the lab its own file system.
func (l *lab) mount(name, options string) string {
	l.t.Helper()
	dir := l.path(name)
	must(l.t, os.MkdirAll(dir, 0o755))
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		l.t.Skipf("cannot mount: %v", err)
	}
	l.t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

func readOnly(t *testing.T, dir string, yes bool) {
	t.Helper()
	flags := uintptr(unix.MS_REMOUNT)
	if yes {
		flags |= unix.MS_RDONLY
	}
	must(t, unix.Mount("tmpfs", dir, "tmpfs", flags, ""))
}

// filling is a program that fills the disk in its fifth case, once, and fails
// in others before and after. What a folder's removal gives back is taken at
// once for as long as the filler is there, or the little that a run still writes
// would now and then find room.
const filling = `[ ! -e "$LAB/disk/filler" ] || cat /dev/zero >>"$LAB/disk/filler" 2>/dev/null
case $LLMFUZZ_RUN_ID in
	*_case_000005) [ -e "$LAB/filled" ] || { : >"$LAB/filled"; cat /dev/zero >"$LAB/disk/filler"; } 2>/dev/null; exit 0 ;;
	*3 | *7) echo "failed at $LLMFUZZ_RUN_ID" >&2; exit 3 ;;
esac
exit 0`

// fullDisk runs a campaign whose disk gets full, makes room and goes on. Whether a worker could report
// case 3 before the disk was full decides between the exit codes 1 and 3.
func fullDisk(t *testing.T, l *lab, disk string, args ...string) {
	t.Helper()
	l.document(edits{"mutations.cases": 1500, "target.work_root_base": l.path("disk/work")})
	args = append([]string{"-j", "2", "--executor", "spawn"}, args...)
	l.write("filled", "")
	calm := append(append([]string(nil), args...), "--store", l.path("calm"), "--keep", "none")
	expect(t, l.run(calm...), 1)
	want := l.report()
	must(t, os.Remove(l.path("filled")))
	must(t, os.Remove(l.path("report.json")))

	ended := func(r result) int {
		if strings.Contains(r.out, "failed at cmp_") {
			return 1
		}
		return 3
	}
	r := l.run(args...)
	expect(t, r, ended(r), "no space left on device", "--resume")
	if _, err := os.Stat(l.path("filled")); err != nil {
		t.Fatal("the disk was never filled")
	}
	// While it is full, nothing else is harmed and nothing half done is left.
	if r := l.resume(); r.code != ended(r) {
		t.Errorf("going on with the disk still full: exit code %d: %s", r.code, r.text())
	}
	l.whole(filepath.Join(disk, "work/runs"))
	must(t, os.Remove(filepath.Join(disk, "filler")))
	expect(t, l.resume("--executor", "spawn"), 2, "--executor")
	expect(t, l.resume(), 1)
	got := l.report()
	equal(t, "digest", got.Digest, want.Digest)
	equal(t, "findings", len(got.Findings), len(want.Findings))
	for i, f := range got.Findings {
		equal(t, "finding", f.ID+fmt.Sprint(f.Cases), want.Findings[i].ID+fmt.Sprint(want.Findings[i].Cases))
	}
	expect(t, l.stored("replay", got.Findings[0].ID), 1)
	l.whole(filepath.Join(disk, "work/runs"))
}

func TestFullDiskUnderTheStore(t *testing.T) {
	if !isolated(t) {
		return
	}
	l := newLab(t, filling)
	disk := l.mount("disk", "size=4m")
	must(t, os.Symlink(filepath.Join(disk, "store"), l.path("store")))
	must(t, os.Mkdir(filepath.Join(disk, "store"), 0o755))
	fullDisk(t, l, disk, "--keep", "none")
}

func TestFullDiskUnderTheRunFolders(t *testing.T) {
	if os.Getenv("THRESH_TEST_LONG") == "" {
		t.Skip("runs some thousands of cases, as the test above: set THRESH_TEST_LONG=1")
	}
	if !isolated(t) {
		return
	}
	l := newLab(t, filling)
	disk := l.mount("disk", "size=32m")
	fullDisk(t, l, disk)
}

func TestFullDiskUnderReports(t *testing.T) {
	if !isolated(t) {
		return
	}
	l := newLab(t, "exit 3")
	disk := l.mount("disk", "size=64k")
	must(t, os.WriteFile(filepath.Join(disk, "report.html"), []byte("the one before"), 0o644))
	filler, err := os.Create(filepath.Join(disk, "filler"))
	must(t, err)
	for err == nil {
		_, err = filler.Write(make([]byte, 512))
	}
	filler.Close()
	expect(t, l.run("--report", "html="+filepath.Join(disk, "report.html")), 3, "report.html", "no space left on device")
	text, err := os.ReadFile(filepath.Join(disk, "report.html"))
	must(t, err)
	equal(t, "report", string(text), "the one before")
	if left, err := os.ReadDir(disk); err != nil || len(left) != 2 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	must(t, os.Remove(filler.Name()))
	expect(t, l.stored("report", "--format", "tap", "-o", filepath.Join(disk, "report.tap")), 0)
}

func TestReadOnlyDisk(t *testing.T) {
	if !isolated(t) {
		return
	}
	l := newLab(t, crasher)
	disk := l.mount("disk", "size=64m")
	store := filepath.Join(disk, "store")
	l.document(edits{"target.work_root_base": filepath.Join(disk, "work")})
	expect(t, l.run("--store", l.path("calm"), "--keep", "none"), 1)
	want := l.report().Digest
	expect(t, l.run("--store", store, "--keep", "none"), 1)

	// The store can be read and not written.
	readOnly(t, disk, true)
	expect(t, l.run("--store", store), 3, store, "read-only file system")
	expect(t, l.run("--store", filepath.Join(disk, "new")), 3, filepath.Join(disk, "new"), "read-only file system")
	expect(t, call("list", "--store", store), 0, "lab")

	// The run folders cannot be written.
	expect(t, l.run(), 3, "read-only file system", "thresh run --resume")
	readOnly(t, disk, false)
	expect(t, l.resume(), 1)
	equal(t, "digest after mending", l.report().Digest, want)
	l.whole(filepath.Join(disk, "work/runs"))
	expect(t, l.run("--store", store), 1)
}

// TestFileSizeLimit runs under a shell's limit on the size of files, which ends
// a process by a signal unless it is prepared.
func TestFileSizeLimit(t *testing.T) {
	l := newLab(t, `case $LLMFUZZ_RUN_ID in *3) echo "failed" >&2; exit 3 ;; esac; exit 0`)
	l.document(edits{"mutations.cases": 600})
	expect(t, l.run("--store", l.path("calm"), "--keep", "none", "--executor", "spawn"), 1)
	want := l.report().Digest
	thresh := child(t, "thresh")
	cmd := exec.Command("/bin/sh", "-c", `ulimit -f 30; exec "$@"`, "sh", thresh.Path,
		"run", l.path("spec.json"), "--store", l.path("store"), "--keep", "none", "--executor", "spawn")
	cmd.Env = thresh.Env
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 3 || !strings.Contains(string(out), "file too large") || !strings.Contains(string(out), "--resume") {
		t.Fatalf("%v: %s", err, out)
	}
	expect(t, l.resume(), 1, "600 cases")
	equal(t, "digest after mending", l.report().Digest, want)
}
