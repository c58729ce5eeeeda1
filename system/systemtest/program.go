//go:build unix

package systemtest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Variable is the environment variable that makes a test binary the program under test; [Main]
// checks it.
const Variable = "THRESH_TARGETTEST"

// Main must be called first in TestMain. In a process started as the program under test, it does
// what the input says and does not return.
func Main() {
	switch os.Getenv(Variable) {
	case "":
	case "linger":
		signal.Ignore(syscall.SIGHUP, syscall.SIGTERM)
		os.Stdin.Close()
		for {
			time.Sleep(time.Hour)
		}
	case "eat":
		mib, _ := strconv.Atoi(os.Args[1])
		eat(mib)
		time.Sleep(300 * time.Millisecond) // until the others have eaten
		os.Exit(0)
	case "relay": // starts a lingerer and abandons it
		fmt.Println(linger("linger", true))
		os.Exit(0)
	case "bomb":
		for {
			linger("bomb", false)
		}
	default:
		obey(os.Args[1])
	}
}

// environment makes the test binary the program under test, in a mode.
func environment(mode string) []string {
	// A binary built with -race takes a second to exit by default, and one built with -cover
	// prints a warning if it does not know where to write.
	env := []string{Variable + "=" + mode, "GORACE=atexit_sleep_ms=0"}
	if dir, ok := os.LookupEnv("GOCOVERDIR"); ok {
		env = append(env, "GOCOVERDIR="+dir)
	}
	return env
}

// linger starts this program in a mode that does not end, and returns its process id; 0 if that
// failed.
func linger(mode string, session bool) int {
	c := exec.Command("/proc/self/exe")
	c.Env = environment(mode)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	if c.Start() != nil {
		time.Sleep(time.Millisecond)
		return 0
	}
	return c.Process.Pid
}

// eat really uses memory by writing to each page.
func eat(mib int) (eaten []byte) {
	eaten = make([]byte, mib<<20)
	for i := 0; i < len(eaten); i += 4096 {
		eaten[i] = 1
	}
	return eaten
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9)
	}
}

// obey does what the first line of the input file says, then exits.
func obey(input string) {
	data, err := os.ReadFile(input)
	fail(err)
	line, _, _ := strings.Cut(string(data), "\n")
	verb, arg, _ := strings.Cut(line, " ")
	number, _ := strconv.Atoi(arg)
	switch verb {
	case "exit":
		os.Exit(number)
	case "signal":
		signal.Reset()
		syscall.Kill(os.Getpid(), syscall.Signal(number))
		time.Sleep(time.Minute)
	case "print":
		fmt.Print(arg)
	case "error":
		fmt.Fprint(os.Stderr, arg)
	case "flood":
		w := bufio.NewWriterSize(os.Stdout, 1<<20)
		for range number << 10 {
			w.WriteString(strings.Repeat("0123456789abcdef", 64))
		}
		fail(w.Flush())
	case "fill": // files of 1 MiB; after a blank, "hang" or the folder
		files, then, _ := strings.Cut(arg, " ")
		number, _ = strconv.Atoi(files)
		folder := "out"
		if strings.HasPrefix(then, "/") {
			folder = then
		}
		for i := range number {
			fail(os.WriteFile(fmt.Sprintf("%s/%d", folder, i), make([]byte, 1<<20), 0o644))
		}
		if then == "hang" {
			time.Sleep(time.Hour)
		}
	case "hang":
		fmt.Print("partial")
		time.Sleep(time.Hour)
	case "nap":
		time.Sleep(time.Duration(number) * time.Millisecond)
	case "syscall": // a number and up to three arguments; the exit code is the error's number
		var n [4]uintptr
		for i, word := range strings.Fields(arg) {
			v, err := strconv.ParseUint(word, 0, 64)
			fail(err)
			n[i] = uintptr(v)
		}
		_, _, errno := syscall.RawSyscall(n[0], n[1], n[2], n[3])
		os.Exit(int(errno))
	case "feast": // children that each eat megabytes at once
		n, mib, _ := strings.Cut(arg, " ")
		number, _ = strconv.Atoi(n)
		var children []*exec.Cmd
		for range number {
			c := exec.Command("/proc/self/exe", mib)
			c.Env = environment("eat")
			fail(c.Start())
			children = append(children, c)
		}
		for _, c := range children {
			fail(c.Wait())
		}
	case "socketpair":
		_, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		fail(err)
	case "linger":
		switch arg {
		case "plain":
			fmt.Println(linger("linger", false))
		case "session":
			fmt.Println(linger("linger", true))
		case "orphan", "late":
			if arg == "late" { // after all set-up of a new process
				time.Sleep(200 * time.Millisecond)
			}
			c := exec.Command("/proc/self/exe")
			c.Env = environment("relay")
			c.Stdout = os.Stdout
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			fail(c.Run())
		}
	case "bomb":
		for range 4 {
			linger("bomb", false)
		}
		time.Sleep(time.Hour)
	case "file":
		fail(os.WriteFile("out/result.txt", []byte(arg), 0o644))
	case "mess":
		fail(mess(arg))
	case "list":
		filepath.Walk(".", func(p string, st os.FileInfo, err error) error {
			fmt.Println(p, st.Mode())
			return nil
		})
	case "unlink":
		fail(os.Remove(input))
	case "rename":
		fail(os.Rename(input, input+".old"))
		fail(os.WriteFile(input, []byte("other"), 0o600))
	case "chmod":
		fail(os.Chmod(input, 0))
	case "link":
		fail(os.Link(input, "out/twin"))
	case "grow":
		fail(os.Truncate(input, 1<<16))
	case "descriptors":
		entries, err := os.ReadDir("/proc/self/fd")
		fail(err)
		for _, e := range entries {
			to, _ := os.Readlink("/proc/self/fd/" + e.Name())
			fmt.Println(to)
		}
	case "eat":
		fmt.Print(len(eat(number)) >> 20)
	case "stdin":
		b, err := io.ReadAll(os.Stdin)
		fail(err)
		os.Stdout.Write(b)
	case "environment":
		fmt.Print(strings.Join(os.Environ(), "\n"))
	case "shell":
		fail(syscall.Exec("/bin/sh", []string{"sh", "-c", arg}, os.Environ()))
	case "connect":
		network, address, ok := strings.Cut(arg, " ")
		if !ok {
			network, address = "tcp", arg
		}
		c, err := net.DialTimeout(network, address, 5*time.Second)
		fail(err)
		c.Close()
	case "write":
		fail(os.WriteFile(arg, []byte("x"), 0o644))
	case "read":
		b, err := os.ReadFile(arg)
		fail(err)
		os.Stdout.Write(b)
	case "pid":
		fmt.Print(os.Getpid())
	}
	os.Exit(0)
}

// mess makes files that are hard to remove, and links to a folder that must survive.
func mess(outside string) error {
	for _, dir := range []string{"out/locked/inside", "stray"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	os.WriteFile("out/locked/inside/file", nil, 0o400)
	os.Symlink(outside, "out/link")
	os.Symlink(outside, "stray/link")
	// Deeper than the longest path.
	for range 3000 {
		if err := os.Mkdir("deeper", 0o755); err != nil {
			return err
		}
		if err := os.Chdir("deeper"); err != nil {
			return err
		}
	}
	if err := os.Chdir(filepath.Dir(filepath.Dir(os.Args[1]))); err != nil {
		return err
	}
	os.Chmod("out/locked/inside", 0)
	os.Chmod("out/locked", 0)
	os.Chmod("out", 0)
	return nil
}
