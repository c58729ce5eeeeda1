package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/internal/testproc"
)

// server builds a real nats-server once.
var server = sync.OnceValues(func() (string, error) {
	if path, err := exec.LookPath("nats-server"); err == nil {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "thresh-nats-server-")
	if err != nil {
		return "", err
	}
	serverDir = dir
	path := filepath.Join(dir, "nats-server")
	cmd := exec.Command("go", "build", "-o", path, "github.com/nats-io/nats-server/v2")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building nats-server: %w: %s", err, out)
	}
	return path, nil
})

// fleet is servers and workers as processes of their own, and a lab whose
// program tells when it runs.
type fleetLab struct {
	*lab
	ticks *os.File
	urls  string
	nodes []*node
}

type node struct {
	args []string
	cmd  *exec.Cmd
}

// freePort is a port that was free a moment ago.
func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func newFleetLab(t *testing.T, servers int) *fleetLab {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a server and runs many processes")
	}
	path, err := server()
	if err != nil {
		t.Skip(err)
	}
	f := &fleetLab{lab: newLab(t, `printf . >"$LAB/ticks"
		read x <"$1"
		case "$x" in
			A*AAAA) exit 0 ;;
			A*) echo "odd end" >&2; exit 3 ;;
			B*) kill -SEGV $$ ;;
		esac
		echo "[1" >"$2/a.json"`)}
	f.ticks = f.ticker()
	f.document(edits{"mutations.cases": 300, "mutations.max_ops_per_case": 3, "mutations.rng_seed": 7})
	var urls, routes []string
	ports := make([]int, servers)
	for i := range servers {
		ports[i] = freePort(t)
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", ports[i]))
	}
	for i := range servers {
		port := freePort(t)
		urls = append(urls, fmt.Sprintf("nats://127.0.0.1:%d", port))
		n := &node{args: []string{path, "-a", "127.0.0.1", "-p", fmt.Sprint(port), "-n", fmt.Sprintf("node%d", i)}}
		if servers > 1 {
			n.args = append(n.args, "--cluster_name", "lab", "--cluster", fmt.Sprintf("nats://127.0.0.1:%d", ports[i]), "--routes", strings.Join(routes, ","))
		}
		f.nodes = append(f.nodes, n)
		f.up(n)
	}
	f.urls = strings.Join(urls, ",")
	return f
}

// up starts a server and waits until it takes connections.
func (f *fleetLab) up(n *node) {
	f.t.Helper()
	n.cmd = exec.Command(n.args[0], n.args[1:]...)
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must(f.t, n.cmd.Start())
	cmd := n.cmd
	f.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for range 200 {
		if c, err := net.Dial("tcp", "127.0.0.1:"+n.args[4]); err == nil {
			c.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	f.t.Fatal("the server does not come up")
}

func (n *node) kill() {
	_ = n.cmd.Process.Kill()
	_ = n.cmd.Wait()
}

// worker starts a worker process.
func (f *fleetLab) worker() *exec.Cmd {
	f.t.Helper()
	cmd := child(f.t, "thresh", "worker", "--fleet", f.urls, "-j", "1", "--insecure")
	cmd.Dir = f.t.TempDir()
	must(f.t, cmd.Start())
	f.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

func (f *fleetLab) coordinator(home string, args ...string) *exec.Cmd {
	f.t.Helper()
	must(f.t, os.MkdirAll(f.path(home), 0o755))
	cmd := child(f.t, "thresh", append([]string{"run", "--fleet", f.urls, "--fleet-patience", "2s", "--shrink", "20",
		"--report", "json=report.json"}, args...)...)
	cmd.Dir = f.path(home)
	return cmd
}

// calm is the report without a fleet.
func (f *fleetLab) calm() any {
	f.t.Helper()
	must(f.t, os.MkdirAll(f.path("calm"), 0o755))
	cmd := child(f.t, "thresh", "run", f.path("spec.json"), "--shrink", "20", "--report", "json=report.json", "--executor", "spawn")
	cmd.Dir = f.path("calm")
	if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 1 {
		f.t.Fatalf("%v: %s", err, out)
	}
	return withoutEnvironment(f.t, f.path("calm/report.json"))
}

// during runs a coordinator to its end and calls disturb with every so many
// executions of the program.
func (f *fleetLab) during(cmd *exec.Cmd, every func() int, disturb func()) {
	f.t.Helper()
	drain(f.t, f.ticks)
	var out strings.Builder
	cmd.Stderr = &out
	must(f.t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		_ = f.ticks.SetReadDeadline(time.Unix(1, 0)) // wakes the reader
		close(ended)
	}()
	for {
		if _, err := io.CopyN(io.Discard, f.ticks, int64(every())); err != nil {
			break
		}
		disturb()
	}
	<-ended
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		f.t.Fatalf("exit code %d: %s", code, out.String())
	}
}

func TestFleetWhoseWorkersAreKilled(t *testing.T) {
	if os.Getenv("THRESH_TEST_LONG") == "" {
		t.Skip("starts some sixty workers: set THRESH_TEST_LONG=1")
	}
	f := newFleetLab(t, 1)
	f.document(edits{"mutations.cases": 3000, "mutations.max_ops_per_case": 3, "mutations.rng_seed": 7})
	want := f.calm()
	workers := []*exec.Cmd{f.worker(), f.worker(), f.worker()}
	random := rand.New(rand.NewPCG(8, 8))
	const kills = 50
	done := 0
	f.during(f.coordinator("home", f.path("spec.json"), "--executor", "spawn"), func() int { return 10 + random.IntN(60) }, func() {
		if done == kills {
			return
		}
		i := random.IntN(len(workers))
		_ = workers[i].Process.Kill()
		_ = workers[i].Wait()
		workers[i] = f.worker()
		done++
	})
	if done < kills {
		t.Errorf("only %d workers were killed", done)
	}
	equal(t, "report", withoutEnvironment(t, f.path("home/report.json")), want)
}

// A worker that slept through its lease comes back with what nobody waits for
// any more.
func TestFleetWithAWorkerThatSleeps(t *testing.T) {
	if os.Getenv("THRESH_TEST_LONG") == "" {
		t.Skip("a lease has to run out: set THRESH_TEST_LONG=1")
	}
	f := newFleetLab(t, 1)
	want := f.calm()
	sleeper, _ := f.worker(), f.worker()
	slept := false
	f.during(f.coordinator("home", f.path("spec.json"), "--executor", "spawn"), func() int { return 60 }, func() {
		if slept {
			return
		}
		slept = true
		must(t, sleeper.Process.Signal(syscall.SIGSTOP))
		time.AfterFunc(4*time.Second, func() { _ = sleeper.Process.Signal(syscall.SIGCONT) })
	})
	equal(t, "report", withoutEnvironment(t, f.path("home/report.json")), want)
}

// The coordinator is killed and goes on with the same workers.
func TestFleetWhoseCoordinatorIsKilled(t *testing.T) {
	if os.Getenv("THRESH_TEST_LONG") == "" {
		t.Skip("takes half a minute: set THRESH_TEST_LONG=1")
	}
	f := newFleetLab(t, 1)
	const kills = 10
	// What was run is not run again: there must be cases left for the last one.
	f.document(edits{"mutations.cases": 200 * kills, "mutations.max_ops_per_case": 3, "mutations.rng_seed": 7})
	want := f.calm()
	f.worker()
	f.worker()
	args := []string{f.path("spec.json"), "--executor", "spawn"}
	for n := range kills {
		cmd := f.coordinator("home", args...)
		var text strings.Builder
		cmd.Stderr = &text
		if !killAfter(t, cmd, f.ticks, 40+n) {
			t.Fatalf("the run was over before it was killed: %s", text.String())
		}
		if list, _ := filepath.Glob(f.path("home/.thresh/runs/r*")); len(list) > 0 {
			args = []string{"--resume", "latest"}
		}
	}
	f.during(f.coordinator("home", args...), func() int { return 1000 }, func() {})
	equal(t, "report", withoutEnvironment(t, f.path("home/report.json")), want)
}

// One of three servers is killed and comes back.
func TestFleetOnAClusterThatLosesAServer(t *testing.T) {
	if os.Getenv("THRESH_TEST_LONG") == "" {
		t.Skip("a cluster takes half a minute to come up: set THRESH_TEST_LONG=1")
	}
	f := newFleetLab(t, 3)
	want := f.calm()
	f.worker()
	f.worker()
	step := 0
	f.during(f.coordinator("home", f.path("spec.json"), "--executor", "spawn"), func() int { return 60 }, func() {
		switch step++; step {
		case 1:
			f.nodes[1].kill()
		case 3:
			f.up(f.nodes[1])
		}
	})
	equal(t, "report", withoutEnvironment(t, f.path("home/report.json")), want)
}

// A case that ends its worker, whoever that is, is given up; all others have
// their outcomes.
func TestFleetWithACaseThatKillsWorkers(t *testing.T) {
	if os.Getenv("THRESH_TEST_LONG") == "" {
		t.Skip("four workers have to be missed, two seconds each: set THRESH_TEST_LONG=1")
	}
	f := newFleetLab(t, 1)
	f.program(fmt.Sprintf(`case "$LLMFUZZ_RUN_ID" in *17) [ $PPID = %d ] || kill -9 $PPID ;; esac; exit 0`, os.Getpid()))
	f.document(edits{"mutations.cases": 40})
	const poison = 1
	cmd := f.coordinator("home", f.path("spec.json"), "--executor", "spawn")
	ended := make(chan struct{})
	var keeping sync.WaitGroup
	keeping.Go(func() { // somebody else always starts a new one
		for {
			w := f.worker()
			gone := make(chan struct{})
			go func() { _ = w.Wait(); close(gone) }()
			select {
			case <-gone:
			case <-ended:
				_ = w.Process.Kill()
				<-gone
				return
			}
		}
	})
	out, _ := cmd.CombinedOutput()
	close(ended)
	keeping.Wait()
	text := f.read("home/report.json")
	if cmd.ProcessState.ExitCode() != 3 || strings.Count(text, `"verdict": "error"`) == 0 {
		t.Fatalf("exit code %d: %s", cmd.ProcessState.ExitCode(), out)
	}
	var rec struct {
		Campaigns []struct{ Cases map[string]int }
	}
	must(t, json.Unmarshal([]byte(text), &rec))
	if c := rec.Campaigns[0].Cases; c["error"] != poison || c["pass"] != 40-poison {
		t.Errorf("%v: %s", c, out)
	}
}

// The worker is in its own network that is cut off for ten seconds.
func TestFleetWithACutNetwork(t *testing.T) {
	if os.Getenv("THRESH_TEST_LONG") == "" {
		t.Skip("takes half a minute: set THRESH_TEST_LONG=1")
	}
	space := fmt.Sprintf("thresh%d", os.Getpid())
	ip := func(args ...string) error {
		out, err := exec.Command("ip", args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	if err := ip("netns", "add", space); err != nil {
		t.Skip("network namespaces cannot be made: ", err)
	}
	t.Cleanup(func() { _ = ip("netns", "del", space) })
	near, far := space[:8]+"a", space[:8]+"b"
	for _, args := range [][]string{
		{"link", "add", near, "type", "veth", "peer", "name", far}, {"link", "set", far, "netns", space},
		{"addr", "add", "10.213.7.1/30", "dev", near}, {"link", "set", near, "up"},
		{"-n", space, "addr", "add", "10.213.7.2/30", "dev", far}, {"-n", space, "link", "set", far, "up"}, {"-n", space, "link", "set", "lo", "up"},
	} {
		if err := ip(args...); err != nil {
			t.Skip("a network between namespaces cannot be made: ", err)
		}
	}
	f := newFleetLab(t, 1)
	want := f.calm()
	path, err := server()
	must(t, err)
	n := &node{args: []string{path, "-a", "0.0.0.0", "-p", fmt.Sprint(freePort(t))}}
	f.up(n)
	f.urls = "nats://10.213.7.1:" + n.args[4]
	inside := child(t, "thresh", "worker", "--fleet", f.urls, "-j", "1", "--insecure")
	inside.Args = append([]string{"ip", "netns", "exec", space}, append([]string{inside.Path}, inside.Args[1:]...)...)
	inside.Path, err = exec.LookPath("ip")
	must(t, err)
	must(t, inside.Start())
	t.Cleanup(func() { _ = inside.Process.Kill(); _ = inside.Wait() })
	cut := false
	f.during(f.coordinator("home", f.path("spec.json"), "--executor", "spawn"), func() int { return 40 }, func() {
		if cut {
			return
		}
		cut = true
		must(t, ip("link", "set", near, "down"))
		time.Sleep(10 * time.Second)
		must(t, ip("link", "set", near, "up"))
	})
	if !cut {
		t.Error("the network was never cut")
	}
	equal(t, "report", withoutEnvironment(t, f.path("home/report.json")), want)
}

// A worker takes runs from whom it knows, or says that it takes all.
func TestWorkerWantsToKnowWhoAnnounces(t *testing.T) {
	const url = "nats://127.0.0.1:1"
	expect(t, call("worker", "--fleet", url), 2, "a worker without --fleet-keys or --trust would execute whatever is announced", "--insecure")
	expect(t, call("worker", "--fleet", url, "--insecure", "--trust", "keys"), 2, "exclude each other")
	expect(t, call("worker", "--fleet", "embedded", "--insecure"), 2, "needs the URL of a server")
	expect(t, call("worker", "--fleet", url, "--insecure", "--fleet-token", "short"), 2, "a token needs at least 16")
}

// What is said about a fleet has no effect without one, and is refused.
func TestFleetFlagsNeedAFleet(t *testing.T) {
	for _, args := range [][]string{{"--sign", "k"}, {"--require", "gpu"}, {"--fleet-token", "short"}, {"--fleet-keys", "d"}, {"--recheck", "1%"}, {"--fleet-tls-ca", "f"}} {
		for _, local := range [][]string{nil, {"--fleet", "local"}} {
			expect(t, call(slices.Concat([]string{"run", "x.json"}, args, local)...), 2, args[0]+" needs --fleet with a server")
		}
	}
}

// What every format gives its users to begin with comes out the same on a
// fleet.
func TestEveryFormatRunsOnAFleet(t *testing.T) {
	t.Parallel() // mostly waits
	_, list, _ := strings.Cut(call("init", "--help").out, "KIND is one of: ")
	list, _, _ = strings.Cut(list, ".")
	kinds := strings.Split(list, ", ")
	if len(kinds) < 2 {
		t.Fatalf("thresh init --help names %q", kinds)
	}
	for _, kind := range kinds {
		if kind == "system" {
			continue // it describes a service that runs elsewhere, and nothing runs here
		}
		t.Run(kind, func(t *testing.T) {
			if kind != "fuzzspec" && !testproc.Long() {
				t.Skip("starts three processes, as the others do: set THRESH_TEST_LONG=1")
			}
			dir := t.TempDir()
			in := func(args ...string) *exec.Cmd {
				cmd := child(t, "thresh", args...)
				cmd.Dir = dir
				cmd.Env = append(cmd.Env, "THRESH_FLEET_TOKEN=a-token-of-the-fleet")
				return cmd
			}
			type told struct {
				Digest    string
				Verdict   string
				Campaigns []struct{ Cases map[string]int }
				Findings  []struct{ Fingerprint string }
			}
			run := func(report string, args ...string) (got told) {
				t.Helper()
				cmd := in(append([]string{"run", ".", "--report", "json=" + report, "--store", t.TempDir(), "--cases", "60"}, args...)...)
				out, err := cmd.CombinedOutput()
				if code := cmd.ProcessState.ExitCode(); code > 1 {
					t.Fatalf("%v: %s", err, out)
				}
				data, err := os.ReadFile(filepath.Join(dir, report))
				must(t, err)
				must(t, json.Unmarshal(data, &got))
				return got
			}
			if out, err := in("init", kind).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			port := fmt.Sprint(freePort(t))
			worker := in("worker", "--fleet", "nats://127.0.0.1:"+port, "-j", "2", "--insecure")
			started := make(chan struct{})
			go func() { // the server is inside the coordinator, and comes up with it
				defer close(started)
				for range 400 {
					if c, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
						c.Close()
						_ = worker.Start()
						return
					}
					time.Sleep(50 * time.Millisecond)
				}
			}()
			got := run("fleet.json", "--fleet", "embedded:"+port)
			<-started
			_ = worker.Process.Kill()
			_ = worker.Wait()
			equal(t, "report", got, run("local.json"))
		})
	}
}
