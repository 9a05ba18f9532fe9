/// What the table of programs needs: a server for all of them, what runs them, and clients in Go and Java.
enum RunTable {
    /// Serves HTTP, Redis, PostgreSQL and lines at one port, and prints for each connection the length and the SHA-256 of
    /// what it received and of what it sent. Clients of SSH get an sshd of their own, and those of 127.0.0.2 a MariaDB
    /// server, which speaks first.
    static let server = #"""
        import hashlib, os, shutil, socket, struct, subprocess, sys, threading

        folder, tools = sys.argv[2:]
        lock = threading.Lock()

        class Line:
            """A connection, and what went through it."""
            def __init__(self, s):
                self.s, self.got, self.sent, self.kept = s, b"", b"", b""
            def more(self):
                b = self.s.recv(65536)
                self.got += b
                self.kept += b
                return b
            def take(self, count):
                while len(self.kept) < count and self.more(): pass
                b, self.kept = self.kept[:count], self.kept[count:]
                return b
            def until(self, end):
                while end not in self.kept:
                    if not self.more(): return None
                return self.take(self.kept.index(end) + len(end))
            def send(self, b):
                self.sent += b
                self.s.sendall(b)

        def http(line):
            while head := line.until(b"\r\n\r\n"):
                words = head.split(b"\r\n")[0].split()
                fields = dict(f.lower().split(b": ", 1) for f in head.split(b"\r\n")[1:] if b": " in f)
                line.take(int(fields.get(b"content-length", 0)))
                path = os.path.join(folder, words[1].decode().split("?")[0].lstrip("/"))
                if os.path.isdir(path): path += "/index.html"
                there = os.path.isfile(path)
                body = open(path, "rb").read() if there else b"none\n"
                stays = words[2] == b"HTTP/1.1" and fields.get(b"connection") != b"close"
                line.send(b"HTTP/1.1 %s\r\nContent-Length: %d\r\nContent-Type: text/html\r\nConnection: %s\r\n\r\n" % (
                    b"200 OK" if there else b"404 Not Found", len(body), b"keep-alive" if stays else b"close"))
                if words[0] != b"HEAD": line.send(body)
                if not stays: return

        def redis(line):
            while count := line.until(b"\r\n"):
                words = [line.take(int(line.until(b"\r\n")[1:]) + 2)[:-2] for _ in range(int(count[1:]))]
                if words[0].upper() == b"PING": line.send(b"+PONG\r\n")
                elif words[0].upper() == b"GET": line.send(b"$5\r\nvalue\r\n")
                else: line.send(b"-ERR unknown command\r\n")

        def postgres(line):
            def message(kind, body): line.send(kind + struct.pack("!I", len(body) + 4) + body)
            while True:
                size = struct.unpack("!I", line.take(4))[0]
                start = line.take(size - 4)
                if start[:2] == b"\x00\x03": break
                line.send(b"N")
            message(b"R", bytes(4))
            for name, value in [("server_version", "15.0"), ("client_encoding", "UTF8"), ("standard_conforming_strings", "on")]:
                message(b"S", f"{name}\0{value}\0".encode())
            message(b"Z", b"I")
            while kind := line.take(1):
                text = line.take(struct.unpack("!I", line.take(4))[0] - 4)
                if kind != b"Q": return
                message(b"T", b"\x00\x01answer\x00" + struct.pack("!IhIhih", 0, 0, 25, -1, -1, 0))
                message(b"D", struct.pack("!hI", 1, 2) + b"42")
                message(b"C", b"SELECT 1\0")
                message(b"Z", b"I")

        def echo(line):
            """Answers each line, and a whole that has none with its length."""
            while True:
                text = line.until(b"\n")
                if text is None: return line.send(b"%d bytes\n" % len(line.got))
                line.send(text.upper())

        def forward(line, server):
            def answer():
                while b := server.recv(65536): line.send(b)
                line.s.shutdown(socket.SHUT_WR)
            answers = threading.Thread(target=answer)
            answers.start()
            try:
                server.sendall(line.kept)
                while b := line.more(): server.sendall(b)
                server.shutdown(socket.SHUT_WR)
            except OSError: pass
            answers.join()

        def ssh(line):
            sshd = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin")
            options = [f"HostKey={tools}/host-key", f"AuthorizedKeysFile={tools}/key.pub", "StrictModes=no", "UsePAM=no"]
            ours, theirs = socket.socketpair()
            with theirs:
                subprocess.Popen([sshd, "-i", "-f", "/dev/null"] + [w for o in options for w in ("-o", o)],
                    stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL)
            forward(line, ours)

        def mysql(line):
            database = socket.socket(socket.AF_UNIX)
            database.connect(tools + "/mysql.sock")
            forward(line, database)

        def serve(s):
            line = Line(s)
            try:
                if s.getsockname()[0] == "127.0.0.2": mysql(line)
                first = line.more()
                if first[:1] == b"*": redis(line)
                elif first[:1] == b"\0": postgres(line)
                elif first[:4] == b"SSH-": ssh(line)
                elif first[:4] in (b"GET ", b"HEAD", b"POST"): http(line)
                elif first: echo(line)
            except (OSError, struct.error, ValueError): pass
            try:
                s.shutdown(socket.SHUT_WR)
                while line.more(): pass
            except OSError: pass
            s.close()
            sums = [f"{len(b)} {hashlib.sha256(b).hexdigest()}" for b in (line.got, line.sent)]
            with lock: print(*sums, flush=True)

        def accept(listener):
            while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

        listeners = [socket.create_server((host, int(sys.argv[1])), backlog=256) for host in ("127.0.0.2", "127.0.0.1")]
        for listener in listeners: threading.Thread(target=accept, args=(listener,)).start()
        """#

    /// Runs the programs. Its arguments are the port, the folder of the clients, and the names of those to run, or none.
    static let driver = #"""
        """Runs each program once, and prints a line of JSON for each: its name, its status, what it printed."""
        import concurrent.futures, json, os, shutil, subprocess, sys, tempfile

        port, tools, wanted = sys.argv[1:4]
        url = f"http://127.0.0.1:{port}"
        os.environ["PATH"] += ":/usr/local/sbin:/usr/sbin:/sbin"
        ask = "GET /file HTTP/1.0\\r\\n\\r\\n"
        PY = {
            "urllib": "import urllib.request as r; print(r.urlopen('URL/file').read())",
            "asyncio": """
        import asyncio
        async def ask():
            r, w = await asyncio.open_connection("127.0.0.1", PORT)
            w.write(b"GET /file HTTP/1.0\\r\\n\\r\\n")
            print((await r.read())[-6:], w.get_extra_info("peername"))
        asyncio.run(ask())""",
            "requests": "import requests; s = requests.Session(); print([s.post('URL/big', data=b'x' * 100_000).text[-9:] for _ in range(3)])",
        }
        NODE = {
            "http": "require('http').get('URL/file', a => a.on('data', b => console.log(`${b}`)))",
            "fetch": "fetch('URL/file').then(a => a.text()).then(console.log)",
            "net": "let all = ''; require('net').connect(PORT, '127.0.0.1', function () { console.log(this.remotePort === PORT); this.end('one\\n') }).on('data', d => all += d).on('end', () => console.log(all))",
        }
        NGINX = """master_process off; pid DIR/pid; error_log DIR/log; events {} http { access_log off;
        client_body_temp_path DIR/b; proxy_temp_path DIR/p; fastcgi_temp_path DIR/f; uwsgi_temp_path DIR/u; scgi_temp_path DIR/s;
        server { listen unix:DIR/sock; location / { proxy_pass URL; } } }"""

        def nginx(folder):
            open(folder + "/conf", "w").write(NGINX.replace("DIR", folder).replace("URL", url))
            words = ["nginx", "-p", folder, "-c", folder + "/conf", "-e", folder + "/log"]
            # It listens before it goes into the background.
            subprocess.run(words)
            subprocess.run(["curl", "-sS", "--unix-socket", folder + "/sock", "http://x/file"])
            subprocess.run(words + ["-s", "stop"])

        MYSQL = ["mysql", "--no-defaults", "-h", "127.0.0.2", "-P", port, "-e", "select 42; select repeat('x', 100000)"]
        SSH = f"-i DIR/key -l $(cat {tools}/user) " + " ".join(f"-o {o}" for o in (
            "BatchMode=yes", "LogLevel=ERROR", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null"))

        # A program's name, what it needs, and its words. Those that start with python: are run here, in a process of their own.
        TABLE = [
            ("curl", "curl", ["curl", "-sS", url + "/file", url + "/big", url + "/none"]),
            ("wget", "wget", ["wget", "-qO-", url + "/file"]),
            ("git", "git", ["git", "ls-remote", url + "/repo.git"]),
            ("psql", "psql", ["psql", "-h", "127.0.0.1", "-p", port, "-U", "u", "-d", "d", "-Atc", "select 42"]),
            ("redis-cli", "redis-cli", ["redis-cli", "-p", port, "get", "key"]),
            ("mysql", "mysql mariadbd", MYSQL + ["--skip-ssl"]),
            ("mysql TLS", "mysql mariadbd", MYSQL + ["--ssl"]),
            # Others may read its key here, which it does not accept.
            ("ssh", "ssh sshd", ["sh", "-c", f"install -m 600 {tools}/key DIR/key && ssh -F none {SSH} -p {port} 127.0.0.1 'echo hello; seq 20000'"]),
            ("nc", "nc", ["sh", "-c", f"printf 'one\\ntwo\\n' | nc -N 127.0.0.1 {port}"]),
            ("ncat", "ncat", ["sh", "-c", f"printf 'one\\ntwo\\n' | ncat 127.0.0.1 {port}"]),
            ("socat", "socat", ["sh", "-c", f"printf 'one\\ntwo\\n' | socat -t9 - TCP:127.0.0.1:{port}"]),
            ("bash /dev/tcp", "bash", ["bash", "-c", f"exec 9<>/dev/tcp/127.0.0.1/{port}; printf '{ask}' >&9; tail -n1 <&9"]),
            ("nginx upstream", "nginx", ["python:nginx"]),
            ("apt", "/usr/lib/apt/apt-helper", ["/usr/lib/apt/apt-helper", "-qq", "download-file", url + "/file", "DIR/file"]),
            ("pip", "pip", ["pip", "download", "-q", "--no-cache-dir", "--disable-pip-version-check", "--no-deps", "-d", "DIR", "-i", url + "/simple/", "demo"]),
            ("go", tools + "/ask-go", [tools + "/ask-go", url, port]),
            ("java", "java", ["java", "-cp", tools, "Ask", url, port]),
        ] + [(f"python {name}", "python3", ["python3", "-c", text]) for name, text in PY.items()] + [
            (f"node {name}", "node", ["node", "-e", text]) for name, text in NODE.items()]

        def run(row):
            name, needed, words = row
            for one in needed.split():
                if not shutil.which(one): return {"name": name, "skipped": f"{one} is missing"}
            if "requests" in name and subprocess.run(["python3", "-c", "import requests"], stderr=subprocess.DEVNULL).returncode:
                return {"name": name, "skipped": "requests is missing"}
            with tempfile.TemporaryDirectory() as folder:
                words = [w.replace("URL", url).replace("PORT", port).replace("DIR", folder) for w in words]
                if words[0] == "python:nginx": words = [sys.executable, __file__, port, tools, "", folder]
                environment = dict(os.environ, HOME=folder)
                done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, timeout=50)
                return {"name": name, "status": done.returncode, "output": done.stdout.decode("latin1").replace(folder, "DIR")}

        if len(sys.argv) > 4: nginx(sys.argv[4])
        else:
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                for result in pool.map(run, [row for row in TABLE if not wanted or row[0] in wanted.split(",")]): print(json.dumps(result), flush=True)
        """#

    /// Prints of a recording what the server prints, for each leg.
    static let legs = #"""
        """Prints for each leg of a recording what its client and its server sent, as the server prints its connections."""
        import collections, hashlib, struct, sys

        data, port = open(sys.argv[1], "rb").read(), int(sys.argv[2])
        streams, expected, openers, place = collections.defaultdict(bytes), {}, [], 0
        while place < len(data):
            kind, size = struct.unpack("<II", data[place:place + 8])
            if kind == 6:
                leg, _, _, count = struct.unpack("<IIII", data[place + 8:place + 24])
                packet = data[place + 42:place + 28 + count]
                if packet[0] >> 4 == 4 and packet[9] == 6:
                    ip = (packet[0] & 15) * 4
                    sender, receiver, sequence = struct.unpack("!HHI", packet[ip:ip + 8])
                    way, flags, payload = (leg, sender, receiver), packet[ip + 13], packet[ip + (packet[ip + 12] >> 4) * 4:]
                    if flags & 18 == 2: openers.append(way)
                    if payload and sequence != expected.get(way, sequence): sys.exit(f"{way} has a gap before {sequence}")
                    expected[way] = (sequence + len(payload) + (flags >> 1 & 1)) & 0xFFFFFFFF
                    streams[way] += payload
            place += size
        for leg, client, server in openers:
            both = streams[leg, client, server], streams[leg, server, client]
            print("server" if server == port else "client", *[f"{len(b)} {hashlib.sha256(b).hexdigest()}" for b in both])
        """#

    static let go = #"""
        package main

        import (
            "fmt"
            "io"
            "net"
            "net/http"
            "os"
            "sync"
        )

        func main() {
            answer, err := http.Get(os.Args[1] + "/file")
            if err != nil {
                fmt.Println(err)
                os.Exit(1)
            }
            body, _ := io.ReadAll(answer.Body)
            fmt.Printf("%d %q\n", answer.StatusCode, body)
            var group sync.WaitGroup
            texts := make([]string, 20)
            for i := range texts {
                group.Add(1)
                go func(i int) {
                    defer group.Done()
                    line, err := net.Dial("tcp", "127.0.0.1:"+os.Args[2])
                    if err != nil {
                        texts[i] = err.Error()
                        return
                    }
                    defer line.Close()
                    fmt.Fprintf(line, "line %d\n", i)
                    line.(*net.TCPConn).CloseWrite()
                    text, _ := io.ReadAll(line)
                    texts[i] = line.RemoteAddr().String() + string(text)
                }(i)
            }
            group.Wait()
            fmt.Printf("%q\n", texts)
        }
        """#

    static let java = #"""
        import java.io.*;
        import java.net.*;
        import java.net.http.*;
        import java.nio.*;
        import java.nio.channels.*;

        class Ask {
            public static void main(String[] words) throws Exception {
                URI file = URI.create(words[0] + "/file");
                try (InputStream in = file.toURL().openStream()) { System.out.print("URLConnection " + new String(in.readAllBytes())); }
                HttpClient client = HttpClient.newHttpClient();
                System.out.print("HttpClient " + client.send(HttpRequest.newBuilder(file).build(), HttpResponse.BodyHandlers.ofString()).body());
                Selector selector = Selector.open();
                SocketChannel line = SocketChannel.open();
                line.configureBlocking(false);
                line.register(selector, SelectionKey.OP_CONNECT);
                line.connect(new InetSocketAddress("127.0.0.1", Integer.parseInt(words[1])));
                while (!line.isConnected()) { selector.select(); selector.selectedKeys().clear(); line.finishConnect(); }
                line.write(ByteBuffer.wrap("nio\n".getBytes()));
                line.keyFor(selector).interestOps(SelectionKey.OP_READ);
                selector.select();
                ByteBuffer answer = ByteBuffer.allocate(64);
                line.read(answer);
                System.out.print("NIO " + new String(answer.array(), 0, answer.position()));
                line.close();
            }
        }
        """#

    /// Makes the clients in the one folder, and what is served in the other.
    static let preparation = #"""
        set -e
        tools=$1; www=$2
        mkdir -p "$www/simple/demo"
        echo hello > "$www/file"; python3 -c "print('0123456789' * 10000)" > "$www/big"
        printf '<a href="/demo-1.0-py3-none-any.whl">demo-1.0-py3-none-any.whl</a>' > "$www/simple/demo/index.html"
        python3 - "$www" <<'P'
        import sys, zipfile
        with zipfile.ZipFile(sys.argv[1] + "/demo-1.0-py3-none-any.whl", "w") as z:
            info = "demo-1.0.dist-info/"
            z.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n")
            z.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            z.writestr(info + "RECORD", "")
        P
        git init -q --bare "$www/repo.git"; git init -q "$tools/work"; cd "$tools/work"
        git -c user.name=a -c user.email=b commit -q --allow-empty -m x; git push -q "$www/repo.git" HEAD:refs/heads/main
        git -C "$www/repo.git" update-server-info
        cd "$tools"
        if command -v ssh-keygen >/dev/null; then
            id -un > user
            ssh-keygen -q -t ed25519 -N '' -f key; ssh-keygen -q -t ed25519 -N '' -f host-key
            # What sshd, as root, demands to be there.
            if [ "$(id -u)" = 0 ]; then mkdir -p /run/sshd; fi
        fi
        if command -v javac >/dev/null; then javac -d . Ask.java; fi
        if command -v go >/dev/null; then GO111MODULE=off CGO_ENABLED=0 go build -o ask-go ask.go; fi
        """#
}
