package program_test

import (
	"context"
	"net"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/system/program"
)

// A port that is meant for a service is given to nobody else before the service
// listens: neither to another service nor to one who asks for any port.
func TestFreePortsAreNobodyElses(t *testing.T) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	given := make(map[string]bool)
	for range 200 {
		wg.Go(func() {
			port, err := program.FreePort(t.Context())
			mu.Lock()
			defer mu.Unlock()
			if err != nil || given[port] {
				t.Errorf("port %q, given before: %t, %v", port, given[port], err)
			}
			given[port] = true
		})
	}
	wg.Wait()
	for range 200 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if port := l.Addr().(*net.TCPAddr).Port; port < 32768 {
			t.Skipf("this system hands out port %d to whoever asks", port)
		}
	}
	for port := range given {
		if n, err := strconv.Atoi(port); err != nil || n < 1024 || n >= 32768 {
			t.Errorf("port %s is one that the system may hand out", port)
		}
	}
}

// Nobody answers at a port that was found free, however many processes are started
// meanwhile: a process has what its parent had open until it executes a program.
func TestNobodyAnswersAtFreePorts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("waits seconds for each port that refuses")
	}
	idle, err := exec.LookPath("true")
	if err != nil {
		t.Skip(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	var all sync.WaitGroup
	defer all.Wait()
	for range 4 {
		all.Go(func() {
			for ctx.Err() == nil {
				if err := exec.Command(idle).Run(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for n := 0; ctx.Err() == nil; n++ {
		port, err := program.FreePort(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if c, err := net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second); err == nil {
			c.Close()
			t.Fatalf("the port %s, number %d, is taken", port, n)
		}
	}
}
