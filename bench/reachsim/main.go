// Command reachsim measures the cost of Thresh's ways to reach a system, compared with bare loops
// that send the same requests to the same program:
//
//	bash bench/reach [ROUNDS [CALLS]]
//
// Both sides take turns, round after round, so that other load on the machine slows both. Ratios
// are taken within a round, and their median is shown. On a busy machine look at processor time:
// caller and program wait for each other, and both for a processor. No figure makes it fail.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/thresh-dev/thresh/port/sut"
	"github.com/thresh-dev/thresh/system"
	"github.com/thresh-dev/thresh/system/agent"
	"github.com/thresh-dev/thresh/system/driver"
	httpsys "github.com/thresh-dev/thresh/system/http"
	"github.com/thresh-dev/thresh/system/python"
)

func main() {
	var err error
	switch {
	case len(os.Args) > 1 && os.Args[1] == "http":
		err = serveHTTP(os.Args[2])
	case len(os.Args) > 1 && os.Args[1] == "driver":
		err = serveLines()
	case len(os.Args) > 1 && os.Args[1] == "mcp":
		err = serveTools()
	default:
		err = bench(context.Background(), os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reachsim:", err)
		os.Exit(1)
	}
}

// The programs that are called: they answer at once.

func serveHTTP(port string) error {
	return http.ListenAndServe("127.0.0.1:"+port, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"length":%d}`, len(body))
	}))
}

func serveLines() error {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		if _, err := io.WriteString(os.Stdout, "{\"ok\":5}\n"); err != nil {
			return err
		}
	}
	return in.Err()
}

func serveTools() error {
	s := mcp.NewServer(&mcp.Implementation{Name: "sim", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "echo", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "hello"}}}, nil
	})
	return s.Run(context.Background(), &mcp.StdioTransport{})
}

// side is one of two ways to make calls: it starts what it needs, and returns functions that make a
// number of calls and that end everything.
type side func(ctx context.Context) (calls func(ctx context.Context, n int) error, end func() error, err error)

type contest struct {
	name       string
	share      int // of CALLS, in percent
	ours, bare side
	aim        float64
}

func bench(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("usage: bash bench/reach [ROUNDS [CALLS]]")
	}
	rounds, calls := 9, 4000
	for i, to := range []*int{&rounds, &calls} {
		if len(args) > i+1 {
			n, err := strconv.Atoi(args[i+1])
			if err != nil || n < 1 {
				return fmt.Errorf("%q is not a number above 0", args[i+1])
			}
			*to = n
		}
	}
	fmt.Println("| kind | beside | calls/s | bare | ratio | least | most | CPU µs | bare | ratio | aim |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, c := range []contest{
		{"http | a Go loop over one keep-alive connection", 100, thresh(httpPlan), bareHTTP, 0.8},
		// Short turns of two programs that only wait for each other mainly show where the kernel placed
		// them.
		{"driver | a Go loop that writes and reads the same lines", 5000, thresh(program(sut.Driver, "driver")), bareLines, 0.7},
		{"mcp, stdio | the Go SDK's own client in a loop", 100, thresh(program(sut.MCP, "mcp")), bareTools, 0.7},
		{"python, warm | a Python loop with a fork for each case", 50, thresh(pythonPlan), bareFork(args[0]), 0.5},
	} {
		if err := c.measure(ctx, rounds, max(1, calls*c.share/100)); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// figure is the cost of a call in one turn.
type figure struct{ wall, cpu time.Duration }

// measure lets both sides take turns. Wall time excludes the start; processor time is that of all
// processes and includes it.
func (c *contest) measure(ctx context.Context, rounds, calls int) error {
	var wall, cpu [3][]float64 // of ours, of the bare loop, and ratios
	for range rounds {
		var f [2]figure
		for i, s := range []side{c.ours, c.bare} {
			var err error
			if f[i], err = turn(ctx, s, calls); err != nil {
				return err
			}
			wall[i], cpu[i] = append(wall[i], float64(f[i].wall)), append(cpu[i], float64(f[i].cpu))
		}
		wall[2], cpu[2] = append(wall[2], float64(f[1].wall)/float64(f[0].wall)), append(cpu[2], float64(f[1].cpu)/float64(f[0].cpu))
	}
	median := func(list []float64) float64 { slices.Sort(list); return list[len(list)/2] }
	ratio, n := median(wall[2]), float64(calls)
	fmt.Printf("| %s | %.0f | %.0f | **%.2f** | %.2f | %.2f | %.1f | %.1f | **%.2f** | %.1f |\n", c.name, n*1e9/median(wall[0]), n*1e9/median(wall[1]),
		ratio, wall[2][0], wall[2][len(wall[2])-1], median(cpu[0])/n/1e3, median(cpu[1])/n/1e3, median(cpu[2]), c.aim)
	return nil
}

func turn(ctx context.Context, s side, n int) (f figure, err error) {
	before := spent()
	calls, end, err := s(ctx)
	if err != nil {
		return f, err
	}
	if err = calls(ctx, max(1, n/20)); err == nil { // warm up
		began := time.Now()
		err = calls(ctx, n)
		f.wall = time.Since(began)
	}
	err = errors.Join(err, end())
	f.cpu = spent() - before
	return f, err
}

// spent is the processor time of this process and of the processes it has waited for.
func spent() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}

// thresh makes calls through Thresh, each after a reset if the kind has one.
func thresh(plan func() (p *sut.Plan, end func() error, err error)) side {
	return func(ctx context.Context) (func(context.Context, int) error, func() error, error) {
		p, end, err := plan()
		if err != nil {
			return nil, nil, err
		}
		p.Name, p.Limits, p.Per = "sim", sut.Limits{Timeout: 5 * time.Second}, sut.PerWorker
		x, err := system.New(map[sut.Kind]system.Kind{sut.HTTP: httpsys.Open, sut.MCP: agent.OpenMCP, sut.Python: python.OpenSystem, sut.Driver: driver.Open}).Open(ctx, p, sut.Worker{Of: 1})
		if err != nil {
			return nil, nil, errors.Join(err, end())
		}
		return func(ctx context.Context, n int) error {
			for range n {
				if p.Kind == sut.Python {
					if err := x.Reset(ctx); err != nil {
						return err
					}
				}
				o, err := x.Call(ctx, sut.Call{Operation: "echo", Named: text})
				if err != nil {
					return err
				}
				if o.End != sut.Answered {
					return fmt.Errorf("a call was %s: %s", o.End, o.Why)
				}
			}
			return nil
		}, func() error { return errors.Join(x.Close(), end()) }, nil
	}
}

var text = []sut.Named{{Name: "data", Value: json.RawMessage(`"hello world"`)}}

func nothing() error { return nil }

// service starts the HTTP server and returns its address.
func service() (url string, end func() error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	address := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(address)
	server := exec.Command(os.Args[0], "http", port)
	if err := server.Start(); err != nil {
		return "", nil, err
	}
	for range 100 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return "http://" + address, func() error { return kill(server) }, nil
}

func kill(c *exec.Cmd) error {
	if err := c.Process.Kill(); err != nil {
		return err
	}
	_ = c.Wait() // it was killed
	return nil
}

func httpPlan() (*sut.Plan, func() error, error) {
	url, end, err := service()
	return &sut.Plan{Kind: sut.HTTP, URL: url, Operations: []sut.Operation{{Name: "echo", Method: "POST", Path: "/echo", JSON: []byte(`{"data":"{data}"}`)}}}, end, err
}

func bareHTTP(context.Context) (func(context.Context, int) error, func() error, error) {
	url, end, err := service()
	if err != nil {
		return nil, nil, err
	}
	client := &http.Client{Transport: &http.Transport{}}
	return func(ctx context.Context, n int) error {
		for range n {
			q, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/echo", bytes.NewReader([]byte(`{"data":"hello world"}`)))
			if err != nil {
				return err
			}
			q.Header.Set("Content-Type", "application/json")
			answer, err := client.Do(q)
			if err != nil {
				return err
			}
			_, err = io.ReadAll(answer.Body)
			answer.Body.Close()
			if err != nil {
				return err
			}
		}
		return nil
	}, func() error { client.CloseIdleConnections(); return end() }, nil
}

// program is a system that this program plays.
func program(kind sut.Kind, role string) func() (*sut.Plan, func() error, error) {
	return func() (*sut.Plan, func() error, error) {
		return &sut.Plan{Kind: kind, Command: []string{os.Args[0], role}}, nothing, nil
	}
}

func bareLines(context.Context) (func(context.Context, int) error, func() error, error) {
	server := exec.Command(os.Args[0], "driver")
	in, err := server.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := server.Start(); err != nil {
		return nil, nil, err
	}
	lines := bufio.NewReader(out)
	return func(_ context.Context, n int) error {
		for range n {
			if _, err := io.WriteString(in, "{\"call\":\"echo\",\"args\":{\"data\":\"hello world\"}}\n"); err != nil {
				return err
			}
			if _, err := lines.ReadSlice('\n'); err != nil {
				return err
			}
		}
		return nil
	}, func() error { return kill(server) }, nil
}

func bareTools(ctx context.Context) (func(context.Context, int) error, func() error, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: exec.Command(os.Args[0], "mcp")}, nil)
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, n int) error {
		for range n {
			if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"data": "hello world"}}); err != nil {
				return err
			}
		}
		return nil
	}, session.Close, nil
}

func pythonPlan() (*sut.Plan, func() error, error) {
	dir, err := os.MkdirTemp("", "reachsim")
	if err != nil {
		return nil, nil, err
	}
	err = os.WriteFile(dir+"/sim.py", []byte("def echo(data):\n    return len(data)\n"), 0o600)
	return &sut.Plan{Kind: sut.Python, Dir: dir, Entry: "sim.py:echo"}, func() error { return os.RemoveAll(dir) }, err
}

func bareFork(loop string) side {
	return func(context.Context) (func(context.Context, int) error, func() error, error) {
		return func(ctx context.Context, n int) error {
			return exec.CommandContext(ctx, "python3", loop, strconv.Itoa(n)).Run()
		}, nothing, nil
	}
}
