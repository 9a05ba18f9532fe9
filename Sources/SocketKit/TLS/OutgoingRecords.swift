/// Encrypted bytes for the kernel, with the number of plaintext bytes in each record. Memory that has become empty is
/// kept until `release`.
struct OutgoingRecords: ~Copyable {
    /// The capacity for the records of one pass. A handshake's flight can exceed it.
    static let usualCapacity = 4 * (16_384 + 256)

    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var head = 0
    private var tail = 0
    /// For each record with plaintext, its end as an offset into the memory, and its plaintext bytes.
    private var records: [(end: Int, plain: Int)] = []

    init() {}

    deinit {
        memory.deallocate()
    }

    var count: Int { tail - head }

    /// The unsent bytes, valid until the next change.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[head..<tail]) }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if tail + bytes.count > memory.count { grow(for: bytes.count) }
        UnsafeMutableRawBufferPointer(rebasing: memory[tail...]).copyMemory(from: bytes)
        tail += bytes.count
    }

    private mutating func grow(for more: Int) {
        let size = max(Self.usualCapacity, 2 * (count + more))
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        larger.copyMemory(from: bytes)
        memory.deallocate()
        memory = larger
        records = records.map { ($0.end - head, $0.plain) }
        tail -= head
        head = 0
    }

    /// Marks the bytes appended last as a record of `plain` plaintext bytes.
    mutating func mark(plain: Int) {
        records.append((tail, plain))
    }

    /// Removes `count` bytes that the kernel accepted. Returns the plaintext bytes of the records it now has
    /// completely.
    mutating func consume(_ count: Int) -> Int {
        head += count
        var plain = 0
        var gone = 0
        while gone < records.count, records[gone].end <= head {
            plain += records[gone].plain
            gone += 1
        }
        records.removeFirst(gone)
        if head == tail {
            head = 0
            tail = 0
        }
        return plain
    }

    /// Frees the memory if it is empty.
    mutating func release() {
        guard count == 0 else { return }
        memory.deallocate()
        memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        records = []
    }
}
