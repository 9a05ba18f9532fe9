import Glibc
import SocketKit
import SocketRecords

/// A connection to an inspection socket, up to the greeting.
package final class InspectionLink {
    package private(set) var descriptor: Int32 = -1
    /// The peer's process according to the kernel, or 0 if it is in another PID namespace.
    package let process: Int32

    /// Connects without ever waiting. Only a program of the same user is trusted.
    package init(path: String) throws(AttachError) {
        guard path.nativeBytes.count <= Endpoint.longestUnixPath else {
            throw AttachError(sentence: "\(path): too long for a socket path")
        }
        let kernel = LinuxKernel()
        guard case .bytes(let opened) = kernel.openStream(for: .unix(path: path)) else {
            throw AttachError(sentence: "no file descriptors are left")
        }
        descriptor = Int32(opened)
        let failure = kernel.connect(descriptor, to: .unix(path: path))
        guard failure == 0 else {
            throw AttachError(sentence: Self.sentence(failure, path), isSilence: failure == EAGAIN)
        }
        process = kernel.peerProcess(descriptor)
        let user = kernel.peerUser(descriptor)
        guard user == Int64(geteuid()) else {
            throw AttachError(sentence: "\(path): that program runs as user \(user), this one as \(geteuid())")
        }
    }

    deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

    private static func sentence(_ failure: Int32, _ path: String) -> String {
        switch failure {
        case ENOENT: "\(path): does not exist; socktui attach lists the programs to attach to"
        case ECONNREFUSED: "\(path): the program has ended"
        case EAGAIN: "\(path): the program accepts no viewers; it may be stopped"
        default: "\(path): \(String(cString: strerror(failure)))"
        }
    }

    /// The error for a program that does not answer.
    package static let silence = AttachError(
        sentence: "the program does not answer; it may be stopped", isSilence: true)

    /// Exchanges greetings, and waits for the program's. The kernel says which process it is. Bytes after the greeting
    /// stay in the decoder.
    package func greet(
        _ mine: InspectionHello, _ decoder: inout InspectionFrameDecoder, within limit: Duration
    ) throws(AttachError) -> InspectionHello {
        introduce(mine)
        let end = ContinuousClock.now + limit
        while true {
            if let hello = try answer(&decoder) { return hello }
            var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let left = (end - ContinuousClock.now).wholeNanoseconds / 1_000_000
            guard left > 0, poll(&polled, 1, Int32(left)) >= 0 || errno == EINTR else { throw Self.silence }
        }
    }

    /// Sends our greeting.
    package func introduce(_ mine: InspectionHello) {
        let bytes = InspectionFrame.hello(mine).bytes
        _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Reads what has arrived, without waiting. Returns `nil` until the program's greeting is complete.
    package func answer(_ decoder: inout InspectionFrameDecoder) throws(AttachError) -> InspectionHello? {
        if let hello = try hello(&decoder) { return hello }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 { decoder.append(buffer[..<count]) }
        let hello = try hello(&decoder)
        if hello == nil, count == 0 || count < 0 && errno != EAGAIN && errno != EINTR {
            throw AttachError(sentence: "the program closed the connection without answering")
        }
        return hello
    }

    /// Returns the greeting, or `nil` if it is not complete. Throws the sentence of a refusal.
    private func hello(_ decoder: inout InspectionFrameDecoder) throws(AttachError) -> InspectionHello? {
        do throws(WireError) {
            switch try decoder.next() {
            case .hello(var hello):
                hello.process = Int(process)
                return hello
            case .refusal(let sentence): throw WireError.malformed(sentence)
            case nil: return nil
            case .sockets, .tick, .events, .traffic, .notice, .peers, .calls, .passed, .reset, .answer, .watch,
                .command,
                .request,
                .unknown:
                throw WireError.malformed("that program does not speak the inspection protocol")
            }
        } catch {
            let sentence = if case .malformed(let sentence) = error { sentence } else { "its answer is unreadable" }
            throw AttachError(sentence: sentence)
        }
    }

    /// Transfers ownership of the descriptor to the caller.
    package func release() -> Int32 {
        defer { descriptor = -1 }
        return descriptor
    }
}
