import Glibc

/// The limit on open descriptors.
package enum DescriptorLimit {
    /// Raises the soft limit of descriptors. Its usual value of 1,024 is meant for select(2), which is not used here.
    package static func raise() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
