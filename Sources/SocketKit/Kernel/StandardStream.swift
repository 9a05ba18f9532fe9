import Glibc
import SocketCore

/// Standard output and standard error. Nothing else in the package writes to them, except the screen, which has its
/// terminal to itself.
///
/// What is written here may quote peers, files and arguments, so it is escaped by `PrintableText`. The exception is a
/// peer's bytes that the user asked for, if the stream is not a terminal.
package enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    /// How a write ended.
    package enum Outcome: Hashable, Sendable {
        case written
        /// The reader is gone.
        case nobodyReads
        /// The write failed with this `errno`: a full disk, a closed descriptor.
        case failed(Int32)
        /// The caller gave up, or the deadline has passed. Part of the text may have been written.
        case interrupted
    }

    /// What ends a write that waits for a reader.
    package struct Interruption {
        /// Readable when `isWanted` must be called.
        let descriptor: Int32
        /// Whether to give up.
        let isWanted: () -> Bool
        /// When to give up if the reader still takes nothing, or `nil` for never.
        let deadline: () -> ContinuousClock.Instant?

        package init(
            descriptor: Int32, deadline: @escaping () -> ContinuousClock.Instant? = { nil },
            isWanted: @escaping () -> Bool
        ) {
            self.descriptor = descriptor
            self.deadline = deadline
            self.isWanted = isWanted
        }

        /// How long poll(2) may wait, in milliseconds, or -1 for no limit.
        fileprivate var patience: Int32 { StandardStream.patience(until: deadline()) }
    }

    private static func patience(until instant: ContinuousClock.Instant?) -> Int32 {
        instant.map { Int32(clamping: max(0, ($0 - .now).wholeNanoseconds + 999_999) / 1_000_000) } ?? -1
    }

    /// When lines for standard error are given up that nothing reads, or `nil` while they wait.
    private static let errorsEnd = Lock<ContinuousClock.Instant?>(nil)

    /// Gives up lines for standard error that nothing has read by then, because the program must end.
    package static func giveUpErrors(at instant: ContinuousClock.Instant) { errorsEnd.withLock { $0 = instant } }

    /// Whether the stream is a terminal.
    package var isTerminal: Bool { isatty(rawValue) == 1 }

    /// Whether anything can read what is written here. `true` if that is not known.
    package var hasReader: Bool {
        var polled = pollfd(fd: rawValue, events: 0, revents: 0)
        return poll(&polled, 1, 0) <= 0 || Int32(polled.revents) & (POLLERR | POLLHUP) == 0
    }

    /// Writes one or more lines of text and waits until all of it is written.
    @discardableResult
    package func write(_ text: String, until interruption: Interruption? = nil) -> Outcome {
        write(Array(PrintableText.escaped(text, keepingLines: true).utf8)[...], interruption)
    }

    /// Writes one line and its line feed. Line feeds in `sentence` are escaped.
    @discardableResult
    package func writeLine(_ sentence: String) -> Outcome {
        write(Array((PrintableText.escaped(sentence) + "\n").utf8)[...], nil)
    }

    /// Replaces the last line if the stream is a terminal, and does nothing otherwise. An empty line clears it.
    package func rewriteLine(_ sentence: String) {
        guard isTerminal else { return }
        _ = write(Array(("\r" + PrintableText.escaped(sentence) + "\u{1B}[K").utf8)[...], nil)
    }

    /// Writes a peer's bytes as they are, or escaped if the stream is a terminal.
    package func write(bytes: [UInt8], until interruption: Interruption? = nil) -> Outcome {
        guard isTerminal else { return write(bytes[...], interruption) }
        return write(String(decoding: bytes.filter { $0 != 0x0D }, as: UTF8.self), until: interruption)
    }

    /// Opens descriptors 0 to 2 if the program was started without them, so that no file or pipe of the program takes
    /// their place. Writing to a missing stream fails with `EBADF`.
    package static func openMissing() {
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
            // open returns the lowest free number, and those below are in use.
            _ = open("/dev/null", O_RDONLY)
        }
    }

    /// The bytes that a pipe or terminal accepts without blocking once poll(2) reports room.
    private static let piece = 4_096

    private func write(_ bytes: ArraySlice<UInt8>, _ interruption: Interruption?) -> Outcome {
        var rest = bytes
        while !rest.isEmpty {
            guard waitForRoom(interruption) else { return .interrupted }
            let count = rest.prefix(Self.piece).withUnsafeBytes { Glibc.write(rawValue, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EPIPE {
                return .nobodyReads
            } else if errno != EINTR, errno != EAGAIN {
                return .failed(errno)
            }
        }
        return .written
    }

    /// Returns `false` if the caller gave up.
    private func waitForRoom(_ interruption: Interruption?) -> Bool {
        var polled = [pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)]
        if let interruption { polled.append(pollfd(fd: interruption.descriptor, events: Int16(POLLIN), revents: 0)) }
        while true {
            let end = self == .error ? Self.errorsEnd.withLock { $0 } : nil
            let count = poll(&polled, nfds_t(polled.count), interruption?.patience ?? Self.patience(until: end))
            if count > 0, let interruption, polled[1].revents != 0, interruption.isWanted() { return false }
            if count > 0, polled[0].revents != 0 { return true }
            if count == 0 { return false }
            if count < 0, errno != EINTR { return true }
        }
    }
}
