import SocketCore

/// A message to the reducer.
package enum Message: Sendable {
    case key(Key)
    /// Text from a bracketed paste. Never read as keys.
    case paste(String)
    case resized(Size)
    case answer(Answer)
    /// The time by this program's clock, sent while the past is played.
    case time(MonotonicTime)
    /// A socket that the user requested now exists.
    case opened(SocketID, OpenRequest)
    /// A relay that the user requested is now listening.
    case relays(SocketID)
    /// The user's request was rejected at the call. The value is a sentence that names the input.
    case refused(String)
    /// The offers of the start screen.
    case start(StartOffers)
    /// The progress of a long transmission.
    case transmission(TransmissionProgress)
    case transmissionEnded(TransmissionProgress, TransmissionEnding)
    /// Lines sent in earlier runs, by peer.
    case sentLines([String: [SentLine]])
    /// The auto-reply rules of a socket have changed.
    case replies(SocketID, [ReplyRule])
    /// The user's templates, the file that they are read from, and the problem with it, if any.
    case templates([Template], from: String? = nil, problem: String? = nil)
    /// Something was done. The value is a sentence for the user.
    case told(String)
    /// The held bytes of a connection.
    case held(SocketID, [UInt8])
    /// The editor was closed.
    case edited(EditSubject, [UInt8], wasChanged: Bool)
    /// The facts about the file at a path.
    case examined(FileFacts)
    /// The progress of a payload search, and the matches since the last message.
    case found(FindProgress)
    /// The completions of a typed path.
    case paths(PathMatches)
    /// The other ends of the visible connections that are on this host.
    case peers([SocketID: PeerEnd])
    /// A line as typed after `:`.
    case command(String)
    /// The unread bytes of a program.
    case unread(UnreadLook)
    /// A message about the program itself, for its log, and its time.
    case note(String, at: MonotonicTime)
    case mouse(MouseEvent)
    /// The output of the program that dissects traffic.
    case dissection(DissectionNews)
    /// The terminal has reported whether its background is light, and the colors have changed.
    case background(isLight: Bool)
}

/// A mouse event. Sent only while the mouse is on.
package struct MouseEvent: Equatable, Sendable {
    package enum Kind: Hashable, Sendable { case press, release, wheelUp, wheelDown }
    package var kind: Kind
    package var x: Int
    package var y: Int

    package init(_ kind: Kind, x: Int, y: Int) {
        self.kind = kind
        self.x = x
        self.y = y
    }
}
