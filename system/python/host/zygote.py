# The warm parent. It imports nothing of the user's and forks a child for every
# case; at most one child at a time, so that every process that is ever left
# among its own children was started by that one.

import _signal  # without the enumerations that signal makes of numbers
import _socket
from _operator import is_

FORK = b"F"
KILLED = 9
DESCRIPTORS = struct.Struct("4i")
ROOM = _socket.CMSG_LEN(DESCRIPTORS.size)


def main(fd):
    parent = Channel(fd, 201)
    close_others(parent.fd)
    watched = signal_pipe()
    subreaper = become_subreaper()
    mine = None  # lists the processes below us
    if subreaper:
        try:
            mine = os.open("/proc/self/task/%d/children" % getpid(), os.O_RDONLY)
            watched += (mine,)
        except OSError:
            pass
    greeting = {"python": "%d.%d.%d" % sys.version_info[:3], "executable": sys.executable, "subreaper": subreaper}
    if os.environ.get("LD_BIND_NOW") == "thresh":
        del os.environ["LD_BIND_NOW"]
    setting = os.environ.pop("THRESH_PYTHON_LOADS", None)
    if setting:
        be = serve_system
        greeting.update(load_system(loads(setting)))
    else:
        be = play_role
    sys.modules["__main__"] = types.ModuleType("__main__")
    sys.modules["__main__"].__builtins__ = builtins
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    gc.collect()
    gc.freeze()  # so that the children's collectors leave shared pages alone
    parent.send(greeting)
    killed = frame(dumps({"status": KILLED, "leftovers": 0}))  # what is said of most
    link = _socket.socket(fileno=parent.fd)
    poll = select.poll()
    poll.register(link, select.POLLIN)
    poll.register(watched[0], select.POLLIN)
    while True:
        order, given, _, _ = link.recvmsg(1, ROOM)
        if not order:
            _exit(0)
        if order != FORK:
            continue  # for a child that has ended meanwhile
        # What is done here costs the child no page of memory: each one that either side
        # touches after the fork is copied.
        stdin, stdout, stderr, channel = DESCRIPTORS.unpack(given[0][2])
        channel, given = Channel(channel), (stdin, stdout, stderr)
        try:
            pid = fork()
        except OSError as error:
            parent.send({"refused": str(error)})
            for fd in given + (channel.fd,):
                close(fd)
            continue
        if pid == 0:
            try:
                link.detach()
                be_child(parent, watched, given)
                be(channel)
            except BaseException:
                traceback.print_exc()
            finally:
                _exit(70)
        for fd in given:
            close(fd)
        close(channel.fd)
        watched_over, status = wait(pid, link, poll, watched[0], subreaper)
        # Of a child that was reaped the number is needed no more if all orphans are ours.
        leftovers = hunt(pid, subreaper) if status is None or mine is None or pread(mine, 1, 0) else 0
        if status is None:
            status = os.waitpid(pid, 0)[1]
        if not watched_over:
            _exit(0)
        if leftovers or status != KILLED:
            parent.send({"status": status, "leftovers": leftovers})
        else:
            link.send(killed)


def close_others(kept):
    # Wrappers around interpreters leave descriptors behind.
    for name in os.listdir("/dev/fd"):
        if int(name) > 2 and int(name) != kept:
            try:
                os.close(int(name))
            except OSError:
                pass


def signal_pipe():
    """A pipe that can be read from when a child has ended."""
    ends = os.pipe()
    for fd in ends:
        os.set_blocking(fd, False)
    signal.signal(signal.SIGCHLD, is_)  # anything that may be called
    signal.set_wakeup_fd(ends[1], warn_on_full_buffer=False)
    return ends


def become_subreaper():
    """Orphans of the children come to us instead of to init (Linux)."""
    try:
        return ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0
    except (OSError, AttributeError):
        return False


def wait(pid, link, poll, woken, subreaper):
    """Waits for the child's end; kills it when told to. Returns whether Go is still
    there, and the status of a child that was reaped."""
    alive = True
    while True:
        for fd, _ in poll.poll():
            if fd == woken:
                read(woken, 64)
                # The zombie is kept if its number is needed: while it is there, that is nobody else's.
                if not subreaper and hasattr(os, "waitid"):
                    if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                        return alive, None
                    continue
                found, status = waitpid(pid, os.WNOHANG)
                if found:
                    return alive, status
                continue
            if not link.recv(1):
                poll.unregister(link)
                alive = False
            kill_group(pid)


def kill_group(pid):
    try:
        os.killpg(pid, KILLED)
    except OSError:  # it has not made its group yet
        signal_one(pid, KILLED)


def children(pid):
    found = []
    try:
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, task)) as file:
                found.extend(int(word) for word in file.read().split())
    except OSError:
        pass
    return found


def hunt(main, subreaper):
    """Kills all that the child has left; returns how many processes."""
    if not subreaper:
        kill_group(main)  # the rest is out of reach
    killed = set()
    while True:
        mine = [pid for pid in children(getpid()) if pid != main and not bury(pid)]
        if not mine:
            return len(killed)
        # Who is stopped forks no more; so stop until there is nobody new.
        tree, new = [], mine
        while new:
            for pid in new:
                signal_one(pid, signal.SIGSTOP)
            tree += new
            known = set(tree)
            new = [pid for parent in tree for pid in children(parent) if pid not in known]
        for pid in tree:
            signal_one(pid, signal.SIGKILL)
        killed.update(tree)
        for pid in mine:
            os.waitpid(pid, 0)


def signal_one(pid, number):
    try:
        os.kill(pid, number)
    except OSError:
        pass


def bury(pid):
    """Takes the status of an orphan that is dead already."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def be_child(parent, watched, given):
    """Leaves the parent's session, descriptors and signals behind."""
    setsid()
    _signal.set_wakeup_fd(-1)
    _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
    for fd in watched + (parent.fd,):
        close(fd)
    number = 0
    for fd in given:
        dup2(fd, number)
        close(fd)
        number += 1


def play_role(channel):
    """Is what the first frame asks for. Does not return."""
    request = channel.receive()
    limit(request.get("limits") or {})
    roles = {"command": run_command, "operators": serve_operators, "agent": serve_agent}
    roles[request["role"]](channel, request)


def limit(limits):
    if resource is None:
        return
    names = {"memory": "RLIMIT_AS", "file": "RLIMIT_FSIZE", "processes": "RLIMIT_NPROC"}
    for name, value in limits.items():
        number = getattr(resource, names[name], None)
        if number is None:
            continue
        highest = resource.getrlimit(number)[1]
        if highest == resource.RLIM_INFINITY or highest > value:
            resource.setrlimit(number, (value, min_limit(highest, value + spare(name))))


def spare(name):
    # What is above the soft limit is for the host, to tell of what happened.
    return {"memory": 64 << 20}.get(name, 0)


def min_limit(highest, value):
    return value if highest == resource.RLIM_INFINITY else min(highest, value)


def set_environment(request):
    """The environment, the working folder and sys.path of the user's code."""
    if request.get("environ") is not None:
        os.environ.clear()
        for entry in request["environ"]:
            name, _, value = entry.partition("=")
            os.environ[name] = value
    if request.get("dir"):
        os.chdir(request["dir"])
    sys.path[:0] = request.get("path") or []
    importlib.invalidate_caches()
