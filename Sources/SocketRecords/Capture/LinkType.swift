/// The link types of packets that are read here, numbered as in files (www.tcpdump.org/linktypes.html).
package enum LinkType: UInt16, CaseIterable, Sendable {
    case null = 0
    case ethernet = 1
    case raw = 101
    case loop = 108
    case cooked = 113
    case ipv4 = 228
    case ipv6 = 229
    case cooked2 = 276

    /// Returns the file's number for a link type that some systems write with their own number: raw IP is 12 on most
    /// BSDs and 14 on OpenBSD.
    static func canonical(_ number: UInt16) -> UInt16 { number == 12 || number == 14 ? raw.rawValue : number }

    /// Returns the name and number of a link type that is not read here: `PPP (9)`, or only the number if it is unknown.
    static func name(_ number: UInt16) -> String { names[number].map { "\($0) (\(number))" } ?? "\(number)" }

    private static let names: [UInt16: String] = [
        3: "AX25", 6: "IEEE802_5", 7: "ARCNET_BSD", 8: "SLIP", 9: "PPP", 10: "FDDI", 50: "PPP_HDLC", 51: "PPP_ETHER",
        99: "SYMANTEC_FIREWALL", 100: "ATM_RFC1483", 102: "SLIP_BSDOS", 103: "PPP_BSDOS", 104: "C_HDLC",
        105: "IEEE802_11", 106: "ATM_CLIP", 107: "FRELAY", 109: "ENC", 114: "LTALK", 117: "PFLOG",
        119: "PRISM_HEADER", 122: "IP_OVER_FC", 123: "SUNATM", 127: "IEEE802_11_RADIO", 129: "ARCNET_LINUX",
        130: "JUNIPER_MLPPP", 131: "JUNIPER_MLFR", 132: "JUNIPER_ES", 133: "JUNIPER_GGSN", 134: "JUNIPER_MFR",
        135: "JUNIPER_ATM2", 136: "JUNIPER_SERVICES", 137: "JUNIPER_ATM1", 138: "APPLE_IP_OVER_IEEE1394",
        139: "MTP2_WITH_PHDR", 140: "MTP2", 141: "MTP3", 142: "SCCP", 143: "DOCSIS", 144: "LINUX_IRDA", 147: "USER0",
        148: "USER1", 149: "USER2", 150: "USER3", 151: "USER4", 152: "USER5", 153: "USER6", 154: "USER7",
        155: "USER8", 156: "USER9", 157: "USER10", 158: "USER11", 159: "USER12", 160: "USER13", 161: "USER14",
        162: "USER15", 163: "IEEE802_11_RADIO_AVS", 164: "JUNIPER_MONITOR", 165: "BACNET_MS_TP", 166: "PPP_PPPD",
        167: "JUNIPER_PPPOE", 168: "JUNIPER_PPPOE_ATM", 169: "GPRS_LLC", 170: "GPF_T", 171: "GPF_F",
        174: "JUNIPER_PIC_PEER", 175: "ERF_ETH", 176: "ERF_POS", 177: "LINUX_LAPD", 178: "JUNIPER_ETHER",
        179: "JUNIPER_PPP", 180: "JUNIPER_FRELAY", 181: "JUNIPER_CHDLC", 182: "MFR", 183: "JUNIPER_VP", 184: "A429",
        185: "A653_ICM", 186: "USB_FREEBSD", 187: "BLUETOOTH_HCI_H4", 188: "IEEE802_16_MAC_CPS", 189: "USB_LINUX",
        190: "CAN20B", 191: "IEEE802_15_4_LINUX", 192: "PPI", 193: "IEEE802_16_MAC_CPS_RADIO", 194: "JUNIPER_ISM",
        195: "IEEE802_15_4", 196: "SITA", 197: "ERF", 198: "RAIF1", 199: "IPMB_KONTRON", 200: "JUNIPER_ST",
        201: "BLUETOOTH_HCI_H4_WITH_PHDR", 202: "AX25_KISS", 209: "IPMB_LINUX", 215: "IEEE802_15_4_NONASK_PHY",
        216: "LINUX_EVDEV", 219: "MPLS", 220: "USB_LINUX_MMAPPED", 221: "DECT", 222: "AOS", 223: "WIHART",
        224: "FC_2", 225: "FC_2_WITH_FRAME_DELIMS", 226: "IPNET", 227: "CAN_SOCKETCAN", 230: "IEEE802_15_4_NOFCS",
        231: "DBUS", 232: "JUNIPER_VS", 233: "JUNIPER_SRX_E2E", 234: "JUNIPER_FIBRECHANNEL", 235: "DVB_CI",
        236: "MUX27010", 237: "STANAG_5066_D_PDU", 238: "JUNIPER_ATM_CEMIC", 239: "NFLOG", 240: "NETANALYZER",
        241: "NETANALYZER_TRANSPARENT", 242: "IPOIB", 243: "MPEG_2_TS", 244: "NG40", 245: "NFC_LLCP", 246: "PFSYNC",
        247: "INFINIBAND", 248: "SCTP", 249: "USBPCAP", 250: "RTAC_SERIAL", 251: "BLUETOOTH_LE_LL", 253: "NETLINK",
        254: "BLUETOOTH_LINUX_MONITOR", 255: "BLUETOOTH_BREDR_BB", 256: "BLUETOOTH_LE_LL_WITH_PHDR",
        257: "PROFIBUS_DL", 258: "PKTAP", 259: "EPON", 260: "IPMI_HPM_2", 261: "ZWAVE_R1_R2", 262: "ZWAVE_R3",
        263: "WATTSTOPPER_DLM", 264: "ISO_14443", 265: "RDS", 266: "USB_DARWIN", 267: "OPENFLOW", 268: "SDLC",
        269: "TI_LLN_SNIFFER", 271: "VSOCK", 272: "NORDIC_BLE", 273: "DOCSIS31_XRA31", 274: "ETHERNET_MPACKET",
        275: "DISPLAYPORT_AUX", 278: "OPENVIZSLA", 279: "EBHSCR", 280: "VPP_DISPATCH", 281: "DSA_TAG_BRCM",
        282: "DSA_TAG_BRCM_PREPEND", 283: "IEEE802_15_4_TAP", 284: "DSA_TAG_DSA", 285: "DSA_TAG_EDSA", 286: "ELEE",
        287: "Z_WAVE_SERIAL", 288: "USB_2_0", 289: "ATSC_ALP",
    ]
}

/// Counts the packets whose link type is not read here.
struct UnreadLinks: Equatable, Sendable {
    private var counts: [UInt16: UInt64] = [:]
    /// The number of packets of further link types.
    private var others: UInt64 = 0
    /// The most link types that are counted one by one.
    private static let limit = 16

    var total: UInt64 { counts.values.reduce(others, +) }

    mutating func add(_ link: UInt16) {
        if counts.count < Self.limit || counts[link] != nil { counts[link, default: 0] += 1 } else { others += 1 }
    }

    /// One text for each link type, the most frequent first.
    var words: [String] {
        let known = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
            "\($0.value) \($0.value == 1 ? "packet" : "packets") of an unsupported link type, \(LinkType.name($0.key))"
        }
        return known + (others > 0 ? ["\(others) packets of other unsupported link types"] : [])
    }
}
