import SocketCore

/// A dialog that asks for one of a few letters.
package struct Menu: Hashable, Sendable {
    package enum Choice: Hashable, Sendable {
        case close(SocketID, CloseMode)
        case trust(SocketID, OperationID, TrustVerdict)
        case showDetail
        case halfClose(SocketID)
        /// Of a WebSocket: code 1000.
        case sayClose(SocketID)
        case paste(String)
        case answerConnection(SocketID, SocketCommand.ConnectionVerdict)
        /// One of the queued operations: what shall be done with it?
        case operation(SocketID, OperationSnapshot)
        case cancel(SocketID, SocketCommand.CancelTarget)
        case changeTimeout(SocketID, OperationSnapshot)
        case answer
        case template(SocketID, Template)
        case addReply(SocketID)
        case setReplies(SocketID, [ReplyRule])
        /// What is done to all marked connections.
        case marked(MarkedAct)
        case quit
        /// Show the unread bytes of another user's program.
        case peek(SocketID)
        case stay
        /// Release some of what a breakpoint holds.
        case release(SocketID, BreakRelease)
        /// Type how many bytes to release.
        case typeRelease(SocketID)
        case editHeld(SocketID)
        case askReset(SocketID)
        case resetHeld(SocketID)
        /// Remove all breakpoints.
        case breaksOff
        /// Show an optional column of the list, or leave it out; the menu stays open.
        case column(String)
    }

    package struct Item: Hashable, Sendable {
        /// nil: only the cursor reaches it.
        package var key: Character?
        package var label: String
        package var choice: Choice
    }

    /// What stands above the items.
    package enum Note: Hashable, Sendable {
        case words(String)
        /// Shown whole or not at all.
        case fingerprint([UInt8])
    }

    package var title: String
    package var notes: [Note] = []
    package var items: [Item]
    package var selected = 0
}

/// What stands over the screen and takes every key.
package enum Dialog: Hashable, Sendable {
    case form(Form)
    case menu(Menu)
}
