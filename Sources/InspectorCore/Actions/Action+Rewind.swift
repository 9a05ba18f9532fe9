import SocketCore

extension Action {
    private static let everywhere = KeyContext.views + [.rewound]

    /// Going back in what was recorded.
    static let rewinding: [Action] = [
        Action(
            "play", .change { $0.togglePlaying() },
            .key([" "], in: [.rewound], "play, and pause", hint: { $0.isPlaying ? "pause" : "play" })),
        Action(
            "rewind", .change { $0.moveInstant(bySeconds: -1) },
            .key(
                [.left], in: everywhere, "one second back, in an opened file", hint: "back 1s",
                if: { $0.canRewind }),
            .key([.altLeft], in: [.composer], "one second back, in an opened file")),
        Action(
            "forward", .change { $0.moveInstant(bySeconds: 1) },
            .key([.right], in: [.rewound], "one second on", hint: "on 1s"),
            .key([.altRight], in: [.composer], "one second on, where it shows the past")),
        Action(
            "rewind-far", .change { $0.moveInstant(bySeconds: -10) },
            .key([.shiftLeft], in: everywhere, "ten seconds back, in an opened file")),
        Action(
            "forward-far", .change { $0.moveInstant(bySeconds: 10) },
            .key([.shiftRight], in: [.rewound], "ten seconds on")),
        Action(
            "event-back", .change { $0.moveInstant(byEvents: -1) },
            .key([","], in: everywhere, "one event back, in an opened file")),
        Action(
            "event-on", .change { $0.moveInstant(byEvents: 1) },
            .key(["."], in: [.rewound], "one event on", hint: "event")),
        Action("slower", .change { $0.changePace(-1) }, .key(["{"], in: [.rewound], "play half as fast")),
        Action("faster", .change { $0.changePace(1) }, .key(["}"], in: [.rewound], "play twice as fast")),
        Action(
            "at", .change { $0.askForInstant() },
            takes: .arguments(
                "TIME", "go to a time of an opened file, from its beginning: 12.5, 1:30", Instruction.instant
            ) { $0.goToInstant($1) },
            .key(["t"], in: everywhere, "go to a time, in an opened file", hint: "time", if: { $0.isRewound })),
        Action(
            "present", .change { $0.returnToPresent() },
            .key(["0"], in: [.rewound], "back to the end", hint: "end")),
    ]
}

extension Instruction {
    /// An instant, in nanoseconds from the beginning.
    static func instant(_ arguments: Arguments) throws(Failure) -> Int64 {
        guard let instant = InstantText.parse(arguments.text) else {
            throw Failure(arguments.text, "a time is seconds from the beginning, or 1:30, or 1:02:03.5")
        }
        return instant
    }
}
