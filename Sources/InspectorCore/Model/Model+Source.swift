import SocketCore

extension Model {
    /// What of it the programs can do; why one cannot is told.
    mutating func allowed(_ effects: [Effect]) -> [Effect] {
        guard !effects.isEmpty, !shared.programs.isEmpty || isRewound else { return effects }
        return effects.filter { effect in
            guard let refusal = shared.refusal(of: effect) else { return true }
            notice = error(refusal)
            return false
        }
    }

    /// Why the program of the selected connection cannot do what needs these abilities, or `nil` if it can.
    func refusal(needing needs: SourceAbilities) -> String? {
        needs.isEmpty ? nil : shared.pastRefusal ?? list.selected.flatMap(shared.owner)?.refusal(needing: needs)
    }

    /// Whether the program of the selected connection carries out commands. Where it does not, no key is named for one.
    var allowsCommands: Bool { refusal(needing: .commands) == nil }

    /// Why the payload of the selected connection is not shown, or `nil` if it is.
    var payloadRefusal: String? {
        guard let owner = list.selected.flatMap(shared.owner), owner.rights < .payload else { return nil }
        if owner.isOutside { return "\(owner.title) is looked at from outside, where its payload is not seen" }
        return "\(owner.title) does not show payload; it needs SOCKETKIT_INSPECT=payload"
    }
}
