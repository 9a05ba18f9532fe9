#!/usr/bin/env python3
"""CPU that a relay of socktui takes for each gigabyte of a WebSocket that passes through it, beside plain bytes.

usage: relayws.py SOCKTUI [-n REPEATS]

A client sends frames that were made before, a server takes them; both are here, and handshakes are written by hand. CPU is
that of the relay, user and system, from /proc. socktui runs without a terminal, a line for each event, to /dev/null; its
traffic is kept. A gigabyte is one on the wire. `deflate` are messages of 24 KB of text, 3 times as long as on the wire.
"""
import os, random, socket, statistics as st, subprocess, sys, threading, time, zlib

HZ = os.sysconf('SC_CLK_TCK')
REQUEST = (b'GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n'
           b'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n')
ANSWER = (b'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
          b'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n')

def cpu(pid):
    fields = open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()
    return sum(int(fields[i]) for i in (11, 12)) / HZ

def port():
    s = socket.socket(); s.bind(('127.0.0.1', 0)); p = s.getsockname()[1]; s.close(); return p

def frame(opcode, payload):
    n, key = len(payload), b'\x11\x22\x33\x44'
    length = bytes([0x80 | n]) if n < 126 else b'\xfe' + n.to_bytes(2, 'big')
    mask = (key * (n // 4 + 1))[:n]
    return bytes([0x80 | opcode]) + length + key + (int.from_bytes(payload, 'big') ^ int.from_bytes(mask, 'big')).to_bytes(n, 'big')

def compressed(rng, words):
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    text = b' '.join(rng.choices(words, k=3500))
    return frame(0x41, (packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4])

def block(kind):
    rng = random.Random(1)
    if kind == 'plain': return os.urandom(1 << 20)
    if kind == '64 KiB': return b''.join(frame(2, os.urandom(65_000)) for _ in range(16))
    if kind == '64 B': return b''.join(frame(1, b'x' * 58) for _ in range(16_384))
    words = [bytes(rng.choices(b'abcdefghij', k=6)) for _ in range(200)]
    return b''.join(compressed(rng, words) for _ in range(128))

def head(line):
    seen = b''
    while not seen.endswith(b'\r\n\r\n'): seen += line.recv(1)

def take(line, left):
    room = bytearray(1 << 20)
    while left > 0: left -= line.recv_into(room, min(left, 1 << 20))

def once(socktui, kind, total):
    server = socket.socket(); server.bind(('127.0.0.1', 0)); server.listen(1); listen = port()
    relay = subprocess.Popen([socktui, 'relay', f'127.0.0.1:{listen}', f'127.0.0.1:{server.getsockname()[1]}'],
                             stdout=subprocess.DEVNULL)
    try:
        while f':{listen:04X} ' not in open('/proc/net/tcp').read(): time.sleep(0.05)
        client = socket.create_connection(('127.0.0.1', listen)); target, _ = server.accept()
        if kind != 'plain':
            client.sendall(REQUEST); head(target); target.sendall(ANSWER); head(client)
        bytes_, before = block(kind), cpu(relay.pid)
        rounds = max(1, total // len(bytes_))
        taker = threading.Thread(target=take, args=(target, rounds * len(bytes_))); taker.start()
        for _ in range(rounds): client.sendall(bytes_)
        taker.join()
        return (cpu(relay.pid) - before) / (rounds * len(bytes_) / (1 << 30))
    finally:
        relay.terminate(); relay.wait()

def main():
    if len(sys.argv) not in (2, 4): raise SystemExit(__doc__)
    repeats = int(sys.argv[3]) if len(sys.argv) == 4 else 3
    kinds = {'plain': 1 << 30, '64 KiB': 1 << 30, '64 B': 1 << 28, 'deflate': 1 << 28}
    results = {kind: [] for kind in kinds}
    for _ in range(repeats):
        order = list(kinds); random.shuffle(order)
        for kind in order: results[kind].append(once(sys.argv[1], kind, kinds[kind]))
    print(f'{"messages":10} {"CPU s/GiB":>10}  spread')
    for kind, values in results.items():
        print(f'{kind:10} {st.median(values):10.2f}  [{min(values):.2f}-{max(values):.2f}]')

if __name__ == '__main__': main()
