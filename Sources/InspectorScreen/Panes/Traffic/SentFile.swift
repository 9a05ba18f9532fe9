import InspectorCore
import SocketCore

/// A file that was sent completely, or up to where it was stopped.
package struct SentFile: Equatable, Sendable {
    /// Counted from 0 for each socket.
    package var number: Int
    /// The first known instant after the kernel accepted the last of it, or after it was stopped.
    package var time: MonotonicTime
    /// `sent big.bin: 191M in 9s`
    package var words: String
}

extension TrafficState {
    private static let notYet = MonotonicTime(nanoseconds: .max)

    /// Dates files that were sent before this snapshot with its time, so that they are shown after the last of their
    /// bytes. One whose connection has closed was over by then.
    mutating func placeSentFiles(_ snapshot: EngineSnapshot) {
        for (id, files) in sentFiles where files.last?.time == Self.notYet {
            let latest = snapshot.socket(id)?.closed?.time ?? snapshot.time
            sentFiles[id] = files.map { file in
                var file = file
                file.time = min(file.time, latest)
                return file
            }
        }
    }

    /// The most files remembered for a socket.
    private static let sentFileLimit = 32

    /// Remembers how the sending of a file ended. Ignores other transmissions.
    mutating func note(_ progress: TransmissionProgress, _ ending: TransmissionEnding, after duration: Duration) {
        guard case .file = progress.transmission.source else { return }
        let id = progress.transmission.socket
        let number = (sentFiles[id]?.last?.number ?? -1) + 1
        let words = progress.summary(ending, after: duration)
        sentFiles[id, default: []].append(SentFile(number: number, time: Self.notYet, words: words))
        if sentFiles[id, default: []].count > Self.sentFileLimit { sentFiles[id]?.removeFirst() }
    }
}
