#!/usr/bin/env python3
"""A client without a timeout, which hangs for as long as its server says nothing.

    socktui relay :7000 localhost:6379 --fault 'downstream stall'
    python3 Examples/faults/no-timeout.py 7000 'PING\\r\\n'          # never ends
    python3 Examples/faults/no-timeout.py 7000 'PING\\r\\n' 2        # the cure: gives up after 2 seconds

In the relay, :fault clear lets the first one end.
"""
import socket
import sys

timeout = float(sys.argv[3]) if len(sys.argv) > 3 else None
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as connection:
    connection.settimeout(timeout)
    connection.sendall(sys.argv[2].encode().decode("unicode_escape").encode())
    try:
        print(connection.recv(4096).decode(), end="", flush=True)
    except TimeoutError:
        sys.exit("no answer in time")
