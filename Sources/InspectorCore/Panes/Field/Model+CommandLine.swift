import SocketCore

extension Model {
    /// The command line opens above the footer, wherever the cursor is.
    mutating func openCommandLine() {
        field = OpenField(purpose: .command, editor: LineEditor(), before: "")
        field?.editor.remember(commandHistory)
    }

    /// Ends the command line and does what it says, or what the row of the palette says. A line that means nothing stays
    /// to be corrected.
    mutating func acceptCommandLine() -> [Effect] {
        let accepted = palette?.accepted
        if let accepted, accepted.needsMore {
            typeInField { $0.set(accepted.line) }
            return []
        }
        guard let line = accepted?.line ?? field?.editor.text, line.contains(where: { $0 != " " }) else {
            field = nil
            return []
        }
        if case .failure(let failure) = Instruction.parse(line) {
            field?.error = failure.message
            return []
        }
        field = nil
        commandHistory.removeAll { $0 == line }
        commandHistory = (commandHistory + [line]).suffix(LineEditor.historyLimit)
        return run(line)
    }
}
