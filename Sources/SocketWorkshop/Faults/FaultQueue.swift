/// A first-in, first-out list.
struct FaultQueue<Element> {
    private var elements: [Element] = []
    private var head = 0

    var isEmpty: Bool { head == elements.count }
    var count: Int { elements.count - head }
    var first: Element? { isEmpty ? nil : elements[head] }
    var all: ArraySlice<Element> { elements[head...] }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func removeFirst() {
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 16, head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
    }

    mutating func replaceFirst(_ element: Element) { elements[head] = element }

    mutating func putFirst(_ element: Element) {
        if head > 0 {
            head -= 1
            elements[head] = element
        } else {
            elements.insert(element, at: 0)
        }
    }
}

extension FaultQueue: Sendable where Element: Sendable {}
