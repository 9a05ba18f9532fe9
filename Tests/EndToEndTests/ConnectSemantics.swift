/// A program that prints what it sees of connect(2) and of the sockets that it connects.
enum ConnectSemantics {
    /// Its argument is a port at which nothing answers. Each line is one promise.
    static let script = #"""
        import ctypes, errno, os, select, signal, socket, struct, subprocess, sys, threading

        libc = ctypes.CDLL(None, use_errno=True)
        S, N = socket.SOCK_STREAM, socket.SOCK_STREAM | socket.SOCK_NONBLOCK

        def listen(host, family=socket.AF_INET, backlog=16):
            s = socket.socket(family, S)
            s.bind((host, 0))
            s.listen(backlog)
            return s, s.getsockname()[1]

        def echo(listener, answer=lambda c, b: c.sendall(b)):
            def serve(c):
                try:
                    while b := c.recv(4096): answer(c, b)
                except OSError: pass
                c.close()
            def accept():
                while True:
                    c, who = listener.accept()
                    seen.append(who)
                    threading.Thread(target=serve, args=(c,), daemon=True).start()
            threading.Thread(target=accept, daemon=True).start()

        def reset(c, b):
            c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            c.close()
            sys.exit()

        seen, ports = [], {}
        l4, e4 = listen("127.0.0.1"); echo(l4)
        l6, e6 = listen("::1", socket.AF_INET6); echo(l6)
        lr, er = listen("127.0.0.1"); echo(lr, reset)
        closed, nobody = listen("127.0.0.1"); closed.close()
        ports.update({e4: "echo", e6: "echo6", er: "reset"})

        # A full queue: nothing answers. The filler's connect is not taken, since it was made before by a child of the test.
        black = int(sys.argv[1]) if len(sys.argv) > 1 else 0

        def raw(host, port, family=socket.AF_INET):
            if family == socket.AF_INET: return struct.pack("=H", 2) + struct.pack("!H", port) + socket.inet_aton(host) + bytes(8)
            return struct.pack("=H", 10) + struct.pack("!HI", port, 0) + socket.inet_pton(family, host) + bytes(4)

        def call(s, address):
            ctypes.set_errno(0)
            r = libc.connect(s if isinstance(s, int) else s.fileno(), address, len(address))
            return "0" if r == 0 else errno.errorcode[ctypes.get_errno()]

        def peer(s):
            try: a = s.getpeername()
            except OSError as e: return errno.errorcode[e.errno]
            return f"{a[0]}:{ports.get(a[1], 'OTHER')}"

        def talk(s, text=b"hi"):
            try:
                s.setblocking(True); s.settimeout(5); s.sendall(text)
                return s.recv(10).decode()
            except OSError as e: return errno.errorcode.get(e.errno, str(e))

        def error(s): return errno.errorcode.get(s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), "0")

        def ready(s, events=select.POLLOUT | select.POLLIN, limit=5000):
            p = select.poll(); p.register(s, events)
            return [hex(e) for _, e in p.poll(limit)]

        def say(what, *words): print(what + ":", *words, flush=True)

        v4, v6 = raw("127.0.0.1", e4), raw("::1", e6, socket.AF_INET6)
        mapped = raw("::ffff:127.0.0.1", e4, socket.AF_INET6)
        refused, dark = raw("127.0.0.1", nobody), raw("127.0.0.1", black)

        s = socket.socket(type=S); say("blocking", call(s, v4), peer(s), talk(s)); say("blocking again", call(s, v4)); s.close()
        s = socket.socket(type=S); say("refused", call(s, refused), peer(s)); say("then another", call(s, v4), talk(s)); s.close()
        s = socket.socket(type=N); say("nonblocking", call(s, v4), ready(s, select.POLLOUT), error(s), peer(s), talk(s)); s.close()
        s = socket.socket(type=N); say("nonblocking again", call(s, v4), ready(s, select.POLLOUT), call(s, v4), call(s, v4)); s.close()
        s = socket.socket(type=N); say("nonblocking refused", call(s, refused)); r = ready(s); say("its end", bool(r), error(s), error(s), peer(s))
        say("after its error", call(s, v4)); s.close()
        s = socket.socket(type=N); call(s, refused); ready(s); say("refused, asked by connect", call(s, refused)); say("then another one", call(s, v4), ready(s, select.POLLOUT), talk(s)); s.close()
        s = socket.socket(type=N); e = select.epoll(); e.register(s, select.EPOLLOUT | select.EPOLLIN | select.EPOLLET); e.poll(0)
        say("epoll before connect", call(s, v4), [hex(x) for _, x in e.poll(5) if x & 4], error(s), talk(s)); s.close()
        s = socket.socket(type=N); say("silent", call(s, dark), call(s, dark), ready(s, limit=200), error(s), peer(s)); s.close()
        s = socket.socket(type=S); s.bind(("127.0.0.2", 0)); own = s.getsockname()
        say("bound", call(s, v4), talk(s), s.getsockname() == own, seen[-1][0]); s.close()
        s = socket.socket(type=N); s.bind(("127.0.0.2", 0)); say("bound, nonblocking", call(s, v4), ready(s, select.POLLOUT), talk(s), s.getsockname()[0], seen[-1][0]); s.close()
        s = socket.socket(type=S); call(s, v4); talk(s); say("own name is what the server sees", s.getsockname() == seen[-1]); s.close()
        s = socket.socket(type=N); call(s, v4); ready(s, select.POLLOUT); talk(s); say("the same, nonblocking", s.getsockname() == seen[-1]); s.close()
        s = socket.socket(socket.AF_INET6, S); say("IPv6", call(s, v6), peer(s), talk(s), s.getsockname()[0]); s.close()
        s = socket.socket(socket.AF_INET6, N); say("IPv6, nonblocking", call(s, v6), ready(s, select.POLLOUT), error(s), peer(s), talk(s)); s.close()
        s = socket.socket(socket.AF_INET6, S); say("mapped", call(s, mapped), peer(s), talk(s), s.getsockname()[0]); s.close()
        s = socket.socket(socket.AF_INET6, N); say("mapped, nonblocking", call(s, mapped), ready(s, select.POLLOUT), peer(s), talk(s)); s.close()
        s = socket.socket(socket.AF_INET6, N); say("mapped, refused", call(s, raw("::ffff:127.0.0.1", nobody, socket.AF_INET6)), bool(ready(s)), error(s)); s.close()
        s = socket.socket(type=S); say("half close", call(s, v4)); s.sendall(b"abc"); s.shutdown(socket.SHUT_WR); say("its echo", s.recv(9), s.recv(9)); s.close()
        s = socket.socket(type=S); call(s, raw("127.0.0.1", er)); say("reset by the server", talk(s)); s.close()
        s = socket.socket(type=S); call(s, v4); say("dissolved", call(s, struct.pack("=H", 0) + bytes(14)), peer(s)); say("and anew", call(s, v4), peer(s), talk(s)); s.close()
        u = socket.socket(type=socket.SOCK_DGRAM); u.bind(("127.0.0.1", 0))
        s = socket.socket(type=socket.SOCK_DGRAM); say("UDP", call(s, raw("127.0.0.1", u.getsockname()[1])), s.send(b"x"), u.recv(9)); s.close()
        a, b = socket.socketpair(); say("socketpair", a.send(b"x"), b.recv(1))
        x = socket.socket(socket.AF_UNIX); x.bind("\0semantics%d" % os.getpid()); x.listen(); s = socket.socket(socket.AF_UNIX); s.connect("\0semantics%d" % os.getpid()); say("Unix-domain", s.getpeername()[:10]); s.close()
        s = socket.socket(type=S); say("bad address", libc.connect(s.fileno(), ctypes.c_void_p(1), 16), errno.errorcode[ctypes.get_errno()], "short", call(s, v4[:3])); s.close()
        say("bad descriptor", call(777, v4)); s = socket.socket(type=S); say("wrong family", call(s, v6)); say("a multicast group", call(s, raw("224.0.0.1", 9))); s.close()
        s = socket.socket(type=S); s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 300000)); say("SO_SNDTIMEO", call(s, dark)); s.close()
        signal.signal(signal.SIGALRM, lambda *_: None); signal.setitimer(signal.ITIMER_REAL, 0.2)
        s = socket.socket(type=S); say("interrupted", call(s, dark)); s.close()
        s = socket.socket(type=S); s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 1, 0)); signal.setitimer(signal.ITIMER_REAL, 0.2)
        say("interrupted with SO_SNDTIMEO", call(s, dark), [c for c in (call(s, dark), call(s, dark)) if c != "EINTR"][:1]); s.close()
        s = socket.socket(type=S); s.bind(("0.0.0.0", 0)); own = s.getsockname()[1]; say("bound to no address", call(s, v4), talk(s), s.getsockname()[0], s.getsockname()[1] == own); s.close()
        full, late = listen("127.0.0.1", backlog=0); filler = socket.create_connection(("127.0.0.1", late))
        s = socket.socket(type=N); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("127.0.0.1", 0)); own = s.getsockname(); say("at a port of its own", call(s, raw("127.0.0.1", late))); s.close()
        t = socket.socket(); t.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); t.bind(own); t.listen(); full.accept()
        say("a late answer does not reach the next socket there", ready(t, select.POLLIN, 1500)); t.close(); full.close(); filler.close()
        r = []; s = socket.socket(type=S); t = threading.Thread(target=lambda: r.append(call(s, v4))); t.start(); t.join(); say("by a thread", r, talk(s)); s.close()
        child = "import socket,sys; s=socket.create_connection(('127.0.0.1',int(sys.argv[1]))); s.sendall(b'hi'); print(s.recv(2))"
        say("a child", subprocess.run([sys.executable, "-c", child, str(e4)], capture_output=True).stdout)
        s = socket.socket(type=S); call(s, v4); pid = os.fork()
        if pid == 0: print("by a fork:", peer(s), talk(s), flush=True); os._exit(0)
        os.waitpid(pid, 0); s.close()
        s = socket.socket(type=N); call(s, dark); s.close(); say("closed while it connects")
        got = [socket.create_connection(("127.0.0.1", e4)) for _ in range(20)]; say("twenty", {talk(g) for g in got}); [g.close() for g in got]
        if os.path.exists("/proc/sys/net/mptcp/enabled"):
            s = socket.socket(type=S, proto=262); say("MPTCP", call(s, v4), peer(s), talk(s)); s.close()
            s = socket.socket(type=N, proto=262); say("MPTCP, nonblocking", call(s, v4), ready(s, select.POLLOUT), peer(s), talk(s)); s.close()
        """#

    /// A server whose queue is full, so that the kernel drops what comes.
    static let silence = """
        import socket, sys
        listener = socket.socket()
        listener.bind(("127.0.0.1", int(sys.argv[1])))
        listener.listen(0)
        filler = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        sys.stdin.read()
        """
}
