import SocketCore
import Testing

@testable import SocketKit

/// A reference that is what `weak` is: it keeps nothing alive, and finds nothing once its object goes.
@Suite(.timeLimit(.minutes(10))) struct UnretainedReferenceTests {
    private protocol Named: AnyObject, Sendable {
        var name: Int { get }
    }

    private final class Object: Named {
        let name: Int
        let atEnd: @Sendable () -> Void
        init(_ name: Int, atEnd: @escaping @Sendable () -> Void = {}) { (self.name, self.atEnd) = (name, atEnd) }
        deinit { atEnd() }
    }

    @Test func itFindsAnObjectThatLivesAndNoneThatIsGone() {
        var object: Object? = Object(7)
        let (plain, named) = (Box<Object>(object), Box<any Named>(object))
        #expect(plain.reference?.name == 7)
        #expect(named.reference?.name == 7)
        object = nil
        #expect(plain.reference == nil)
        #expect(named.reference == nil)
        #expect(Box<Object>(nil).reference == nil)
    }

    @Test func itFindsNoObjectWhoseEndHasBegun() {
        let found = Lock(false)
        let place = Lock<Box<Object>?>(nil)
        var object: Object? = Object(1) {
            let reference = place.withLock { $0 }?.reference
            found.withLock { $0 = reference != nil }
        }
        place.withLock { [object] in $0 = Box(object) }
        object = nil
        #expect(object == nil && !found.withLock { $0 })
    }

    @Test func threadsThatAskWhileItGoesFindItWholeOrNotAtAll() async {
        for round in 0..<300 {
            let owner = Owner(Object(round))
            let box = Box<any Named>(owner.object)
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 {
                    group.addTask { (0..<50).allSatisfy { _ in box.reference.map { $0.name == round } ?? true } }
                }
                group.addTask {
                    owner.releaseRetired()
                    return true
                }
                for await isWhole in group { #expect(isWhole) }
            }
            #expect(box.reference == nil)
        }
    }

    /// Holds an object until a task lets it go.
    private final class Owner: Sendable {
        private let held: Lock<Object?>
        init(_ object: Object) { held = Lock(object) }
        var object: Object? { held.withLock { $0 } }
        func releaseRetired() { held.replace(\.self, with: nil) }
    }

    /// Lets a test hold what cannot be copied.
    private final class Box<Reference: Sendable>: Sendable {
        private let unretained: UnretainedReference<Reference>
        init(_ reference: Reference?) { unretained = UnretainedReference(reference) }
        var reference: Reference? { unretained.reference }
    }
}
