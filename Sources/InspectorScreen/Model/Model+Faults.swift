import InspectorCore
import SocketCore

/// Breakpoints and what they hold.
extension Model {
    /// Opens the menu of a held connection. For others, opens the line that sets a breakpoint.
    mutating func openBreak() {
        guard let socket = selected, let hold = socket.fault?.hold else {
            return field.begin(.command, with: "break on ")
        }
        if let holder = otherProgram(of: socket.id) {
            notice = hint("\(socket.id) is held by a breakpoint of \(holder.name); only that program can release it")
            return
        }
        var menu = Menu(
            title: "\(socket.id) is held by breakpoint \(hold.breakpoint), on \(hold.text)",
            items: [
                Menu.Item(key: "c", label: "continue, up to the next breakpoint", choice: .release(socket.id, .all)),
                Menu.Item(key: "n", label: "let one read pass", choice: .release(socket.id, .read)),
                Menu.Item(key: "b", label: "let some bytes pass...", choice: .typeRelease(socket.id)),
                Menu.Item(key: "e", label: "edit the bytes, and continue", choice: .editHeld(socket.id)),
                Menu.Item(key: "x", label: "drop the bytes, and continue", choice: .release(socket.id, .drop)),
                Menu.Item(key: "r", label: "reset both sides...", choice: .askReset(socket.id)),
                Menu.Item(key: "a", label: "all breakpoints off", choice: .breaksOff),
            ])
        menu.notes = [
            .words(
                "waiting: \(Format.size(hold.upstreamBytes)) to the server, \(Format.size(hold.downstreamBytes)) to the client"
            )
        ]
        dialogs.open = .menu(menu)
    }

    /// Whether this program holds the selected connection.
    var isSelectedHeld: Bool { selected.map { $0.fault?.hold != nil && otherProgram(of: $0.id) == nil } ?? false }

    /// Returns the program of a connection that is only inspected, or `nil` if it is this program's.
    private func otherProgram(of id: SocketID) -> ProgramInfo? {
        shared.owner(of: id).flatMap { $0.abilities.contains(.sending) ? nil : $0 }
    }

    /// Releases what is held of the selected connection, unless the command names another one.
    mutating func release(_ command: FaultCommand) -> [Effect] {
        let held = selected.flatMap { $0.fault?.hold == nil ? nil : $0.id }
        switch command {
        case .release(let release, nil, let direction): return [.fault(.release(release, held, direction))]
        case .reset(nil): return [.fault(.reset(held))]
        default: return [.fault(command)]
        }
    }

    /// Asks before a reset, because it can't be undone.
    mutating func askReset(_ id: SocketID) {
        dialogs.open = .menu(
            Menu(
                title: "Reset \(id) and its other leg?",
                items: [
                    Menu.Item(key: "y", label: "yes, reset both sides (RST)", choice: .resetHeld(id)),
                    Menu.Item(key: "n", label: "no, keep holding it", choice: .stay),
                ], selected: 1))
    }

    /// Opens the held bytes in the editor.
    mutating func editHeld(_ id: SocketID, _ bytes: [UInt8]) -> [Effect] {
        guard !bytes.isEmpty else {
            notice = hint("no bytes are held at \(id) yet")
            return []
        }
        return [.screen(.edit(.held(id), bytes))]
    }

    /// Reports connections that a breakpoint has held since the last snapshot.
    mutating func noteHeld(_ snapshot: EngineSnapshot) -> [Effect] {
        guard let event = snapshot.events.last(where: { $0.kind == .held }), !isRewound else { return [] }
        let isOurs = otherProgram(of: event.socket) == nil
        notice = hint(
            naming("\(event.socket) is held by breakpoint \(event.first)" + (isOurs ? "; {break} releases it" : "")))
        return [.screen(.bell)]
    }
}
