/// Programs that hang, each in one way. `python3 FILE NAME` prints the port it is about, and the process at fault; then
/// they hang until it is killed.
enum HangingPrograms {
    static let script = """
        import ctypes, os, select, signal, socket, sys, threading
        MANY = 50_000_000
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        address = listener.getsockname()
        def role(body):
            pid = os.fork()
            if pid == 0:
                ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # goes with its parent
                body()
                os._exit(0)
            return pid
        pause = lambda seconds=None: threading.Event().wait(seconds)
        def hang(): pause()
        def dial(to=None): return socket.create_connection(to or address)
        def serve(body):
            def run():
                c, _ = listener.accept()
                body(c)
            return run
        def tell(culprit, port=address[1]): print(port, culprit, flush=True)
        def reads_one_then(body):
            def run(c):
                c.recv(100); c.sendall(b"k")
                body(c)
            return serve(run)
        # The second only after the first was read.
        def two(): c = dial(); c.sendall(b"one"); c.recv(1); c.sendall(b"two"); c.recv(10)

        def never_reads():
            tell(role(serve(lambda c: hang())))
            role(lambda: (c := dial(), c.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n"), c.recv(10)))
        def reply_unread():
            role(serve(lambda c: (c.recv(10), c.sendall(bytes(20_000)), hang())))
            tell(role(lambda: (c := dial(), c.sendall(b"get"), hang())))
        def both_write():
            tell(role(serve(lambda c: c.sendall(bytes(MANY)))))
            role(lambda: dial().sendall(bytes(MANY)))
        def ring():
            ends = [listener, socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))]
            def member(i):
                out = dial(ends[(i + 1) % 3].getsockname())
                c, _ = ends[i].accept()
                out.sendall(bytes(MANY))
                c.recv(100)
            pids = [role(lambda i=i: member(i)) for i in range(3)]
            tell(pids[0])
        def accept_stuck():
            tell(role(hang))
            role(lambda: (listener.close(), [k := [dial() for _ in range(4)]], [x.sendall(b"hi") for x in k], hang()))
        def backlog_full():
            listener.listen(4)
            def clients():
                listener.close()
                kept = []
                for _ in range(12):
                    c = socket.socket(); c.setblocking(False); c.connect_ex(address); kept.append(c)
                hang()
            tell(role(hang))
            role(clients)
        def close_wait():
            def server():
                kept = []
                for _ in range(200):
                    c, _ = listener.accept(); c.recv(100); c.recv(100); kept.append(c)
                hang()
            tell(role(server))
            def client():
                for _ in range(200):
                    c = dial(); c.sendall(b"x"); c.close()
                hang()
            role(client)
        def loop_stuck():
            def run(c):
                sets = select.epoll(); c.setblocking(False); sets.register(c, select.EPOLLIN); sets.poll(); c.recv(100)
                c.sendall(b"k")
                lock = threading.Lock(); lock.acquire(); lock.acquire()
            tell(role(serve(run)))
            role(two)
        def one_shot():
            def run(c):
                sets = select.epoll(); sets.register(c, select.EPOLLIN | select.EPOLLONESHOT); sets.poll(); c.recv(100)
                c.sendall(b"k")
                while True: sets.poll()
            tell(role(serve(run)))
            role(two)
        def edge():
            def run(c):
                sets = select.epoll(); sets.register(c, select.EPOLLIN | select.EPOLLET)
                while True: sets.poll(); c.recv(100)
            tell(role(serve(run)))
            role(lambda: (c := dial(), c.sendall(bytes(5000)), c.recv(10)))
        def send_blocked():
            tell(role(serve(lambda c: hang())))
            role(lambda: dial().sendall(bytes(MANY)))
        def wait_all():
            tell(role(serve(lambda c: c.recv(1_000_000, socket.MSG_WAITALL))))
            role(lambda: (c := dial(), c.sendall(bytes(500_000)), c.recv(10)))
        def poll_without():
            def run(c):
                p = select.poll(); p.register(listener, select.POLLIN); p.poll()
            tell(role(reads_one_then(run)))
            role(two)
        def select_without():
            tell(role(reads_one_then(lambda c: select.select([listener], [], []))))
            role(two)
        def udp_slow():
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("127.0.0.1", 0))
            def receiver():
                while True: s.recv(2000); pause(.02)
            def sender():
                to = s.getsockname()
                s.close()  # or it might be taken for the one who does not read
                o = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                while True:
                    for _ in range(20): o.sendto(bytes(1000), to)
                    pause(.05)
            tell(role(receiver), s.getsockname()[1])
            role(sender)
            s.close()
        def inherited():
            line, back = os.pipe()
            waits, ends = os.pipe()
            def server():
                c, _ = listener.accept(); c.recv(10); pause(1.5); os.set_inheritable(c.fileno(), True)
                pid = os.fork()
                if pid == 0:
                    listener.close()
                    os.dup2(waits, 0)  # ends with the first program, which alone keeps the other end
                    os.execvp("cat", ["cat"])
                os.write(back, b"%d\\n" % pid)
            role(server)
            role(lambda: (c := dial(), c.sendall(b"x"), c.recv(10)))
            tell(int(os.read(line, 100)))
        def chain():
            far = socket.create_server(("127.0.0.1", 0))
            def end(): c, _ = far.accept(); hang()
            def relay():
                a, _ = listener.accept(); b = dial(far.getsockname())
                while True: b.sendall(a.recv(65536))
            tell(role(end))
            role(relay)
            role(lambda: dial().sendall(bytes(MANY)))
        def trickle():
            tell(role(serve(lambda c: hang())))
            def heart():
                c = dial()
                while True: c.sendall(b"ping"); pause(.4)
            role(heart)
        def both_read():
            tell(role(serve(lambda c: (c.recv(400), c.recv(100)))))
            role(lambda: (c := dial(), c.sendall(b"x" * 312), c.recv(10)))
        def slow_consumer():
            def run(c):
                while True: c.recv(100); pause(1)
            tell(role(serve(run)))
            role(lambda: (c := dial(), c.sendall(bytes(40_000)), c.recv(10)))
        def low_water():
            def run(c):
                c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1000)
                sets = select.epoll(); sets.register(c, select.EPOLLIN | select.EPOLLET); sets.poll()
            tell(role(serve(run)))
            role(lambda: (c := dial(), c.sendall(bytes(900)), c.recv(10)))
        def peek_wait():
            tell(role(serve(lambda c: c.recv(1000, socket.MSG_PEEK | socket.MSG_WAITALL))))
            role(lambda: (c := dial(), c.sendall(bytes(900)), c.recv(10)))
        def nested_sets(c, kind):
            inner, outer = select.epoll(), select.epoll()
            inner.register(c, select.EPOLLIN); outer.register(inner, kind)
            return inner, outer
        def nested():
            def run(c): inner, outer = nested_sets(c, select.EPOLLIN); outer.poll()
            tell(role(serve(run)))
            role(lambda: (c := dial(), c.recv(10)))
        def exclusive():
            def worker():
                sets = select.epoll(); sets.register(listener, select.EPOLLIN | select.EPOLLEXCLUSIVE); sets.poll()
            tell(role(worker)); role(worker)
        def exclusive_busy():
            listener.setblocking(False)
            def worker():
                sets = select.epoll(); sets.register(listener, select.EPOLLIN | select.EPOLLEXCLUSIVE)
                while True:
                    sets.poll()
                    try: c, _ = listener.accept()
                    except BlockingIOError: continue
                    c.setblocking(True); c.recv(10); c.sendall(b"k"); c.close()
            tell(role(worker)); role(worker)
            def knock():
                while True:
                    c = dial(); c.sendall(b"x"); c.recv(10); c.close(); pause(.1)
            role(knock)
        def peek_loop():
            def run(c):
                while len(c.recv(1000, socket.MSG_PEEK)) < 1000: select.select([], [], [], .7)
            tell(role(serve(run)))
            role(lambda: (c := dial(), c.sendall(bytes(900)), c.recv(10)))
        def low_water_recv():
            def run(c): c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1000); c.recv(4000)
            tell(role(serve(run)))
            role(lambda: (c := dial(), c.sendall(bytes(900)), c.recv(10)))
        def low_water_select():
            def run(c): c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1000); select.select([c], [], [])
            tell(role(serve(run)))
            role(lambda: (c := dial(), c.sendall(bytes(900)), c.recv(10)))
        globals()[sys.argv[1]]()
        listener.close()
        sys.stdin.read()
        """
}
