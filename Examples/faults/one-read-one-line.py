#!/usr/bin/env python3
"""A server that takes one read for one line, which works until the network cuts a line in two.

    python3 Examples/faults/one-read-one-line.py 7001 &
    socktui relay :7000 localhost:7001 --fault 'upstream slice 1 every 2ms'
    socktui connect localhost:7000 --send 'PING\\r\\n' --expect '+PONG'     # fails: "-ERR unknown command"

Without the fault the same line is answered. The cure: gather until the line feed.
"""
import socket
import sys
import threading


def serve(connection):
    with connection:
        while data := connection.recv(4096):
            answer = b"+PONG\r\n" if data == b"PING\r\n" else b"-ERR unknown command\r\n"
            connection.sendall(answer)


with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
    print(server.getsockname()[1], flush=True)
    while True:
        threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
