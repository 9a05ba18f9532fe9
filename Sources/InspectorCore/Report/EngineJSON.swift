import SocketCore

extension SocketJSON {
    /// Returns the load of an engine. `load` was measured since the last `engine` line, and is null for the first.
    static func load(_ load: EngineLoad?, _ engine: EngineShare) -> [JSON.Member] {
        let times = engine.times
        return [
            JSON.Member("engine", JSON(engine.engine)), JSON.Member("busy_share", JSON(load?.busy)),
            JSON.Member("turns_per_s", JSON(load?.turns)),
            JSON.Member("longest_turn_s", JSON(seconds: times.longestTurn)),
            JSON.Member("queue_lag_s", JSON(seconds: times.queueLag)),
            JSON.Member("mailbox_depth", JSON(times.mailboxDepth)),
        ] + counters(engine.counters)
    }

    /// Returns the counts over the engine's life.
    static func counters(_ counters: EngineCounters) -> [JSON.Member] {
        [
            JSON.Member("turns", JSON(counters.turns)), JSON.Member("readiness_events", JSON(counters.readinessEvents)),
            JSON.Member("commands", JSON(counters.commands)), JSON.Member("opened", JSON(counters.opened)),
            JSON.Member("closed", JSON(counters.closed)), JSON.Member("received_bytes", JSON(counters.received)),
            JSON.Member("sent_bytes", JSON(counters.sent)),
            JSON.Member("descriptors_refused", JSON(counters.descriptorsRefused)),
            JSON.Member("unfinished_message_bytes", JSON(counters.unfinishedMessageBytes)),
            JSON.Member("messages_without_room", JSON(counters.messagesWithoutRoom)),
        ]
    }
}
