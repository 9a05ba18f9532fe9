import SocketCore
import Testing

@Suite("Texts below /proc")
struct ProcessTextTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func stat(_ name: String, flags: String = "4194304") -> String {
        let rest = (23...37).map { "\($0)" }.joined(separator: " ")
        return "42 (\(name)) S 7 42 42 0 -1 \(flags) 1 2 3 4 5 6 7 8 20 0 3 0 98765 \(rest) 17 1 0 0\n"
    }

    @Test("a process's name may hold anything", arguments: ["sh", "a) R 1 (b", "", " ", ")", "a\nb", "((", "x) S 9 9"])
    func names(name: String) throws {
        let stat = try #require(ProcessStat(bytes(Self.stat(name))))
        #expect(stat.command == name)
        #expect(stat.state == UInt8(ascii: "S") && stat.parent == 7 && stat.start == 98_765)
        #expect(stat.processor == 1 && !stat.isKernelThread)
    }

    @Test("a kernel thread is told apart")
    func kernelThread() {
        #expect(ProcessStat(bytes(Self.stat("kthreadd", flags: "2129984")))?.isKernelThread == true)
    }

    @Test("a cut text is none, or the same")
    func cutStat() {
        let text = bytes(Self.stat("a) b"))
        for count in 0..<text.count {
            guard let stat = ProcessStat(Array(text.prefix(count))) else { continue }
            #expect(stat.parent == 7 && (stat.command == "a) b" || stat.command == "a"))
        }
    }

    @Test(
        "names that help, and never an argument",
        arguments: [
            (["python3", "-u", "/srv/api.py", "--password", "x"], "python3", "api.py"),
            (["/usr/bin/python3.11", "-X", "dev", "-m", "http.server", "80"], "python3", "http.server"),
            (["python3", "-c", "secret"], "python3", "python3"),
            (["python3"], "python3", "python3"),
            (["java", "-Xmx1g", "-cp", "/a/b.jar:c", "-jar", "/opt/orders.jar", "x"], "java", "orders.jar"),
            (["java", "-classpath", "/a/b", "org.example.Main", "secret"], "java", "org.example.Main"),
            (["java", "@arguments", "Main"], "java", "Main"),
            (["node", "--require", "/x/y.js", "/srv/web.js"], "node", "web.js"),
            (["node", "-e", "secret"], "node", "node"),
            (["bash", "-c", "secret"], "bash", "bash"),
            (["-bash"], "bash", "bash"),
            (["sh", "-e", "/etc/run.sh", "secret"], "sh", "run.sh"),
            (["perl", "-I", "lib", "-w", "tool.pl"], "perl", "tool.pl"),
            (["ruby", "--", "-odd.rb"], "ruby", "odd.rb"),
            (["php", "-f", "/a/page.php"], "php", "page.php"),
            (["/usr/sbin/redis-benchmark-long", "-a", "secret"], "redis-benchmark", "redis-benchmark-long"),
            (["nginx: worker process"], "nginx", "nginx"),
            (["postgres: user secret"], "postgres", "postgres"),
            ([], "kworker/0:1", "kworker/0:1"), ([""], "x", "x"), (["/"], "x", "x"),
            (["python3", ""], "python3", "python3"),
        ] as [([String], String, String)])
    func helpful(arguments: [String], command: String, name: String) {
        #expect(ProgramName.helpful(arguments, command: command) == name)
    }

    @Test("arguments are parted by NUL, and bounded")
    func arguments() {
        #expect(ProgramName.arguments(bytes("a\0b c\0\0d\0")) == ["a", "b c", "", "d"])
        #expect(ProgramName.arguments([]) == [])
        #expect(ProgramName.arguments([0, 0, 0]) == ["", "", ""])
        #expect(ProgramName.arguments([UInt8](repeating: 0, count: 100_000)).count <= 256)
        #expect(ProgramName.arguments([0xFF, 0]) == [String(native: [0xFF])])
    }

    @Test("when a thread last ran, and how often it was switched")
    func schedule() {
        let text = """
            sh (42, #threads: 1)
            -------------------------------------------------------------------
            se.exec_start                                :     123456789.012345
            se.vruntime                                  :             1.000000
            nr_switches                                  :                  917
            nr_voluntary_switches                        :                  900
            """
        #expect(ThreadSchedule(bytes(text)).lastRun == 123_456_789_012_345)
        #expect(ThreadSchedule(bytes(text)).switches == 900)
        for line in [
            "", "se.exec_start : 1", "se.exec_start : -1.000000", "se.exec_start : 99999999999999999999.000000",
        ] {
            #expect(ThreadSchedule(bytes(line)).lastRun == nil)
        }
    }

    @Test("the effective user, the right to trace, and switches where there is no schedule")
    func status() {
        let text = "Name:\tUid: 1\nUid:\t1\t2\t3\t4\nCapEff:\t0000000000080000\n"
        let status = ProcessStatus(
            bytes(text + "voluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\n"))
        #expect(status.user == 2 && status.mayTrace && status.switches == 5)
        let none = ProcessStatus(bytes("CapEff:\t00000000a80425fb\nUid:\tx\n"))
        #expect(none.user == nil && !none.mayTrace && none.switches == nil)
    }

    @Test("an epoll set's entries, as old and new kernels write them")
    func entries() {
        let text = """
            pos:\t0
            flags:\t02004002
            mnt_id:\t15
            ino:\t1057
            tfd:        4 events: 8000001c data: ffffffff00000004  pos:0 ino:7e88 sdev:8
            tfd:        5 events:        0 data:                5
            tfd: x events: 19 data: 5
            tfd: 99999999999 events: 19 data: 5
            """
        let facts = DescriptorFacts(bytes(text))
        #expect(
            facts.entries == [
                .init(descriptor: 4, events: 0x8000_001C, inode: 0x7E88), .init(descriptor: 5, events: 0, inode: 0),
            ])
        #expect(facts.isNonBlocking && facts.closesOnExec)
        #expect(facts.entries[0].isEdgeTriggered && facts.entries[0].listensForOutput)
        let plain = DescriptorFacts(bytes("pos:\t0\nflags:\t02\n"))
        #expect(plain.flags == 2 && !plain.isNonBlocking && !plain.closesOnExec)
        #expect(DescriptorFacts([]).flags == nil)
    }

    @Test("cgroups of both versions, and what says that they are frozen")
    func cgroups() {
        let unified = ProcessCgroup(bytes("0::/system.slice/api.service\n"))
        #expect(unified.path == "/system.slice/api.service" && unified.freezeFiles.count == 2)
        let old = ProcessCgroup(bytes("4:cpu,cpuacct:/a\n3:freezer:/f\n1:name=systemd:/s:with colon\n"))
        #expect(old.path == "/s:with colon" && old.freezeFiles == ["/sys/fs/cgroup/freezer/f/freezer.state"])
        #expect(ProcessCgroup(bytes("nonsense\n::\n")).path == nil)
        #expect(ProcessCgroup.isFrozen(bytes("populated 1\nfrozen 1\n")) && ProcessCgroup.isFrozen(bytes("FROZEN\n")))
        #expect(!ProcessCgroup.isFrozen(bytes("populated 1\nfrozen 0\n")) && !ProcessCgroup.isFrozen(bytes("THAWED\n")))
    }

    @Test("overflows of listeners, ports, and links to sockets")
    func network() {
        let text = "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 1 56 57\nIpExt: a\nIpExt: 1\n"
        #expect(NetworkText.listenOverflows(bytes(text)) == 56)
        #expect(NetworkText.listenOverflows(bytes("TcpExt: ListenOverflows\nTcpExt:\n")) == nil)
        #expect(NetworkText.listenOverflows([]) == nil)
        #expect(NetworkText.portRange(bytes("32768\t60999\n")) == 32_768...60_999)
        for text in ["", "1", "2 1", "1 65536", "1 2 3"] { #expect(NetworkText.portRange(bytes(text)) == nil) }
        #expect(NetworkText.socketInode(bytes("socket:[123]")) == 123)
        for text in ["", "socket:[]", "socket:[1", "pipe:[1]", "socket:[-1]", "/socket:[1]"] {
            #expect(NetworkText.socketInode(bytes(text)) == nil)
        }
    }

    @Test("wait channels without what a compiler added")
    func waitChannels() {
        #expect(WaitChannel.name(bytes("poll_schedule_timeout.constprop.0")) == "poll_schedule_timeout")
        #expect(WaitChannel.name(bytes("0")) == "" && WaitChannel.name([]) == "")
        #expect(WaitChannel.name([UInt8](repeating: 0x61, count: 10_000)).utf8.count == 64)
    }
}
