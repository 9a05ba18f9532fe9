import Glibc
import InspectorCore
import SocketKit

/// Saves the kept traffic of several connections to a folder. Each connection gets one file with the bytes received and
/// one with the bytes sent, unaltered.
package enum SavedTraffic {
    /// Writes new files only. Returns a sentence that says what was done, or the error.
    package static func save(
        _ traffic: [SocketID: TrafficSnapshot], of sockets: [SocketID], to folder: String
    ) -> Result<String, MessageText.Unsendable> {
        if let refusal = Elevation.refusal { return .failure(MessageText.Unsendable("\(folder): \(refusal)")) }
        let path = ReadFile.expanded(folder)
        if path.withNative({ mkdir($0, 0o700) }) != 0, errno != EEXIST {
            return .failure(MessageText.Unsendable("\(folder): \(String(cString: strerror(errno)))"))
        }
        var (files, bytes, missing, dropped) = (0, 0, UInt64(0), UInt64(0))
        for id in sockets {
            guard let kept = traffic[id] else { continue }
            dropped = dropped.saturatingAdd(kept.dropped)
            for direction in [TrafficItem.Direction.received, .sent] {
                let items = kept.items.filter { $0.direction == direction && !$0.bytes.isEmpty }
                guard !items.isEmpty else { continue }
                let all = items.flatMap { $0.bytes + $0.tail }
                let lost = items.reduce(UInt64(0)) { $0.saturatingAdd(UInt64($1.missingBytes)) }
                let name = "\(path)/socktui-\(id.label)-\(direction.rawValue).bin"
                if case .failure(let problem) = SavedBytes.save(name, all, missing: lost, droppedItems: 0) {
                    let before = Format.count(files, "file")
                    return .failure(MessageText.Unsendable("\(problem.sentence); \(before) saved before that"))
                }
                (files, bytes, missing) = (files + 1, bytes + all.count, missing.saturatingAdd(lost))
            }
        }
        var sentence = "saved \(Format.size(bytes)) to \(Format.count(files, "file")) in \(folder)"
        let unknown = sockets.count { traffic[$0] == nil }
        if unknown > 0 { sentence += "; \(Format.count(unknown, "connection")) of other programs not saved" }
        if missing > 0 { sentence += "; \(Format.size(missing)) more were not kept" }
        if dropped > 0 { sentence += "; \(Format.count(Int(clamping: dropped), "older item")) had been dropped" }
        return .success(sentence)
    }
}
