import Dispatch
import InspectorCore
import SocketKit

extension EngineSource {
    /// Reads the files named in TLS settings on another queue, and then runs `work` on the engine's queue. A slow disk
    /// delays this call and no connection. Calls `refused` instead if a file can't be used.
    package func onQueue(
        reading settings: [TLSSettings], refused: @escaping @Sendable (SocketError) -> Void,
        _ work: @escaping @Sendable () -> Void
    ) {
        guard !settings.isEmpty else { return engine.post(work) }
        DispatchQueue.global().async { @Sendable [engine] in
            do throws(SocketError) {
                for settings in settings { try settings.readFiles() }
            } catch {
                return refused(error)
            }
            engine.post(work)
        }
    }

    /// Returns the settings used to open a socket, for `onQueue(reading:)`.
    package func settings(of request: OpenRequest) -> [TLSSettings] { request.tls.map { [judged($0)] } ?? [] }
}
