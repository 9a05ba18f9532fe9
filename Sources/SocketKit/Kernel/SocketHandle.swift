/// Owns one descriptor and closes it exactly once, when the owner destroys the handle.
package struct SocketHandle: ~Copyable {
    private let kernel: any Kernel
    package let descriptor: Int32
    private var isOwner = true

    /// Takes ownership of an open descriptor.
    package init(_ descriptor: Int32, kernel: any Kernel) {
        self.descriptor = descriptor
        self.kernel = kernel
    }

    /// Gives the descriptor away. The caller owns it from now on.
    package mutating func release() -> Int32 {
        isOwner = false
        return descriptor
    }

    deinit {
        if isOwner { kernel.close(descriptor) }
    }
}
