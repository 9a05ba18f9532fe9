import InspectorCore
import SocketCore

/// The list of programs, which replaces the list of their sockets.
extension Model {
    var showsPrograms: Bool { tab == .list && list.programs != nil }

    /// Switches between the list of programs and the list of sockets.
    mutating func togglePrograms() {
        guard shared.showsHost else {
            notice = hint("only socktui host lists programs")
            return
        }
        list.hosts = nil
        list.listPrograms(list.programs == nil)
        show(.list)
        refresh()
        selectProgram()
    }

    /// Lists the sockets of the program at the cursor.
    mutating func openProgram() {
        guard let row = list.programs?.current else { return }
        guard let word = row.filter, case .success(let filter) = Filter.parse(list.filter.adding(word)) else {
            notice = hint("no program has these sockets open")
            return
        }
        let former = list.filter
        list.listPrograms(false)
        setFilter(filter)
        list.programsFilter = former
    }

    mutating func moveInPrograms(_ step: Int) {
        list.programs?.move(step)
        selectProgram()
    }

    mutating func chooseProgram(_ row: Int) {
        list.programs?.choose(row)
        selectProgram()
    }

    /// Selects what the rows below the list are about.
    private mutating func selectProgram() {
        if let socket = list.programs?.current?.socket { select(socket) }
    }

    /// Returns from the sockets of a program to the programs. Returns `false` if the sockets were not opened from
    /// there.
    mutating func goBackToPrograms() -> Bool {
        guard let former = list.programsFilter else { return false }
        list.listPrograms(true)
        setFilter(former)
        return true
    }
}

extension Filter {
    /// Returns the text of this filter with another word added by AND.
    fileprivate func adding(_ word: String) -> String { isEmpty ? word : "(\(text)) \(word)" }
}
