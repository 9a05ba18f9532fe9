import InspectorCore
import SocketCore
import SocketTestSupport
import Testing

@testable import InspectorShell

/// The connection to the agent of one of several hosts.
@Suite("The connection to a host's agent", .timeLimit(.minutes(10)))
struct HostLinkTests {
    private static func link(_ script: String) -> HostLink {
        HostLink(HostPlace(name: "web", through: ["sh", "-c", script, "agent"]), HostOrdinal(3)!, own: "")
    }

    private static func time(_ seconds: Int) -> MonotonicTime { .zero + .seconds(seconds) }

    /// Reads until the output has ended.
    private static func drain(_ link: inout HostLink) -> Bool {
        eventually {
            _ = link.receive(at: time(1))
            link.receiveErrors()
            return link.output < 0
        }
    }

    /// Exit tests of this process wait for as long as one of its children is left that nobody waited for.
    private static func isReaped(_ link: inout HostLink) -> Bool {
        eventually {
            link.settle(at: time(10))
            return !link.isEnding
        }
    }

    @Test("a program that lives on after its output has ended is not waited for, and is given up after a while")
    func lives() {
        var link = Self.link("echo late >&2; exec sleep 1000 >&-")
        #expect(Self.drain(&link))
        link.settle(at: Self.time(2))
        #expect(link.isOpen && link.isEnding)
        let isSaid = eventually {
            link.receiveErrors()
            return link.said == "late"
        }
        #expect(isSaid)
        link.settle(at: Self.time(9))
        #expect(link.problem == "its agent did not begin: late")
        #expect(Self.isReaped(&link))
    }

    @Test("the status of a program that has ended is the reason, and pauses before the next try double up to 30 s")
    func pauses() {
        var link = Self.link("echo no route >&2; exit 7")
        var now = 1
        for pause in [1, 2, 4, 8, 16, 30, 30] {
            #expect(Self.drain(&link))
            let isOver = eventually {
                link.settle(at: Self.time(1))
                return !link.isOpen
            }
            #expect(isOver && link.problem == "its agent did not begin, status 7: no route")
            link.retryLater(at: Self.time(now))
            #expect(link.retry.map { $0 - Self.time(now) } == .seconds(pause))
            now += 100
            link.retryLater(at: Self.time(now))
            #expect(link.retry.map { $0 - Self.time(now - 100) } == .seconds(pause))
            link.restart()
            #expect(link.isOpen && link.retry == nil)
        }
        link.end("closed")
        #expect(link.losses == 0 && Self.isReaped(&link))
    }
}
