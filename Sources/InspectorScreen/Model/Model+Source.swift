import InspectorCore
import SocketCore

extension Model {
    /// Returns the effects that the programs support. Shows a notice for the others.
    mutating func allowed(_ effects: [Effect]) -> [Effect] {
        guard !effects.isEmpty, !shared.programs.isEmpty || isRewound else { return effects }
        return effects.filter { effect in
            guard let refusal = shared.refusal(of: effect) else { return true }
            notice = error(refusal)
            return false
        }
    }

    /// Returns why the selected connection's program lacks these abilities, or `nil` if it has them.
    func refusal(needing needs: SourceAbilities) -> String? {
        needs.isEmpty ? nil : shared.pastRefusal ?? list.selected.flatMap(shared.owner)?.refusal(needing: needs)
    }

    /// Whether the selected connection's program performs commands. If it doesn't, no key is named for one.
    var allowsCommands: Bool { refusal(needing: .commands) == nil }

    /// The reason why the payload of the selected connection is not shown, or `nil` if it is.
    var payloadRefusal: String? {
        guard let owner = list.selected.flatMap(shared.owner), owner.rights < .payload else { return nil }
        if owner.isOutside {
            let port = selected.flatMap { ($0.role == .client ? $0.peer : $0.local)?.port }
            return "\(owner.title): seen from outside"
                + (port.map { "; for its bytes: socktui capture port \($0)" } ?? ", without its bytes")
        }
        return "\(owner.title) does not show payload; it needs SOCKETKIT_INSPECT=payload"
    }
}
