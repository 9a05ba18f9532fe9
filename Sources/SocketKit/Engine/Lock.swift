import Synchronization

/// A Mutex whose order ThreadSanitizer can see.
///
/// The contended path of `Mutex` is in the runtime, which is not instrumented. The sanitizer does not see that the new
/// owner has seen the writes of the previous one, and reports races that don't exist. The acquiring load and the
/// releasing store below show it that order. On x86-64 and arm64 they are plain moves.
///
/// Other modules inline it. Otherwise they would look up the types of its generics at each call.
@usableFromInline package struct Lock<Value: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline let mutex: Mutex<Value>
    @usableFromInline let order = Atomic<UInt8>(0)

    @inlinable package init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    /// Runs `body` with exclusive access to the value.
    @inlinable @inline(__always) package borrowing func withLock<R: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending R
    ) throws(Failure) -> sending R {
        try mutex.withLock { value throws(Failure) in
            _ = order.load(ordering: .acquiring)
            defer { order.store(0, ordering: .releasing) }
            return try body(&value)
        }
    }
}

extension Lock where Value: ~Copyable {
    /// Lets `exchange` swap a member of the value for `new`. The old member is destroyed after the lock is released: it
    /// may be an object of the user's, and its deinit may take this lock or wait for a thread that does.
    package borrowing func replace<Member: Sendable & ~Copyable>(
        with new: consuming Member, _ exchange: (inout Value, inout Member) -> Void
    ) {
        withLock { exchange(&$0, &new) }
    }
}

extension Lock {
    /// Replaces one member of the value. The old member is destroyed after the lock is released: it may be an object of
    /// the user's, and its deinit may take this lock or wait for a thread that does.
    package func replace<Member: Sendable>(_ member: any WritableKeyPath<Value, Member> & Sendable, with new: Member) {
        withExtendedLifetime(exchange(member, with: new)) {}
    }

    /// Replaces one member of the value and returns the old one, so that the caller decides where it is destroyed.
    package func exchange<Member: Sendable>(
        _ member: any WritableKeyPath<Value, Member> & Sendable, with new: Member
    ) -> Member {
        withLock { value in
            let old = value[keyPath: member]
            value[keyPath: member] = new
            return old
        }
    }
}
