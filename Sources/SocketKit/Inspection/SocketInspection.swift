import Glibc
import SocketCore

/// Makes the sockets of this program visible to `socktui attach`, run by the same user on the same host.
///
/// Call `try SocketInspection.serve(engine)`, or set `SOCKETKIT_INSPECT` in the environment (`1` or `watch`, `payload`,
/// `control`) to serve every engine without a call. Without either, nothing is opened. Viewers connect to a Unix-domain
/// socket in a folder of mode 0700. Viewers that run as another user are refused.
///
/// Updates are made on the engine's queue up to ten times a second, about a hundred sessions at a time. They are less
/// frequent if they would take more than a hundredth of the processor time that the program uses. A separate thread
/// sends them, so a slow viewer holds nothing up: it gets the latest state when it has room. Without viewers, the
/// thread sleeps and the engine notes no changes.
///
/// The wire format is described in <doc:InspectionWire>.
public final class SocketInspection: Sendable {
    private let server: InspectionServer

    /// The path of the socket that viewers connect to.
    public var path: String { server.path }
    /// What viewers may do.
    public var rights: InspectionRights { server.rights }
    /// The number of attached viewers.
    public var viewers: Int { server.viewerCount }
    /// Why the last refused viewer was refused, or `nil` if none was.
    public var lastRefusal: String? { server.lastRefusal }

    /// Whether the environment requested it, and not the program.
    let isAskedFor: Bool

    private init(_ server: InspectionServer, isAskedFor: Bool) {
        self.server = server
        self.isAskedFor = isAskedFor
    }

    /// Starts serving `engine`, until `stop` is called or the engine is released. You don't need to keep the result.
    ///
    /// `rights` is what every viewer may do. By default viewers see queues and events, but no payload. Throws
    /// `badParameter` if the folder does not belong to this user alone, and `system` if the socket cannot be created
    /// there. An engine that is already served because of `SOCKETKIT_INSPECT` is listed once, with the larger of the
    /// two rights.
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

    /// Serves in another folder. Tests use one of their own.
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

    /// Stops serving and disconnects the viewers. The socket's file is removed before this returns. Has no effect the
    /// second time.
    public func stop() { server.stop() }

    /// Serves `engine` if the environment requests it.
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

    /// Writes to stderr, because there is no caller to throw to.
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
