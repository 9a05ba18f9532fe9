/// Encrypted bytes on their way to the kernel, and how many plaintext bytes each record of them carries. It owns memory
/// only while there are some, or until `release` when more are to follow.
struct OutgoingRecords: ~Copyable {
    /// Room for the records of one pass; a handshake's flight may need more.
    static let usualCapacity = 4 * (16_384 + 256)

    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var head = 0
    private var tail = 0
    /// Of each record that carries plaintext: where it ends, counted from the start of the memory, and how much.
    private var records: [(end: Int, plain: Int)] = []

    init() {}

    deinit {
        memory.deallocate()
    }

    var count: Int { tail - head }

    /// The bytes, until the next change.
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

    /// What was appended last is a record of so much plaintext.
    mutating func mark(plain: Int) {
        records.append((tail, plain))
    }

    /// The kernel took so many bytes; the answer is the plaintext of the records that are wholly with it now.
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

    /// Gives the memory back, where nothing waits in it.
    mutating func release() {
        guard count == 0 else { return }
        memory.deallocate()
        memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        records = []
    }
}
