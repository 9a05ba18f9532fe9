import InspectorCore
import SocketKit
import SocketRecords

/// A search through an opened file, from its beginning to its end or to the instant that is shown. Unlike the traffic on
/// the screen, the file has everything.
struct FileSearch {
    private struct Item: Hashable {
        var socket: SocketID
        var number: UInt64
    }

    private let request: FindRequest
    private let ordinal: Int
    private let sockets: Set<SocketID>
    /// How far the items were searched that were still in progress.
    private var searched: [Item: Int] = [:]
    private var isOver = false

    /// Searches the connections of `request` that are of this source.
    init(_ request: FindRequest, of ordinal: Int) {
        (self.request, self.ordinal) = (request, ordinal)
        sockets = Set(request.sockets.lazy.filter { $0.ordinal == ordinal })
    }

    /// Searches a file, and calls `report` after each piece. Stops once that returns `false`.
    mutating func run(
        in file: OpenedSource, _ progress: inout FindProgress, _ report: (inout FindProgress) -> Bool
    ) -> Bool {
        guard !sockets.isEmpty else { return true }
        var isWanted = true
        let unread = file.readItems { items, share in
            for passed in items { search(passed, &progress) }
            progress.share = share
            isWanted = report(&progress)
            return isWanted
        }
        progress.missingBytes = progress.missingBytes.saturatingAdd(unread)
        progress.searched += sockets.count
        return isWanted
    }

    private mutating func search(_ passed: PassedItem, _ progress: inout FindProgress) {
        let id = SocketID(passed.socket.number, of: ordinal)
        guard sockets.contains(id), request.until.map({ passed.item.time <= $0 }) ?? true else { return }
        let item = Item(socket: id, number: passed.item.sequence)
        let former = searched.removeValue(forKey: item)
        let end = progress.search(passed.item, of: id, for: request.search, from: former ?? 0)
        guard passed.item.state == .inProgress else {
            let missing = UInt64(passed.item.missingBytes).saturatingAdd(passed.item.skipped)
            return progress.missingBytes = progress.missingBytes.saturatingAdd(missing)
        }
        searched[item] = end
    }
}
