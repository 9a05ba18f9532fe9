import Dispatch
import InspectorCore
import SocketKit

extension EngineSource {
    /// Does something on the engine's queue after the files that TLS settings name have been read elsewhere. A slow disk
    /// holds up this call and no connection. Calls `refused` instead when a file cannot be used.
    func onQueue(
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

    /// The settings that opening a socket uses, for `onQueue(reading:)`.
    func settings(of request: OpenRequest) -> [TLSSettings] { request.tls.map { [judged($0)] } ?? [] }
}
