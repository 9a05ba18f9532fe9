import SocketCore

/// Pieces that a connection has handed to an iterating task, and how many of them were counted as completed reads.
struct HandedPieces {
    let pieces: PiecesAhead
    var counted = 0
}

/// Hands pieces ahead to a task that iterates, and takes back those that it didn't fetch.
///
/// Nothing more is received for this: it only hands over what is read ahead already. The last byte stays in the read
/// queue, so that the rules for a stream with unread bytes hold until the last piece is read like any other. Whatever
/// else may have the bytes calls `recallPieces()` first: a read, TLS, a WebSocket, a move and every way to close.
extension Connection {
    /// Returns the pieces that reads of this kind would complete with now, or `nil` if there are none. Traffic and rules
    /// of a relay are about single reads, so there it returns `nil`.
    private func handPieces(_ wanted: PiecesWanted) -> PiecesAhead? {
        guard case .delimiter(let terminator, let limit) = wanted.kind, layers.isTakenByHandle, !isTapped,
            faultMeter == nil, !isHeldBack, !waitsForDelivery, rare?.handed == nil,
            let taken = machine.takePieces(endingWith: terminator, limit: limit, most: wanted.most)
        else { return nil }
        let pieces = PiecesAhead(taken.bytes, ends: taken.ends)
        madeRare.handed = HandedPieces(pieces: pieces)
        noteChange()
        return pieces
    }

    /// Hands pieces to a task that awaits one of this handle. If the handle has requested something else since, that
    /// comes first, so this returns `nil`.
    func handPieces(_ wanted: PiecesWanted, to handle: AsyncSocket) -> PiecesAhead? {
        guard let pieces = handPieces(wanted) else { return nil }
        let isFirst = handle.state.withLock { state in
            // A command is posted under this lock, and closes the pieces that are kept here.
            guard !engine.holdsCommand(of: handle) else { return false }
            state.keep(pieces)
            return true
        }
        guard isFirst else {
            recallPieces()
            return nil
        }
        return pieces
    }

    /// Takes back the pieces that were not fetched.
    func recallPieces() {
        guard rare?.handed != nil else { return }
        takeBackPieces()
    }

    @inline(never)
    private func takeBackPieces() {
        guard let pieces = rare?.handed?.pieces else { return }
        pieces.close()
        countFetchedPieces()
        rare?.handed = nil
        let fetched = pieces.fetched
        if fetched > 0 { record(.readDone, pieces.length(of: fetched)) }
        machine.reading.putBack(pieces.rest(after: fetched))
        noteChange()
    }

    /// Counts the pieces fetched since the last call as completed reads.
    func countFetchedPieces() {
        guard let handed = rare?.handed else { return }
        let fetched = handed.pieces.fetched
        machine.reading.countFetched(fetched - handed.counted)
        rare?.handed?.counted = fetched
    }

    /// The number of bytes in pieces that a task can still fetch.
    var bytesInPieces: Int {
        rare?.handed.map { $0.pieces.length(of: $0.pieces.ends.count) - $0.pieces.length(of: $0.counted) } ?? 0
    }
}
