import SocketCore

extension Model {
    /// What of it the programs can do; why one cannot is told.
    mutating func allowed(_ effects: [Effect]) -> [Effect] {
        guard !shared.programs.isEmpty else { return effects }
        return effects.filter { effect in
            guard let ordinal = effect.socket?.ordinal,
                let refusal = shared.programs.first(where: { $0.ordinal == ordinal })?.refusal(of: effect)
            else { return true }
            notice = error(refusal)
            return false
        }
    }
}
