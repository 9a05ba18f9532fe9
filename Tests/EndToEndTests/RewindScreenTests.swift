import SocketTestSupport
import Testing

/// Going back in a run that goes on.
@Suite(
    "A run that is kept", .enabled(if: Tmux.isUsable && Peer.isUsable("redis-server", "redis-cli")),
    .timeLimit(.minutes(10)))
struct RewindScreenTests {
    @Test("Left shows what was before, 0 what is now; the relay goes on meanwhile, and nothing of it is lost")
    func relay() throws {
        let redis = try Peer.redis()
        let port = try Peer.freePort()
        func set(_ value: String) throws {
            let outcome = try ChildProcess.run(["redis-cli", "-p", "\(port)", "SET", "key", value])
            #expect(outcome.output == "OK\n")
        }
        let inspection = try Inspection("relay 127.0.0.1:\(port) 127.0.0.1:\(redis.port) --rewind 60s")
        try inspection.wait(for: "back ")
        try inspection.wait(for: "LISTEN")
        try set("first-value")
        try inspection.wait(for: "closed 1")
        try inspection.tmux.keys("3")
        try inspection.send(":select 2")
        try inspection.tmux.keys("2")
        try inspection.wait(for: "first-value")
        // Before the connection there was the listener alone.
        try inspection.send(":at 0")
        try inspection.wait(for: "REWIND 00:00.000 / ")
        #expect(eventually { (try? inspection.tmux.text().contains("first-value")) == false })
        try inspection.send(":select 1")
        try inspection.send(":close now")
        try inspection.wait(for: "not possible in the past; 0 goes back")
        try set("second-value")
        try inspection.tmux.keys("0")
        try inspection.wait(for: "LIVE")
        try inspection.send(":select 2")
        try inspection.wait(for: "first-value")
        try inspection.send(":select 4")
        try inspection.wait(for: "second-value")
        try inspection.tmux.keys("Left")
        try inspection.wait(for: "REWIND ")
        try inspection.tmux.keys("0")
        try inspection.wait(for: "second-value")
    }
}
