# The warm parent. It imports nothing of the user's and forks a child for every
# case; at most one child at a time, so that every process that is ever left
# among its own children was started by that one.

import _signal  # without the enumerations that signal makes of numbers
import _socket

FORK, KILL = b"F", b"K"
ROOM = _socket.CMSG_LEN(struct.calcsize("4i"))


def main(fd):
    parent = Channel(fd, 201)
    close_others(parent.fd)
    watched = signal_pipe()
    subreaper = become_subreaper()
    greeting = {"python": "%d.%d.%d" % sys.version_info[:3], "executable": sys.executable, "subreaper": subreaper}
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
    link = _socket.socket(fileno=parent.fd)
    poll = select.poll()
    poll.register(link, select.POLLIN)
    poll.register(watched[0], select.POLLIN)
    while True:
        order, given = take(link)
        if not order:
            _exit(0)
        if order != FORK:
            continue  # for a child that has ended meanwhile
        # What is done here costs the child no page of memory: each one that either side
        # touches after the fork is copied.
        channel = Channel(given.pop())
        given.append(channel.fd)
        try:
            pid = os.fork()
        except OSError as error:
            parent.send({"refused": str(error)})
            for fd in given:
                os.close(fd)
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
            os.close(fd)
        watched_over = wait(pid, link, poll, watched[0], subreaper)
        if subreaper:  # orphans are ours, so that the number is needed no more
            status = status_of(pid)
            leftovers = hunt(pid, subreaper) if any_child() else 0
        else:
            leftovers = hunt(pid, subreaper)
            status = status_of(pid)
        if not watched_over:
            _exit(0)
        parent.send_text('{"status": %d, "leftovers": %d}' % (status, leftovers))


def close_others(kept):
    # Wrappers around interpreters leave descriptors behind.
    for name in os.listdir("/dev/fd"):
        if int(name) > 2 and int(name) != kept:
            try:
                os.close(int(name))
            except OSError:
                pass


def take(link):
    data, messages, _, _ = link.recvmsg(1, ROOM)
    fds = []
    for level, kind, body in messages:
        if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
            fds.extend(struct.unpack("%di" % (len(body) // 4), body))
    return data, fds


def signal_pipe():
    """A pipe that can be read from when a child has ended."""
    ends = os.pipe()
    for fd in ends:
        os.set_blocking(fd, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(ends[1], warn_on_full_buffer=False)
    return ends


def become_subreaper():
    """Orphans of the children come to us instead of to init (Linux)."""
    try:
        return ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0
    except (OSError, AttributeError):
        return False


statuses = {}  # of children that had to be reaped to see that they have ended


def ended(pid, subreaper):
    # The zombie is kept if its number is needed: while it is there, that is nobody else's.
    if not subreaper and hasattr(os, "waitid"):
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    found, status = os.waitpid(pid, os.WNOHANG)
    if found:
        statuses[pid] = status
    return bool(found)


def status_of(pid):
    return statuses.pop(pid) if pid in statuses else os.waitpid(pid, 0)[1]


def wait(pid, link, poll, woken, subreaper):
    """Waits for the child's end; kills it when told to. False: Go is gone."""
    alive = True
    while True:
        for fd, _ in poll.poll():
            if fd == woken:
                read(woken, 4096)
                if ended(pid, subreaper):
                    return alive
                continue
            if not link.recv(1):
                poll.unregister(link)
                alive = False
            kill_group(pid)


def kill_group(pid):
    try:
        os.killpg(pid, 9)
    except OSError:  # it has not made its group yet
        signal_one(pid, 9)


def children(pid):
    found = []
    try:
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, task)) as file:
                found.extend(int(word) for word in file.read().split())
    except OSError:
        pass
    return found


def any_child():
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


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
    os.setsid()
    _signal.set_wakeup_fd(-1)
    _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
    for fd in watched + (parent.fd,):
        os.close(fd)
    for number, fd in enumerate(given[:3]):
        os.dup2(fd, number)
        os.close(fd)


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
