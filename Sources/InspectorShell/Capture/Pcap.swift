import CSockTUIPcap
import Glibc
import SocketCore
import SocketRecords

/// What to capture: an interface, and a selection of its packets.
package struct CaptureTarget: Equatable {
    package var interface: String
    /// A filter in tcpdump's language (pcap-filter(7)). Empty for all packets.
    package var filter: String
    /// The possible names of libpcap: Debian's, and that of other distributions.
    package var libraries: [String]

    package init(interface: String, filter: String = "", libraries: [String] = ["libpcap.so.0.8", "libpcap.so.1"]) {
        (self.interface, self.filter, self.libraries) = (interface, filter, libraries)
    }
}

/// A packet capture through libpcap, for use on one thread. It does not alter the traffic.
package struct Pcap: ~Copyable {
    private let library: cpcap
    private let handle: OpaquePointer
    /// The link type of its packets, as numbered in capture files.
    package let link: UInt16
    private let target: CaptureTarget
    private var counted = cpcap_counts()
    /// The kernel's counts since the capture began.
    package private(set) var counts = CaptureCounts()
    /// The number of packets lost by the kernel that no delivered packet has reported yet.
    private var untold: UInt64 = 0

    /// The longest time that a packet waits for others before it is delivered.
    package static let patience = Duration.milliseconds(100)
    /// The size of the kernel's buffer.
    private static let bufferSize: Int32 = 16 << 20
    /// The maximum length of a packet (see `PcapngWriter`).
    private static let snapLength = Int32(PcapngWriter.snapLength)

    /// Starts a capture.
    /// - Throws: a sentence that says what is wrong and what would be right, if the capture can't start.
    package init(_ target: CaptureTarget) throws(AttachError) {
        try Self.checkInterface(target.interface)
        let library = try Self.load(target.libraries)
        try Self.checkFilter(target, library)
        let handle = try Self.create(target, library)
        do throws(AttachError) {
            link = try Self.activate(handle, target, library)
        } catch {
            library.close(handle)
            throw error
        }
        (self.library, self.handle, self.target) = (library, handle, target)
    }

    deinit { library.close(handle) }

    /// Why libpcap can't be loaded, or `nil` if it can.
    package static var libraryProblem: String? {
        do throws(AttachError) { _ = try load(CaptureTarget(interface: "").libraries) } catch { return error.sentence }
        return nil
    }

    /// The descriptor that is readable while packets are waiting.
    package var descriptor: Int32 { library.get_selectable_fd(handle) }

    /// Returns the next waiting packet, or `nil` if there is none.
    /// - Throws: the reason if no more packets will follow.
    package mutating func next() throws(AttachError) -> CapturedPacket? {
        var header: UnsafeMutablePointer<cpcap_header>?
        var bytes: UnsafePointer<UInt8>?
        let status = library.next_ex(handle, &header, &bytes)
        guard status >= 0 else {
            throw AttachError(sentence: "\(target.interface): \(Self.problem(library, handle))")
        }
        guard status > 0, let header = header?.pointee, let bytes else { return nil }
        var packet = CapturedPacket(interface: 0, link: link)
        packet.nanoseconds = Int64(header.time.tv_sec) * 1_000_000_000 + Int64(header.time.tv_usec)
        packet.bytes = Array(UnsafeBufferPointer(start: bytes, count: Int(header.captured)))[...]
        packet.length = Int(header.length)
        (packet.dropped, untold) = (untold, 0)
        return packet
    }

    /// Asks the kernel how many packets it has lost. The kernel counts in 32 bits.
    package mutating func count() {
        var now = cpcap_counts()
        guard library.stats(handle, &now) == 0 else { return }
        counts.received += UInt64(now.received &- counted.received)
        let lost = UInt64(now.dropped &- counted.dropped)
        counts.dropped += lost
        untold += lost
        counted = now
    }
}

extension Pcap {
    private static func create(_ target: CaptureTarget, _ library: cpcap) throws(AttachError) -> OpaquePointer {
        var text = [CChar](repeating: 0, count: Int(CPCAP_ERROR_SIZE))
        if let handle = library.create(target.interface, &text) { return handle }
        throw AttachError(sentence: "\(target.interface): \(words(text))")
    }

    /// Starts the capture, and returns the link type of the packets.
    private static func activate(
        _ handle: OpaquePointer, _ target: CaptureTarget, _ library: cpcap
    ) throws(AttachError) -> UInt16 {
        _ = library.set_snaplen(handle, snapLength)
        _ = library.set_timeout(handle, Int32(patience.wholeNanoseconds / 1_000_000))
        _ = library.set_buffer_size(handle, bufferSize)
        _ = library.set_tstamp_precision(handle, Int32(CPCAP_NANOSECONDS))
        let status = library.activate(handle)
        if status < 0 { throw refusal(target, status, library, handle) }
        let number = library.datalink(handle)
        guard LinkType(rawValue: link(number)) != nil else {
            let name = library.datalink_val_to_name(number).map { String(cString: $0) } ?? "\(number)"
            throw AttachError(sentence: "\(target.interface): its link type is not supported (\(name))")
        }
        var text = [CChar](repeating: 0, count: Int(CPCAP_ERROR_SIZE))
        _ = library.setnonblock(handle, 1, &text)
        // The loopback interface shows each packet twice, outgoing and incoming.
        if isLoopback(target.interface) {
            var isOn: Int32 = 1
            let size = socklen_t(MemoryLayout<Int32>.size)
            setsockopt(library.get_selectable_fd(handle), SOL_PACKET, Int32(CPCAP_IGNORE_OUTGOING), &isOn, size)
        }
        if !target.filter.isEmpty { try setFilter(target, library, handle) }
        return link(number)
    }

    private static func setFilter(
        _ target: CaptureTarget, _ library: cpcap, _ handle: OpaquePointer
    ) throws(AttachError) {
        var program = cpcap_program()
        guard library.compile(handle, &program, target.filter, 1, CPCAP_NO_NETMASK) == 0 else {
            throw badFilter(target, library, handle)
        }
        defer { library.freecode(&program) }
        if library.setfilter(handle, &program) != 0 { throw badFilter(target, library, handle) }
    }

    private static func load(_ names: [String]) throws(AttachError) -> cpcap {
        var library = cpcap()
        var why = ""
        for name in names {
            if cpcap_load(name, &library) == 0 { return library }
            let problem = dlerror().map { String(cString: $0) } ?? name
            // The first name is this distribution's, unless only another one exists.
            if why.isEmpty || name.withNative({ access($0, F_OK) }) == 0 { why = problem }
        }
        throw AttachError(
            sentence: "libpcap is needed (Debian: apt install libpcap0.8; elsewhere the package is libpcap): \(why)")
    }

    /// Throws if the name is not an interface.
    private static func checkInterface(_ name: String) throws(AttachError) {
        guard name != anyInterface, if_nametoindex(name) == 0 else { return }
        let known = interfaces + [anyInterface]
        throw AttachError(sentence: "\(name) is not an interface; write one of \(known.joined(separator: " "))")
    }

    /// The pseudo-interface for all interfaces.
    package static let anyInterface = "any"

    /// The names of this network namespace's interfaces.
    private static var interfaces: [String] {
        guard let list = if_nameindex() else { return [] }
        defer { if_freenameindex(list) }
        var names: [String] = []
        var entry = list
        while entry.pointee.if_index != 0, let name = entry.pointee.if_name {
            names.append(String(cString: name))
            entry += 1
        }
        return names
    }

    private static func isLoopback(_ name: String) -> Bool {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return false }
        defer { freeifaddrs(list) }
        var entry = list
        while let found = entry?.pointee {
            if String(cString: found.ifa_name) == name { return found.ifa_flags & UInt32(IFF_LOOPBACK) != 0 }
            entry = found.ifa_next
        }
        return false
    }

    /// Throws if the filter is invalid. Called before the missing right is reported.
    private static func checkFilter(_ target: CaptureTarget, _ library: cpcap) throws(AttachError) {
        guard !target.filter.isEmpty, let dead = library.open_dead(Int32(CPCAP_ETHERNET), snapLength) else { return }
        defer { library.close(dead) }
        var program = cpcap_program()
        guard library.compile(dead, &program, target.filter, 1, CPCAP_NO_NETMASK) == 0 else {
            throw badFilter(target, library, dead)
        }
        library.freecode(&program)
    }

    private static func badFilter(_ target: CaptureTarget, _ library: cpcap, _ handle: OpaquePointer) -> AttachError {
        AttachError(
            sentence: "\(target.filter): \(problem(library, handle)); write a tcpdump filter, such as port 6379 or "
                + "'host 10.0.0.7 and tcp' (man pcap-filter)")
    }

    private static func refusal(
        _ target: CaptureTarget, _ status: Int32, _ library: cpcap, _ handle: OpaquePointer
    ) -> AttachError {
        switch status {
        case Int32(CPCAP_NO_PERMISSION): return AttachError(sentence: CaptureRights.refusal)
        case Int32(CPCAP_NOT_UP):
            return AttachError(
                sentence: "\(target.interface) is down; ip link set \(target.interface) up brings it up")
        default:
            let why = problem(library, handle)
            let general = library.statustostr(status).map { String(cString: $0) } ?? "error \(status)"
            return AttachError(sentence: "\(target.interface): \(why.isEmpty ? general : why)")
        }
    }

    private static func problem(_ library: cpcap, _ handle: OpaquePointer) -> String {
        library.geterr(handle).map { String(cString: $0) } ?? ""
    }

    private static func words(_ text: [CChar]) -> String {
        String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Returns the number that capture files use for a libpcap link type. They differ for raw IP (DLT_RAW).
    private static func link(_ number: Int32) -> UInt16 {
        number == 12 || number == 14 ? LinkType.raw.rawValue : UInt16(clamping: number)
    }
}

/// The right that a capture requires.
package enum CaptureRights {
    /// The error if that right is missing, with the commands that would grant it.
    package static var refusal: String {
        "capturing needs CAP_NET_RAW: run sudo socktui capture, or grant it to a copy of your own: "
            + "sudo setcap cap_net_raw+ep \(program)"
    }

    private static var program: String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &path, path.count - 1)
        guard count > 0 else { return "socktui" }
        return String(decoding: path.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
