/// Programs in C and Go, for node and for Java that hang, or wait rightly. Each prints the port it is about and the process at
/// fault, and then does so until it is killed; its client is a process or a thread of its own.
enum HangingNativePrograms {
    static let c = """
        #define _GNU_SOURCE
        #include <arpa/inet.h>
        #include <signal.h>
        #include <stdio.h>
        #include <string.h>
        #include <sys/epoll.h>
        #include <sys/prctl.h>
        #include <sys/socket.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        static char bytes[100000];
        static struct sockaddr_in address;
        static void client(const char *name) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            int end = socket(AF_INET, SOCK_STREAM, 0);
            connect(end, (struct sockaddr *)&address, sizeof address);
            send(end, bytes, 5000, 0);
            if (!strcmp(name, "loop_stuck")) { recv(end, bytes, 1, 0); send(end, bytes, 500, 0); }
            for (;;) pause();
        }
        static int set(int inner, unsigned events) {
            int set = epoll_create1(0);
            struct epoll_event event = {events};
            epoll_ctl(set, EPOLL_CTL_ADD, inner, &event);
            return set;
        }
        int main(int count, char **words) {
            const char *name = words[1];
            struct epoll_event event;
            int listener = socket(AF_INET, SOCK_STREAM, 0);
            address.sin_family = AF_INET;
            address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            socklen_t size = sizeof address;
            bind(listener, (struct sockaddr *)&address, size);
            listen(listener, 9);
            getsockname(listener, (struct sockaddr *)&address, &size);
            printf("%d %d\\n", ntohs(address.sin_port), getpid());
            fflush(stdout);
            if (fork() == 0) client(name);
            int end = accept(listener, 0, 0);
            if (!strcmp(name, "never_reads")) for (;;) pause();
            if (!strcmp(name, "edge"))
                for (int loop = set(end, EPOLLIN | EPOLLET);;) { epoll_wait(loop, &event, 1, -1); read(end, bytes, 64); }
            if (!strcmp(name, "loop_stuck")) {
                int loop = set(end, EPOLLIN);
                epoll_wait(loop, &event, 1, -1);
                while (recv(end, bytes, sizeof bytes, MSG_DONTWAIT) > 0);
                send(end, bytes, 1, 0);
                for (;;) pause();
            }
            if (!strcmp(name, "nested"))  // the edge is on the set inside the one that it waits in
                for (int loop = set(set(end, EPOLLIN), EPOLLIN | EPOLLET);;) {
                    epoll_wait(loop, &event, 1, -1);
                    read(end, bytes, 64);
                }
            if (!strcmp(name, "wait_all")) recv(end, bytes, sizeof bytes, MSG_WAITALL);
            if (!strcmp(name, "ring")) { syscall(SYS_io_uring_setup, 4, bytes); for (;;) pause(); }
            return 1;
        }
        """

    static let node = """
        const net = require("net"), { fork } = require("child_process"), [kind, port] = process.argv.slice(2);
        if (kind == "client") {
            net.connect(+port).write(Buffer.alloc(2000000));
            process.on("disconnect", () => process.exit());
        } else {
            const server = net.createServer(socket => socket.once("data", () => {
                if (kind == "pause") socket.pause();
                else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
            }));
            server.listen(0, "127.0.0.1", () => {
                process.stdout.write(server.address().port + " " + process.pid + "\\n");
                fork(__filename, ["client", server.address().port]);
            });
        }
        """

    static let java = """
        import java.net.*;
        public class NeverReads {
            public static void main(String[] words) throws Exception {
                ServerSocket listener = new ServerSocket(0, 9, InetAddress.getByName("127.0.0.1"));
                System.out.println(listener.getLocalPort() + " " + ProcessHandle.current().pid());
                Socket client = new Socket("127.0.0.1", listener.getLocalPort());
                Socket server = listener.accept();
                client.getOutputStream().write(new byte[100]);
                new java.util.concurrent.CountDownLatch(1).await();
            }
        }
        """

    /// A server that never reads: Go's own epoll set, which is edge-triggered, holds each of its connections.
    static let go = """
        package main
        import ("fmt"; "net"; "os")
        func main() {
            listener, _ := net.Listen("tcp", "127.0.0.1:0")
            fmt.Println(listener.Addr().(*net.TCPAddr).Port, os.Getpid())
            go func() {
                client, _ := net.Dial("tcp", listener.Addr().String())
                client.Write(make([]byte, 5000))
                client.Read(make([]byte, 1))
            }()
            server, _ := listener.Accept()
            defer server.Close()
            <-make(chan int)
        }
        """

    /// A server of TLS that has half a record: it waits in read for the rest.
    static let halfRecord = """
        import ctypes, os, signal, socket, ssl, sys
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        child = os.fork()
        if child == 0:
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)
            settings = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            settings.check_hostname, settings.verify_mode = False, ssl.CERT_NONE
            end, into, out = socket.create_connection(("127.0.0.1", port)), ssl.MemoryBIO(), ssl.MemoryBIO()
            session = settings.wrap_bio(into, out)
            while True:
                try:
                    session.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    end.sendall(out.read())
                    into.write(end.recv(65536))
            end.sendall(out.read())
            session.write(bytes(16000))
            end.sendall(out.read()[:1024])
            signal.pause()
        print(port, os.getpid(), flush=True)
        settings = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        settings.load_cert_chain(sys.argv[1], sys.argv[2])
        settings.wrap_socket(listener.accept()[0], server_side=True).recv(100)
        """
}
