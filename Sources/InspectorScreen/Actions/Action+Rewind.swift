import InspectorCore
import SocketCore

extension Action {
    private static let everywhere = KeyContext.views + [.rewound]

    /// Rewinding in a recording or in the kept history.
    static let rewinding: [Action] = [
        Action(
            "play", .change { $0.togglePlaying() },
            .key([" "], in: [.rewound], "play or pause", hint: { $0.isPlaying ? "pause" : "play" })),
        Action(
            "rewind", .change { $0.moveInstant(bySeconds: -1) },
            takes: .arguments(
                "TIME|off", "keep the last TIME of this run for rewinding", words: ["60s", "off"],
                Instruction.history
            ) { model, span in
                if span == nil { model.returnToPresent() }
                return [.keepHistory(span)]
            },
            .key(
                [.left], in: everywhere, "one second back, in an opened file or with --rewind", hint: "back 1s",
                if: { $0.canRewind }),
            .key([.altLeft], in: [.composer], "one second back, in an opened file or with --rewind")),
        Action(
            "forward", .change { $0.moveInstant(bySeconds: 1) },
            .key([.right], in: [.rewound], "one second forward", hint: "forward 1s"),
            .key([.altRight], in: [.composer], "one second forward, when rewound")),
        Action(
            "rewind-far", .change { $0.moveInstant(bySeconds: -10) },
            .key([.shiftLeft], in: everywhere, "ten seconds back")),
        Action(
            "forward-far", .change { $0.moveInstant(bySeconds: 10) },
            .key([.shiftRight], in: [.rewound], "ten seconds forward")),
        Action(
            "event-back", .change { $0.moveInstant(byEvents: -1) },
            .key([","], in: everywhere, "previous event")),
        Action(
            "event-on", .change { $0.moveInstant(byEvents: 1) },
            .key(["."], in: [.rewound], "next event", hint: "event")),
        Action("slower", .change { $0.changePace(-1) }, .key(["{"], in: [.rewound], "halve the playback speed")),
        Action("faster", .change { $0.changePace(1) }, .key(["}"], in: [.rewound], "double the playback speed")),
        Action(
            "at", .change { $0.askForInstant() },
            takes: .arguments(
                "TIME", "go to a time, from the beginning: 12.5, 1:30", Instruction.instant
            ) { $0.goToInstant($1) },
            .key(["t"], in: everywhere, "go to a time", hint: "time", if: { $0.isRewound })),
        Action(
            "present", .change { $0.returnToPresent() },
            .key(
                ["0"], in: [.rewound], "back to the present, or to the end of a file",
                hint: { $0.shared.latest?.moment?.isLive == true ? "now" : "end" })),
    ]
}

extension Instruction {
    /// Parses an instant, in nanoseconds from the beginning.
    static func instant(_ arguments: Arguments) throws(Failure) -> Int64 {
        guard let instant = InstantText.parse(arguments.text) else {
            throw Failure(arguments.text, "a time is seconds from the beginning, or 1:30, or 1:02:03.5")
        }
        return instant
    }

    /// Parses how much of a run is kept for rewinding, or returns `nil` for none.
    static func history(_ arguments: Arguments) throws(Failure) -> Duration? {
        if arguments.text == "off" { return nil }
        guard let span = HistoryText.parse(arguments.text) else { throw Failure(arguments.text, HistoryText.problem) }
        return span
    }
}

/// The text form of the kept time of a run: `60s`, `5m`.
package enum HistoryText {
    /// Returns the duration, or `nil` if the text is not a duration from one second to one day.
    package static func parse(_ text: String) -> Duration? {
        guard case .some(.some(let span)) = DurationText.parse(text), span >= .seconds(1), span <= .seconds(86_400)
        else { return nil }
        return span
    }

    package static let problem = "is not a duration; write 60s or 5m, from 1s to 24h"
}
