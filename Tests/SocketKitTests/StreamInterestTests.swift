import SocketCore
import Testing

@testable import SocketKit

/// What a stream wants of the reactor, by what happened to it.
@Suite struct StreamInterestTests {
    /// A stream's; a class, so that an expectation may change it.
    private final class Stream {
        var interest = StreamInterest()
        func change(canReceive: Bool = true) -> StreamInterest.Change { interest.change(canReceive: canReceive) }
        func leave() -> Bool { interest.leave() }
    }

    private let stream = Stream()
    private let now = MonotonicTime(nanoseconds: 7)

    @Test func aNewStreamIsWatchedForBytesOnce() {
        #expect(stream.change() == .add(.read))
        #expect(stream.change() == .none)
        #expect(stream.interest.registered == .read)
    }

    @Test func bytesThatNobodyReadsStayInTheKernelAndOnlyFINIsReported() {
        _ = stream.change()
        stream.interest.stopReading(now)
        #expect(stream.interest.unreadSince.value == now)
        #expect(stream.change() == .modify(.peerClosed))
        stream.interest.notePeerClosed(now)
        #expect(stream.change() == .modify([]))
        stream.interest.resumeReading()
        #expect(stream.interest.unreadSince.value == nil)
        #expect(stream.change() == .modify(.read))
    }

    @Test func urgentDataIsWatchedForOnlyInLineAndWhileReading() {
        stream.interest.takesUrgentInLine = true
        #expect(stream.change() == .add([.read, .urgent]))
        stream.interest.stopReading(now)
        #expect(stream.change() == .modify(.peerClosed))
    }

    @Test func thePeersEndIsOfNoMoreInterest() {
        _ = stream.change()
        #expect(stream.change(canReceive: false) == .modify([]))
    }

    @Test(arguments: [true, false]) func roomIsWantedWhileTheKernelHasNoneOrOthersComeFirst(isBlocked: Bool) {
        if isBlocked { stream.interest.isWriteBlocked = true } else { stream.interest.isSendBudgetSpent = true }
        #expect(stream.change() == .add([.read, .write]))
        (stream.interest.isWriteBlocked, stream.interest.isSendBudgetSpent) = (false, false)
        #expect(stream.change() == .modify(.read))
    }

    @Test func aHungUpDescriptorLeavesTheSet() {
        _ = stream.change()
        stream.interest.isHungUp = true
        stream.interest.isWriteBlocked = true
        #expect(stream.change() == .remove)
        #expect(stream.change() == .none)
        #expect(!stream.leave())
    }

    @Test func whatHasLeftTheSetIsAddedAgain() {
        _ = stream.change()
        #expect(stream.leave())
        #expect(stream.change() == .add(.read))
    }

    @Test func timesAreThoseOfTheFirstReport() {
        let later = MonotonicTime(nanoseconds: 9)
        for time in [now, later] {
            stream.interest.stopReading(time)
            stream.interest.notePeerClosed(time)
        }
        #expect(stream.interest.unreadSince.value == now)
        #expect(stream.interest.peerClosedSince.value == now)
    }
}
