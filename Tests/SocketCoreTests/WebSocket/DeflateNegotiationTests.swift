import SocketCore
import Testing

/// RFC 6455, 9.1 and RFC 7692, 7.1: the texts of both roles.
@Suite("permessage-deflate negotiation") struct DeflateNegotiationTests {
    private typealias Parameters = PerMessageDeflateParameters

    private static func answer(_ header: String, _ wishes: Parameters = .init()) -> String? {
        wishes.answer(to: header)?.header
    }

    private static func fault(_ reply: String, _ wishes: Parameters = .init()) -> String? {
        do throws(ExtensionFault) {
            _ = try wishes.accept(reply: reply)
            return nil
        } catch {
            return error.detail
        }
    }

    @Test func d1TheOfferSaysWhatIsWished() {
        #expect(Parameters().offer == "permessage-deflate; client_max_window_bits")
        let all = Parameters(
            serverNoContextTakeover: true, clientNoContextTakeover: true, serverMaxWindowBits: 10,
            clientMaxWindowBits: 8)
        #expect(
            all.offer
                == "permessage-deflate; server_no_context_takeover; client_no_context_takeover; "
                + "server_max_window_bits=10; client_max_window_bits=9")
    }

    @Test func d1TheAnswerIsWithinTheOffer() {
        #expect(Self.answer("permessage-deflate") == "permessage-deflate")
        #expect(Self.answer("permessage-deflate; client_max_window_bits") == "permessage-deflate")
        #expect(
            Self.answer("permessage-deflate; server_no_context_takeover; client_no_context_takeover")
                == "permessage-deflate; server_no_context_takeover; client_no_context_takeover")
        #expect(
            Self.answer("permessage-deflate; server_max_window_bits=12; client_max_window_bits=\"11\"")
                == "permessage-deflate; server_max_window_bits=12; client_max_window_bits=11")
        #expect(
            Self.answer("permessage-deflate ;server_max_window_bits = 15")
                == "permessage-deflate; server_max_window_bits=15")
        let small = Parameters(serverMaxWindowBits: 10, clientMaxWindowBits: 9)
        #expect(
            Self.answer("permessage-deflate; client_max_window_bits", small)
                == "permessage-deflate; server_max_window_bits=10; client_max_window_bits=9")
        #expect(Self.answer("permessage-deflate", small) == "permessage-deflate; server_max_window_bits=10")
        #expect(small.answer(to: "permessage-deflate")?.agreed.clientMaxWindowBits == 15)
    }

    @Test(arguments: [
        "permessage-deflate; unknown", "permessage-deflate; server_max_window_bits",
        "permessage-deflate; server_max_window_bits=7",
        "permessage-deflate; server_max_window_bits=16", "permessage-deflate; server_max_window_bits=010",
        "permessage-deflate; server_max_window_bits=8", "permessage-deflate; client_max_window_bits=16",
        "permessage-deflate; client_max_window_bits=x", "permessage-deflate; server_no_context_takeover=1",
        "permessage-deflate; client_no_context_takeover; client_no_context_takeover",
        "permessage-deflate; client_max_window_bits; client_max_window_bits=10", "x-webkit-deflate-frame", "",
        "permessage-deflate; =3", "permessage-deflate; a=\"b", "permessage-deflate; a=\"b c\"",
        "permessage-deflate extra",
        "permessage-deflate; client_max_window_bits=",
    ]) func d1AnOfferThatCannotBeKeptIsDeclined(header: String) {
        #expect(Self.answer(header) == nil)
    }

    @Test(arguments: [
        "permessage-deflate; unknown", "permessage-deflate, permessage-deflate", "other", "permessage-deflate, other",
        "permessage-deflate; client_max_window_bits", "permessage-deflate; client_max_window_bits=16",
        "permessage-deflate; server_max_window_bits=7", "permessage-deflate; server_max_window_bits",
        "permessage-deflate; server_no_context_takeover; server_no_context_takeover", "permessage-deflate;",
        "permessage-deflate; server_no_context_takeover=true",
    ]) func d1AReplyThatWasNotOfferedFails(reply: String) {
        #expect(Self.fault(reply)?.isEmpty == false)
    }

    @Test func d1AReplyThatWasOfferedIsAgreedOn() throws {
        #expect(try Parameters().accept(reply: "") == nil)
        #expect(try Parameters().accept(reply: "permessage-deflate") == Parameters())
        let reply =
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover; "
            + "server_max_window_bits=\"9\"; client_max_window_bits=8"
        #expect(
            try Parameters().accept(reply: reply)
                == Parameters(
                    serverNoContextTakeover: true, clientNoContextTakeover: true, serverMaxWindowBits: 9,
                    clientMaxWindowBits: 8))
        let wishes = Parameters(serverNoContextTakeover: true, serverMaxWindowBits: 10)
        #expect(Self.fault("permessage-deflate; server_max_window_bits=10", wishes) != nil)
        #expect(Self.fault("permessage-deflate; server_no_context_takeover", wishes) != nil)
        #expect(
            Self.fault("permessage-deflate; server_no_context_takeover; server_max_window_bits=11", wishes) != nil)
        #expect(
            Self.fault("permessage-deflate; server_no_context_takeover; server_max_window_bits=9", wishes) == nil)
    }

    @Test func d1TwoOfUsAgreeWhateverBothWish() throws {
        let wishes = [8, 9, 12, 15].flatMap { server in
            [8, 9, 12, 15].flatMap { client in
                [false, true].map {
                    Parameters(
                        serverNoContextTakeover: $0, clientNoContextTakeover: !$0, serverMaxWindowBits: server,
                        clientMaxWindowBits: client)
                }
            }
        }
        for client in wishes {
            for server in wishes {
                let answer = try #require(server.answer(to: client.offer))
                #expect(try client.accept(reply: answer.header) == answer.agreed)
            }
        }
    }

    @Test func d2TheFirstOfferThatCanBeKeptIsAnswered() {
        #expect(
            Self.answer(
                "other; x=1, permessage-deflate; server_max_window_bits=8, permessage-deflate; unknown, "
                    + "permessage-deflate; server_max_window_bits=10, permessage-deflate")
                == "permessage-deflate; server_max_window_bits=10")
        #expect(Self.answer(", ,permessage-deflate,") == "permessage-deflate")
    }

    @Test func d2ClientMaxWindowBitsIsAnsweredOnlyIfOffered() {
        let small = Parameters(clientMaxWindowBits: 10)
        #expect(Self.answer("permessage-deflate", small) == "permessage-deflate")
        #expect(
            Self.answer("permessage-deflate; client_max_window_bits=9", small)
                == "permessage-deflate; client_max_window_bits=9")
    }

    @Test func d7AnOfferOfAWindowOf256BytesForTheServerIsDeclined() {
        #expect(Self.answer("permessage-deflate; server_max_window_bits=8") == nil)
        #expect(
            Self.answer("permessage-deflate; client_max_window_bits=8")
                == "permessage-deflate; client_max_window_bits=8")
    }
}
