import SocketCore

/// Pieces that a connection has handed to an iterating task, and how many of them were counted as completed reads.
struct HandedPieces {
    let pieces: PiecesAhead
    var counted = 0
}

/// What may be received although no read wants it, for a task that iterates chunks.
struct ReadAhead {
    /// The most bytes that are received and not fetched.
    let most: Int
    /// The most bytes of one chunk.
    let limit: Int
}

/// Hands pieces ahead to a task that iterates, and takes back those that it didn't fetch.
///
/// For lines, nothing more is received: this only hands over what is read ahead already. The last byte stays in the read
/// queue, so that the rules for a stream with unread bytes hold until the last piece is read like any other. For chunks,
/// a bounded number of bytes is received ahead. Those rules are about the end of the stream, so at the end the pieces go
/// back before anything else happens, and from then on each chunk is read like any other.
///
/// Whatever else may have the bytes calls `recallPieces()` first: a read, TLS, a WebSocket, a move and every way to
/// close.
extension Connection {
    /// Whether pieces may be handed to a task. Traffic and rules of a relay are about single reads.
    private var mayHandPieces: Bool {
        layers.isTakenByHandle && !isTapped && faultMeter == nil && !isHeldBack && !waitsForDelivery
    }

    /// Hands the pieces that reads of this kind would complete with now to a task that awaits one of this handle.
    /// Returns `nil` if there are none, or if the handle has requested something else since, which comes first. For
    /// chunks, returns `nil` and lets bytes be received ahead, which the task finds in the handle.
    func handPieces(_ wanted: PiecesWanted, to handle: AsyncSocket) -> PiecesAhead? {
        guard mayHandPieces, rare?.handed == nil else { return nil }
        switch wanted.kind {
        case .delimiter(let terminator, let limit):
            return machine.takePieces(endingWith: terminator, limit: limit, most: wanted.most).flatMap {
                hand(PiecesAhead($0.bytes, ends: $0.ends), to: handle)
            }
        case .available(let limit?) where wanted.ahead > 0 && layers.isWirePlain:
            madeRare.ahead = ReadAhead(most: wanted.ahead, limit: limit)
            return nil
        default: return nil
        }
    }

    private func hand(_ pieces: PiecesAhead, to handle: AsyncSocket) -> PiecesAhead? {
        madeRare.handed = HandedPieces(pieces: pieces)
        noteChange()
        // A command is posted under this lock, and closes the pieces that are kept here.
        guard handle.state.withLock({ $0.keep(pieces, asOf: engine.carriedOut) }) else {
            recallPieces()
            return nil
        }
        return pieces
    }

    // MARK: Chunks

    /// Whether bytes may be received ahead for a task that iterates chunks. Checked at every receive.
    var readsAhead: Bool { rare?.ahead != nil }

    /// How many bytes may be received now although no read wants them.
    var wantedAhead: Int {
        guard let ahead = rare?.ahead, mayHandPieces, machine.mayReadAhead else { return 0 }
        return max(0, ahead.most - machine.reading.prebuffered - bytesInPieces)
    }

    /// Hands the bytes received ahead to the task that iterates. Those that arrive before it has fetched all wait in the
    /// read queue.
    func offerAhead() {
        guard let ahead = rare?.ahead, machine.reading.hasBytes, mayHandPieces else { return }
        if let handed = rare?.handed {
            guard handed.pieces.areFetched else { return }
            takeBackPieces()
        }
        guard let handle = keptHandle, let taken = machine.takeChunks(limit: ahead.limit) else { return }
        _ = hand(PiecesAhead(taken.bytes, ends: taken.ends, limit: ahead.limit), to: handle)
    }

    // MARK: Taking back

    /// Takes back the pieces that were not fetched, and stops receiving ahead.
    func recallPieces() {
        guard let rare else { return }
        rare.ahead = nil
        if rare.handed != nil { takeBackPieces() }
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
        rare?.handed.map { $0.pieces.length(of: $0.pieces.ends.count) - $0.pieces.length(of: $0.pieces.fetched) } ?? 0
    }
}
