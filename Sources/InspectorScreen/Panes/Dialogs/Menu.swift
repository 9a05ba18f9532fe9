import InspectorCore
import SocketCore
import SocketWorkshop

/// A dialog that asks for one of a few letters.
package struct Menu: Equatable, Sendable {
    package enum Choice: Equatable, Sendable {
        case close(SocketID, CloseMode)
        case trust(SocketID, OperationID, TrustVerdict)
        case showDetail
        case halfClose(SocketID)
        /// Close a WebSocket with code 1000.
        case sayClose(SocketID)
        case paste(String)
        case answerConnection(SocketID, SocketCommand.ConnectionVerdict)
        /// Ask what to do with one of the queued operations.
        case operation(SocketID, OperationSnapshot)
        case cancel(SocketID, SocketCommand.CancelTarget)
        case changeTimeout(SocketID, OperationSnapshot)
        case answer
        case template(SocketID, Template)
        case addReply(SocketID)
        case setReplies(SocketID, [ReplyRule])
        /// Act on all marked connections.
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
        /// Show or hide an optional column of the list. The menu stays open.
        case column(String)
    }

    package struct Item: Equatable, Sendable {
        /// The item's letter, or `nil` if only the cursor reaches it.
        package var key: Character?
        package var label: String
        package var choice: Choice
    }

    /// A note above the items.
    package enum Note: Equatable, Sendable {
        case words(String)
        /// A fingerprint, shown in full or not at all.
        case fingerprint([UInt8])
    }

    package var title: String
    package var notes: [Note] = []
    package var items: [Item]
    package var selected = 0
}

/// The dialog above the screen, which takes every key.
package enum Dialog: Equatable, Sendable {
    case form(Form)
    case menu(Menu)
}
