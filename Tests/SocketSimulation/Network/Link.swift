import Glibc
import SocketKit

/// One direction of a TCP connection. All bytes stay in one log; what is where is a matter of indices, so that the
/// log is at hand when what a reader got is compared with what was sent.
struct Direction {
    /// Everything that the sender's kernel took.
    private(set) var bytes: [UInt8] = []
    /// Of those, how many lie, or lay, in the receiver's buffer.
    private(set) var delivered = 0
    /// Of the rest, how many will never arrive.
    private var lost = 0
    /// Of those that arrived, how many the receiver took.
    private(set) var taken = 0
    /// The sender sent FIN.
    private(set) var isEnded = false
    /// FIN is known to the receiver.
    private(set) var isEndDelivered = false
    let sendCapacity: Int
    let receiveCapacity: Int

    init(sendCapacity: Int, receiveCapacity: Int) {
        self.sendCapacity = sendCapacity
        self.receiveCapacity = receiveCapacity
    }

    var inFlight: Int { bytes.count - delivered - lost }
    var unread: Int { delivered - taken }
    /// How many bytes the sender's kernel would take now.
    var room: Int { max(0, sendCapacity - inFlight) }
    /// How many bytes can arrive now.
    var deliverable: Int { min(inFlight, receiveCapacity - unread) }
    /// Whether FIN can arrive now.
    var isEndDeliverable: Bool { isEnded && !isEndDelivered && inFlight == 0 }

    mutating func send(_ new: some Collection<UInt8>) { bytes += new }
    mutating func deliver(_ count: Int) { delivered += count }
    mutating func take(_ count: Int) { taken += count }
    mutating func end() { isEnded = true }
    mutating func deliverEnd() { isEndDelivered = true }
    /// What is under way will never arrive; that it was sent stays known.
    mutating func drop() { lost = bytes.count - delivered }
    /// The bytes that the receiver can take, first come first.
    var waiting: ArraySlice<UInt8> { bytes[taken..<delivered] }
}

/// One end of a TCP connection.
struct End {
    /// Nobody holds it any more.
    var isClosed = false
    /// RST arrived.
    var isReset = false
    /// RST is under way to this end.
    var isResetComing = false
    /// SO_ERROR: told once, by the next call.
    var error: Int32 = 0
    /// This end sent FIN.
    var isWriteShut = false
    /// This end has seen the end of its stream.
    var hasSeenEnd = false
}

/// A TCP connection: two ends, and a direction from each. End and direction 0 belong to the side that connected.
struct Link {
    var directions: [Direction]
    var ends = [End(), End()]
    /// Where the connecting side connected to.
    let server: SocketAddress
    /// The end that a simulated peer holds; nil: both are the engine's.
    let peerEnd: Int?

    init(server: SocketAddress, peerEnd: Int?, capacities: [Int]) {
        self.server = server
        self.peerEnd = peerEnd
        directions = [
            Direction(sendCapacity: capacities[0], receiveCapacity: capacities[1]),
            Direction(sendCapacity: capacities[2], receiveCapacity: capacities[3]),
        ]
    }

    /// The direction toward `end` has something to be delivered: bytes, FIN or RST.
    func hasNews(for end: Int) -> Bool {
        guard !ends[end].isReset else { return false }
        let direction = directions[1 - end]
        if ends[end].isResetComing || direction.isEndDeliverable { return true }
        return ends[end].isClosed ? direction.inFlight > 0 : direction.deliverable > 0
    }

    /// Whether nothing more will come to `end` than what it has.
    func isOver(for end: Int) -> Bool {
        ends[end].isReset || directions[1 - end].isEndDelivered
    }

    /// Whether the kernel of `end` has forgotten the connection, but for what is left to read.
    func isGone(for end: Int) -> Bool {
        ends[end].isReset || directions[1 - end].isEndDelivered && directions[end].isEndDelivered
    }

    /// Delivers bytes toward `end`, at most so many; FIN behind the last of them; or RST.
    mutating func deliver(to end: Int, atMost most: Int, resetFirst: Bool) {
        if ends[end].isResetComing, resetFirst || directions[1 - end].deliverable == 0 { return arriveReset(at: end) }
        if ends[end].isClosed {
            // Bytes for an end that nobody holds are answered by RST.
            if directions[1 - end].inFlight > 0 {
                directions[1 - end].drop()
                ends[1 - end].isResetComing = true
            }
        } else {
            directions[1 - end].deliver(min(most, directions[1 - end].deliverable))
        }
        if directions[1 - end].isEndDeliverable { directions[1 - end].deliverEnd() }
    }

    private mutating func arriveReset(at end: Int) {
        ends[end].isResetComing = false
        ends[end].isReset = true
        ends[end].error = directions[1 - end].isEndDelivered ? EPIPE : ECONNRESET
        // What this end had under way can go nowhere, and nothing more will come.
        directions[end].drop()
        directions[1 - end].drop()
    }

    /// close(2): FIN, or RST where bytes are unread or where that was asked for.
    mutating func close(_ end: Int, resets: Bool) {
        ends[end].isClosed = true
        guard !ends[end].isReset else { return }
        if resets || directions[1 - end].unread > 0 {
            ends[1 - end].isResetComing = true
        } else {
            directions[end].end()
        }
    }
}
