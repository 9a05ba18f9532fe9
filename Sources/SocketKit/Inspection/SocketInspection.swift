import Glibc
import SocketCore

/// Makes the sockets of this program visible to `socktui attach`, run by the same user on the same host.
///
/// One call does it: `try SocketInspection.serve(engine)`; or none, when `SOCKETKIT_INSPECT` is in the environment
/// (`1` or `watch`, `payload`, `control`): then every engine is served. Without either nothing is opened. Viewers come
/// by a Unix-domain socket in a folder of mode 0700; whoever is not of this process's user is refused. What viewers see
/// is made on the engine's queue up to ten times a second, a hundred sessions or so at a time, less often where it would
/// take more than a hundredth of the processor time that the program uses, and told by a thread of its own, so that a slow
/// viewer holds nothing up: it is told the latest state when it has room. While nobody looks, the thread sleeps and the engine takes no notes.
///
/// The wire is described in <doc:InspectionWire>.
public final class SocketInspection: Sendable {
    private let server: InspectionServer

    /// The socket that viewers connect to.
    public var path: String { server.path }
    /// What viewers may do.
    public var rights: InspectionRights { server.rights }
    /// How many viewers look now.
    public var viewers: Int { server.viewerCount }
    /// Why the last one that was refused was refused; nil: none was.
    public var lastRefusal: String? { server.lastRefusal }

    /// Whether the environment asked for it, and not the program.
    let isAskedFor: Bool

    private init(_ server: InspectionServer, isAskedFor: Bool) {
        self.server = server
        self.isAskedFor = isAskedFor
    }

    /// Begins to serve `engine`, until `stop` is called or the engine is released; nobody has to keep what this returns.
    ///
    /// `rights` is what every viewer may do: by default it sees queues and events, and no byte of what was said. Throws
    /// `badParameter` when the folder is not this user's alone, `system` when the socket cannot be made there.
    /// An engine that is served because of `SOCKETKIT_INSPECT` is listed once: the larger of the two rights holds.
    @discardableResult
    public static func serve(
        _ engine: SocketEngine, rights: InspectionRights = .watch
    ) throws(SocketError) -> SocketInspection {
        if let asked = engine.askedInspection {
            if asked.rights >= rights { return asked }
            asked.stop()
            engine.forget(asked)
        }
        return try serve(engine, rights: rights, folder: InspectionFolder.standard)
    }

    /// Serves in another folder, which tests have to themselves.
    @discardableResult
    package static func serve(
        _ engine: SocketEngine, rights: InspectionRights, folder: String, program: String? = nil,
        isAskedFor: Bool = false, kernel: any Kernel = LinuxKernel()
    ) throws(SocketError) -> SocketInspection {
        try InspectionFolder.make(folder)
        _ = InspectionFolder.endpoints(in: folder)
        let inspection = SocketInspection(
            try InspectionServer(
                engine, rights: rights, folder: folder, program: program ?? programName, kernel: kernel),
            isAskedFor: isAskedFor)
        engine.keep(inspection)
        return inspection
    }

    /// Ends it: viewers are disconnected, the socket's file is gone when this returns. No effect the second time.
    public func stop() { server.stop() }

    /// What the environment asks for.
    static func serveAsAsked(_ engine: SocketEngine) {
        guard let value = ProcessEnvironment["SOCKETKIT_INSPECT"], !["", "0"].contains(value) else {
            return
        }
        let rights = value == "1" ? .watch : InspectionRights(rawValue: value)
        guard let rights else {
            return complain("SOCKETKIT_INSPECT=\(value): must be 1, watch, payload or control")
        }
        do throws(SocketError) {
            try serve(engine, rights: rights, folder: InspectionFolder.standard, isAskedFor: true)
        } catch {
            complain("SOCKETKIT_INSPECT: \(error.detail)")
        }
    }

    /// To stderr: whoever asked by the environment has no other way to hear.
    private static func complain(_ sentence: String) {
        StandardStream.error.writeLine("SocketKit: \(sentence)")
    }

    private static var programName: String {
        var name = [CChar](repeating: 0, count: 64)
        let file = open("/proc/self/comm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        let count = read(file, &name, name.count - 1)
        let bytes = name.prefix(max(0, count)).map(UInt8.init(bitPattern:)).filter { $0 != 10 }
        return String(decoding: bytes, as: UTF8.self)
    }
}
