#!/usr/bin/env python3
"""CPU that a relay takes for each gigabyte: socktui beside socat and haproxy, interleaved.

usage: relay.py SOCKTUI [-n REPEATS] [-g GIGABYTES]

A download of refserver's through each relay in turn, in an order shuffled anew for each repeat; CPU is that of the
relay's processes, user and system, from /proc. socktui runs as a person runs it, traffic kept, pictures drawn ten times a
second, here by a script (--script); `text` is socktui without a terminal, a line for each event, to /dev/null. socat with its 8 KiB blocks and with 64 KiB ones; haproxy in TCP mode as it comes.
"""
import os, random, statistics as st, subprocess, sys, tempfile, time
import compare

HZ = os.sysconf('SC_CLK_TCK')

def cpu(pid):
    """Seconds of a process, and of its children that it has waited for."""
    fields = open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()
    return sum(int(fields[i]) for i in (11, 12, 13, 14)) / HZ

def children(pid):
    try: return [int(x) for x in open(f'/proc/{pid}/task/{pid}/children').read().split()]
    except OSError: return []

def total(pid):
    return cpu(pid) + sum(total(c) for c in children(pid))

def port():
    import socket
    s = socket.socket(); s.bind(('127.0.0.1', 0)); p = s.getsockname()[1]; s.close(); return p

def haproxy(listen, target):
    path = os.path.join(tempfile.gettempdir(), f'haproxy-{os.getpid()}.cfg')
    open(path, 'w').write(f"""
defaults
  mode tcp
  timeout connect 5s
  timeout client 60s
  timeout server 60s
listen relay
  bind 127.0.0.1:{listen}
  server one 127.0.0.1:{target}
""")
    return ['haproxy', '-db', '-f', path]

def once(words, listen, target, count):
    relay = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            time.sleep(0.05)
            if f':{listen:04X} ' in open('/proc/net/tcp').read() : break
        time.sleep(0.3)
        before = total(relay.pid)
        run = subprocess.run([f'{compare.BUILD}/loadgen', '-p', str(listen), '-n', str(count), 'source'],
                             capture_output=True, text=True, timeout=300)
        time.sleep(0.2)
        if run.returncode: raise SystemExit(f'{words[0]}: {run.stderr}')
        return total(relay.pid) - before
    finally:
        relay.terminate(); relay.wait()

def main():
    socktui, repeats, gigabytes = sys.argv[1], 5, 2
    rest = sys.argv[2:]
    while rest:
        if rest[0] == '-n': repeats = int(rest[1])
        elif rest[0] == '-g': gigabytes = int(rest[1])
        else: raise SystemExit(__doc__)
        rest = rest[2:]
    compare.build()
    server = subprocess.Popen([f'{compare.BUILD}/refserver', '-m', 'source'], stdout=subprocess.PIPE, text=True)
    target = int(server.stdout.readline().split()[1])
    listen = {name: port() for name in ('socktui', 'text', 'socat', 'socat-64K', 'haproxy')}
    keys = os.path.join(tempfile.mkdtemp(), 'keys')
    open(keys, 'w').write('wait 600 what never comes\n')
    here = lambda name: f'TCP4-LISTEN:{listen[name]},bind=127.0.0.1,reuseaddr,fork'
    relays = {
        'socktui': [socktui, 'relay', f"127.0.0.1:{listen['socktui']}", f'127.0.0.1:{target}',
                    '--script', keys, '--size', '140x40'],
        'text': [socktui, 'relay', f"127.0.0.1:{listen['text']}", f'127.0.0.1:{target}'],
        'socat': ['socat', here('socat'), f'TCP4:127.0.0.1:{target}'],
        'socat-64K': ['socat', '-b', '65536', here('socat-64K'), f'TCP4:127.0.0.1:{target}'],
        'haproxy': haproxy(listen['haproxy'], target),
    }
    results = {name: [] for name in relays}
    for _ in range(repeats):
        order = list(relays); random.shuffle(order)
        for name in order:
            results[name].append(once(relays[name], listen[name], target, gigabytes << 30) / gigabytes)
    server.kill()
    print(f'{"relay":10} {"CPU s/GiB":>10}  spread')
    for name, values in results.items():
        print(f'{name:10} {st.median(values):10.3f}  [{min(values):.3f}-{max(values):.3f}]')

if __name__ == '__main__': main()
