/// Programs in Python that `CallTests` runs.
enum CallScripts {
    /// Calls of every kind on sockets whose amounts, results and errors depend on nothing.
    static let every = #"""
        import array, os, socket, sys
        def failing(call, *words):
            try: call(*words)
            except OSError: pass
        server = socket.create_server(("127.0.0.1", 0))
        server.setblocking(False)
        failing(server.accept)
        a, b = socket.socketpair()
        a.send(b"x" * 37); b.recv(1024)
        a.send(b"y" * 500, socket.MSG_DONTWAIT); b.recv(100); b.recv(1000)
        a.sendmsg([b"12", b"345", b""]); b.recvmsg_into([bytearray(3), bytearray(9)])
        os.write(a.fileno(), b"abc"); os.read(b.fileno(), 10)
        os.writev(a.fileno(), [b"abc", b"de"]); os.readv(b.fileno(), [bytearray(2), bytearray(70)])
        with open(sys.argv[1], "wb+") as file:
            file.write(b"z" * 5000); file.flush()
            os.sendfile(a.fileno(), file.fileno(), 1000, 3000)
        left, right = os.pipe()
        os.splice(b.fileno(), right, 4096); os.read(left, 10)
        b.setblocking(False)
        failing(b.recv, 64)
        spare = os.dup(b.fileno()); os.write(spare, b"dup"); a.recv(9)
        os.dup2(left, spare); os.read(spare, 5); os.close(spare)
        spare = os.open(sys.argv[1], os.O_RDONLY); os.read(spare, 7); os.close(spare)
        a.shutdown(socket.SHUT_WR); b.recv(5)
        a.close()
        failing(b.send, b"broken")
        u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.bind(("127.0.0.1", 0))
        u.sendto(b"datagram", u.getsockname()); u.recvfrom(4)
        if os.fork() == 0:
            b.close(); server.close(); os._exit(0)
        os.wait()
        """#

    /// A client and its server in two threads: a message in two pieces, and a wait of each kind for the client's socket.
    static let waits = #"""
        import select, socket, threading
        server = socket.create_server(("127.0.0.1", 0))
        got, over = threading.Event(), threading.Event()
        def serve():
            end, _ = server.accept()
            end.sendall(b"x" * 37); got.wait(); end.sendall(b"y" * 987); over.wait(); end.close()
        threading.Thread(target=serve).start()
        client = socket.create_connection(server.getsockname())
        message = bytearray(1024)
        count = client.recv_into(message); got.set()
        assert client.recv_into(memoryview(message)[count:], 1024 - count, socket.MSG_WAITALL) == 987
        poll = select.poll(); poll.register(client, select.POLLIN); poll.register(server, select.POLLIN)
        poll.poll(0); poll.poll(50)
        select.select([client, server], [], [], 0.05)
        epoll = select.epoll(); epoll.register(client, select.EPOLLIN); epoll.poll(0.05)
        over.set()
        """#

    /// Reads what strace has written, and prints each call on a socket as `CALL ASKED RETURNED ERROR`.
    static let reading = #"""
        import re, sys
        for line in open(sys.argv[1], errors="replace"):
            call = re.match(r"(?:\d+ +)?(\w+)\((.*)\) += (-?\d+)(?: (\w+))?", line)
            if not call or call[1] in ("socket", "socketpair", "connect", "bind", "listen", "setsockopt", "getsockopt",
                                       "getsockname", "getpeername", "dup2"): continue
            name, words = call[1], call[2]
            if not re.match(r"\d+<(socket|TCP|UDP|UNIX)", words): continue
            pieces = [int(n) for n in re.findall(r"iov_len=(\d+)", words)]
            parts = words.split(", ")
            asked = "-"
            if pieces: asked = sum(pieces)
            elif name in ("read", "write", "sendfile"): asked = parts[-1]
            elif name == "splice": asked = parts[4]
            elif name in ("recvfrom", "sendto"): asked = re.search(r'".*?"(?:\.\.\.)?, (\d+), |, (?:NULL|0x\w+), (\d+), ', words)
            if not isinstance(asked, (str, int)): asked = asked[1] or asked[2]
            moved = call[3] if name not in ("close", "shutdown", "accept4") and call[3] != "-1" else "-"
            print(name, asked, moved, call[4] or "-")
        """#

    /// What children and threads do: 500 forks with their statuses, a vfork, a stop, a signal, and an exec by a thread.
    static let children = #"""
        import os, signal, socket, subprocess, threading
        a, b = socket.socketpair()
        children = []
        for number in range(500):
            child = os.fork()
            if child == 0:
                b.send(b"x"); os._exit(number % 7)
            children.append(child)
        count = 0
        while count < 500: count += len(a.recv(1000))
        print("sum", sum(os.waitpid(child, 0)[1] >> 8 for child in children))
        print(subprocess.run(["/bin/echo", "vfork"], capture_output=True).stdout)
        child = os.fork()
        if child == 0: a.recv(10); os._exit(4)
        os.kill(child, signal.SIGSTOP); print(os.waitpid(child, os.WUNTRACED)[1])
        os.kill(child, signal.SIGCONT); print(os.waitpid(child, os.WCONTINUED)[1])
        b.send(b"go"); print(os.waitpid(child, 0)[1])
        child = os.fork()
        if child == 0: a.recv(10); os._exit(4)
        os.kill(child, signal.SIGKILL); print(os.waitpid(child, 0)[1])
        signal.signal(signal.SIGALRM, lambda *_: b.send(b"z"))
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        print(a.recv(10), flush=True)
        threading.Thread(target=lambda: a.recv(10), daemon=True).start()
        threading.Thread(target=lambda: os.execv("/bin/sh", ["sh", "-c", "echo after exec; kill -USR1 $$"])).start()
        threading.Event().wait()
        """#

    /// Kills socktui, or its tracer, and prints what becomes of the program and of what stands beside it.
    static let deaths = #"""
        import os, select, signal, subprocess, sys, time
        folder = sys.argv[2]
        beat = """
        import os, socket, sys
        a, b = socket.socketpair()
        open(sys.argv[1] + '/process', 'w').write(str(os.getpid()))
        number = 0
        while not os.path.exists(sys.argv[1] + '/stop'):
            a.send(b'q'); b.recv(1); number += 1
            open(sys.argv[1] + '/number', 'w').write(str(number))
        open(sys.argv[1] + '/done', 'w').write('done')
        """
        def wait(condition):
            end = time.time() + 30
            while not condition():
                if time.time() > end: sys.exit("too late: " + str(condition.__code__.co_consts))
                select.select([], [], [], 0.01)
        def text(name):
            try: return open(folder + "/" + name).read()
            except OSError: return ""
        def children(parent):
            found = {}
            for entry in os.listdir("/proc"):
                try: words = open("/proc/" + entry + "/stat").read()
                except OSError: continue
                name, rest = words[words.index("(") + 1:words.rindex(")")], words[words.rindex(")") + 2:].split()
                if int(rest[1]) == parent: found[name] = int(entry)
            return found
        def is_there(process):
            try: return open("/proc/%d/stat" % process).read().rsplit(")", 1)[1].split()[0] != "Z"
            except OSError: return False
        def start():
            for name in ("process", "number", "stop", "done"):
                if os.path.exists(folder + "/" + name): os.unlink(folder + "/" + name)
            run = subprocess.Popen([sys.argv[1], "run", "--json", "--calls", "--", sys.executable, "-c", beat, folder],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait(lambda: text("number") not in ("", "0"))
            return run, int(text("process")), children(run.pid)
        run, program, beside = start()
        run.kill(); run.wait()
        seen = int(text("number") or 0)
        wait(lambda: int(text("number") or 0) > seen + 20)
        open(folder + "/stop", "w").close()
        wait(lambda: text("done") == "done")
        wait(lambda: not any(is_there(process) for process in list(beside.values()) + [program]))
        print("the program went on without socktui")
        run, program, beside = start()
        os.kill(beside["socktui-calls"], signal.SIGKILL)
        wait(lambda: not is_there(program))
        print("it ended with its tracer:", run.wait())
        wait(lambda: not any(is_there(process) for process in beside.values()))
        run, program, beside = start()
        os.kill(beside["socktui-guard"], signal.SIGKILL)
        run.kill(); run.wait()
        seen = int(text("number") or 0)
        wait(lambda: int(text("number") or 0) > seen + 20)
        os.kill(beside["socktui-calls"], signal.SIGKILL)
        wait(lambda: not any(is_there(process) for process in list(beside.values()) + [program]))
        print("nothing is left")
        """#
}
