import CSockTUIRun
import Glibc
import HostSockets
import InspectorCore
import SocketCore

extension HostGrounds {
    /// Looks at this host and this process. Nothing is changed, and no other process is touched.
    package static func find(_ system: HostSystem = .live) -> HostGrounds {
        var grounds = HostGrounds()
        grounds.kernel = kernelName()
        grounds.readFiles(system)
        grounds.tryCalls(system)
        grounds.libpcapProblem = Pcap.libraryProblem
        grounds.tsharkProblem = Dissector.problem
        return grounds
    }

    private static func kernelName() -> String {
        var name = utsname()
        guard uname(&name) == 0 else { return "" }
        return "\(text(of: name.release)) \(text(of: name.machine))"
    }

    /// Returns the text of a field of utsname.
    private static func text<Field>(of field: Field) -> String {
        withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private mutating func readFiles(_ system: HostSystem) {
        let text = { (path: String) -> [UInt8]? in try? system.read(path, 0, 65_536) }
        let number = { (path: String) -> Int? in
            text(path).flatMap { Int(String(decoding: $0.prefix { $0 != 10 }, as: UTF8.self)) }
        }
        let lines = text("/proc/self/status") ?? []
        let status = ProcessStatus(lines)
        (user, capabilities) = (status.user ?? 0, status.capabilities ?? 0)
        isFiltered = lines.split(separator: 10).contains { $0.elementsEqual("Seccomp:\t2".utf8) }
        traceScope = number("/proc/sys/kernel/yama/ptrace_scope")
        ringsDisabled = number("/proc/sys/kernel/io_uring_disabled")
        hidesProcesses = text("/proc/1/stat") == nil
        hasSchedule = ThreadSchedule(text("/proc/self/sched") ?? []).lastRun != nil
        let actions = String(decoding: text("/proc/sys/kernel/seccomp/actions_avail") ?? [], as: UTF8.self)
        hasNotices = actions.split { $0 == " " || $0 == "\n" }.contains("user_notif")
    }

    private mutating func tryCalls(_ system: HostSystem) {
        do throws(HostObserver.Problem) { _ = try HostObserver(system).look() } catch { diagnosis = error.sentence }
        let own = open("/proc/self", O_RDONLY | O_CLOEXEC)
        do throws(HostSystem.Failure) { close(try system.duplicate(getpid(), own)) } catch {
            duplicate = POSIXErrno(error.number).words
        }
        close(own)
        let address = UInt64(UInt(bitPattern: environ))
        do throws(HostSystem.Failure) { _ = try system.memory(getpid(), address, 8) } catch {
            memory = POSIXErrno(error.number).words
        }
    }
}
