@testable import InspectorCore
import SocketCore

/// Programs that wait for each other, made up for a test.
extension HostWorld {
    /// A server that serves one connection at a time, with its listener as descriptor 3.
    @discardableResult
    mutating func server(_ number: Int32, _ name: String, port: UInt16, _ call: HostCall = .futex) -> Int32 {
        program(number, name, call)
        _ = listen(number, 3, port: port)
        return number
    }

    /// A question of `bytes` that was asked at a time and is not answered. Returns both ends.
    @discardableResult
    mutating func ask(
        _ client: (Int32, Int32), _ server: (Int32, Int32)?, port: UInt16, bytes: UInt64 = 101, at time: Double,
        unread: Bool = false
    ) -> (client: UInt64, server: UInt64) {
        let ends = connect(client, server, port: port)
        for (id, sent, received) in [(ends.client, bytes, 0), (ends.server, 0, bytes)] {
            self[id].tcp?.sent = sent
            self[id].tcp?.received = received
            self[id].tcp?.retransmittedBytes = 0
        }
        (sent[ends.client], received[ends.server]) = (time, time)
        if unread { self[ends.server].receiveQueue = Int64(bytes) }
        return ends
    }

    /// The same after an earlier answer, which came at a time.
    @discardableResult
    mutating func askAgain(
        _ client: (Int32, Int32), _ server: (Int32, Int32), port: UInt16, answered: Double, at time: Double
    ) -> (client: UInt64, server: UInt64) {
        let ends = ask(client, server, port: port, at: time)
        self[ends.client].tcp?.received = 500
        self[ends.server].tcp?.sent = 500
        (received[ends.client], sent[ends.server]) = (answered, answered)
        return ends
    }

    /// The chains about a process at the last of these looks, which examine every program.
    func chains(
        about process: Int32, at times: [Double] = [10, 11, 11.31],
        _ change: (inout HostWorld, Double) -> Void = { _, _ in }
    ) -> [WaitWords] {
        var world = self, judge = HostJudge()
        for time in times {
            change(&world, time)
            judge.absorbExamined(world.look(time))
        }
        return judge.chains(about: [], [process]).map(judge.words)
    }

    /// `curl[81] > nginx[77] ~> api.py[91]: call`, where `~>` is a probable link.
    func drawn(about process: Int32, at times: [Double] = [10, 11, 11.31]) -> [String] {
        chains(about: process, at: times).map { words in
            var text = words.chain.links.enumerated().map { index, link in
                let arrow = index == 0 ? "" : link.certainty == .proven ? " => " : " ~> "
                return arrow + words.name(link)
            }.joined()
            text += " > \(words.target): \(words.chain.end.kind.rawValue)"
            return text
        }
    }
}
