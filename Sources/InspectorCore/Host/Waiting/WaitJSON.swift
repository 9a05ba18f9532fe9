import SocketCore

/// A chain of waiting for programs.
extension WaitWords {
    /// The minimum time that the first has waited.
    var age: Duration? { chain.age }

    var json: JSON {
        [
            "sentence": .string(sentence), "waits_s": Self.seconds(chain.age), "ring": .bool(chain.ring != nil),
            "links": .array(chain.links.map(json)), "end": end, "more": JSON(chain.more), "next": JSON(next),
        ]
    }

    private func json(_ link: WaitChain.Link) -> JSON {
        let (question, owner) = (link.question, link.owner)
        return [
            "program": .string(name(link)), "process": JSON(owner.map { Int(HostOrdinal.kernelProcess($0.process)) }),
            "fd": JSON(owner.map { Int($0.descriptor) }), "socket": JSON(HostSocket.cookie(of: question.asker.id)),
            "to": .string(far(question)), "form": .string(question.form.rawValue),
            "waits_s": Self.seconds(question.age),
            "link": JSON(link.certainty?.rawValue), "because": JSON(link.reason),
        ]
    }

    private var end: JSON {
        [
            "kind": .string(chain.end.kind.rawValue), "program": .string(target),
            "process": JSON(chain.end.process.map { Int(HostOrdinal.kernelProcess($0.number)) }),
            "fd": JSON(chain.end.descriptor.map { Int($0) }), "words": .string(chain.end.words),
            "for_seconds": Self.seconds(chain.end.lasting),
        ]
    }

    private static func seconds(_ time: Duration?) -> JSON { time.map { JSON($0.inSeconds) } ?? .null }
}
