#!/usr/bin/env python3
"""A client that tries again at once when its connection is reset, and so makes a storm of connections.

    socktui relay :7000 localhost:6379 --fault 'upstream reset'
    python3 Examples/faults/retry-storm.py 7000 2              # for 2 seconds: hundreds of connections
    python3 Examples/faults/retry-storm.py 7000 2 backoff      # the cure: a pause that doubles, with some chance in it

It prints how many connections it made. The relay lists them, each with FAULT reset.
"""
import random
import socket
import sys
import time

doesBackOff = len(sys.argv) > 3 and sys.argv[3] == "backoff"
end = time.monotonic() + float(sys.argv[2])
tries, pause = 0, 0.05
while time.monotonic() < end:
    tries += 1
    try:
        with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=2) as connection:
            connection.sendall(b"PING\r\n")
            if connection.recv(4096):
                break
    except OSError:
        pass
    if doesBackOff:
        time.sleep(pause * random.uniform(0.5, 1))
        pause = min(pause * 2, 2)
print(tries, flush=True)
