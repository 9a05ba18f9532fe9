/// Owns one descriptor: it is closed exactly once, when its owner lets go of it.
package struct SocketHandle: ~Copyable {
    package let descriptor: Int32
    private let kernel: any Kernel

    /// Takes ownership of an open descriptor.
    package init(_ descriptor: Int32, kernel: any Kernel) {
        self.descriptor = descriptor
        self.kernel = kernel
    }

    deinit {
        kernel.close(descriptor)
    }
}
