import InspectorCore
import SocketCore
import SocketWorkshop

extension Action {
    /// Faults and breakpoints. `socktui ctl` accepts them too.
    package static let faults: [Action] = [
        Action(
            "fault",
            takes: .arguments(
                FaultCommand.faultUsage, "inject faults into connections",
                words: ["add", "list", "off", "clear"] + FaultWord.names(.condition, .direction, .effect, .datagrams)
                    + FaultProfile.builtIn.keys.sorted(),
                FaultCommand.fault
            ) { _, command in [.fault(command)] }),
        Action(
            "break", .change { $0.openBreak() },
            takes: .arguments(
                FaultCommand.breakUsage, "hold connections at a point",
                words: ["on", "list", "off", "clear", "upstream", "downstream"] + FaultWord.names(.point),
                FaultCommand.breakpoint
            ) { _, command in [.fault(command)] },
            .key(
                ["B"], in: KeyContext.connections, "set a breakpoint; on a held connection: release it",
                hint: { $0.isSelectedHeld ? "release" : nil })),
        Action(
            "held",
            takes: .arguments("", "list the connections that breakpoints hold", FaultCommand.held) { _, command in
                [.fault(command)]
            }),
        Action(
            "release",
            takes: .arguments(
                FaultCommand.releaseUsage, "let held bytes pass",
                words: ["all", "read", "drop", "reset", "edit", "upstream", "downstream"], FaultCommand.release
            ) { $0.release($1) }),
    ]
}
