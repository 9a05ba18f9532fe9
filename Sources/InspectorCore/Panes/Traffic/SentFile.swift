import SocketCore

/// A file that was sent whole, or as far as it went.
package struct SentFile: Hashable, Sendable {
    /// Counted from 0 for each socket.
    package var number: Int
    /// The first instant that is known after the last of it went to the kernel, or it was stopped.
    package var time: MonotonicTime
    /// `sent big.bin: 191M in 9s`
    package var words: String
}

extension TrafficState {
    private static let notYet = MonotonicTime(nanoseconds: .max)

    /// Gives files that were sent before this snapshot its time: so they stand after the last of their bytes.
    mutating func placeSentFiles(_ snapshot: EngineSnapshot) {
        for (id, files) in sentFiles where files.last?.time == Self.notYet {
            sentFiles[id] = files.map { file in
                var file = file
                file.time = min(file.time, snapshot.time)
                return file
            }
        }
    }

    /// So many are remembered for a socket.
    private static let sentFileLimit = 32

    /// Remembers how the sending of a file ended; of anything else nothing.
    mutating func note(_ progress: TransmissionProgress, _ ending: TransmissionEnding, after duration: Duration) {
        guard case .file = progress.transmission.source else { return }
        let id = progress.transmission.socket
        let number = (sentFiles[id]?.last?.number ?? -1) + 1
        let words = progress.summary(ending, after: duration)
        sentFiles[id, default: []].append(SentFile(number: number, time: Self.notYet, words: words))
        if sentFiles[id, default: []].count > Self.sentFileLimit { sentFiles[id]?.removeFirst() }
    }
}
