#!/usr/bin/env python3
"""Compare datagram receivers with recvmmsg in C, interleaved, as ratios of CPU for each datagram received.

usage: datagrams.py [-n REPEATS] [-c COUNT] [-s SIZE] [--shared] NAME=COMMAND [NAME=COMMAND ...]

Each command speaks as `datagrams receive` does (see datagrams.c). The sender is pinned to one core, the receiver to
another; --shared: both to one. What was received and what the kernel dropped must be what was sent, else the run fails.
"""
import os, random, shlex, statistics as st, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get('PERF_BUILD', os.path.join(tempfile.gettempdir(), 'socket-perf'))
BINARY = f'{BUILD}/datagrams'

def build():
    os.makedirs(BUILD, exist_ok=True)
    source = f'{HERE}/datagrams.c'
    if not os.path.exists(BINARY) or os.path.getmtime(BINARY) < os.path.getmtime(source):
        subprocess.run(['cc', '-O2', '-o', BINARY, source], check=True)

def once(command, count, size, sender_core):
    server = subprocess.Popen(['taskset', '-c', '1'] + shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        word, port = server.stdout.readline().split()
        if word != 'ready': raise SystemExit(f'datagrams: {command} is not ready')
        sent = subprocess.run(['taskset', '-c', sender_core, BINARY, 'send', port, str(count), str(size)], capture_output=True, text=True, check=True)
        server.stdin.write('\n'); server.stdin.flush()
        words = server.stdout.readline().split()
        facts = dict(zip(words[::2], map(int, words[1::2])))
        facts['sent'] = int(sent.stdout.split()[1])
        server.wait(timeout=10)
    finally:
        server.kill(); server.wait()
    facts['exact'] = facts['received'] + facts['drops'] == facts['sent'] and facts['delivered'] == facts['received'] \
        and facts['bytes'] == facts['delivered'] * (size + 1)
    return facts

def main():
    argv, repeats, count, size, core = sys.argv[1:], 5, 1_000_000, 64, '0'
    commands = {'ref': f'{BINARY} receive', 'bare': f'{BINARY} receive bare'}
    while argv:
        word = argv.pop(0)
        if word == '-n': repeats = int(argv.pop(0))
        elif word == '-c': count = int(argv.pop(0))
        elif word == '-s': size = int(argv.pop(0))
        elif word == '--shared': core = '1'
        elif '=' in word: commands.update([word.split('=', 1)])
        else: raise SystemExit(__doc__)
    build()
    results = {name: [] for name in commands}
    exact = True
    for _ in range(repeats):
        for name in random.sample(list(commands), len(commands)):
            facts = once(commands[name], count, size, core)
            if not facts['exact']: print('NOT EXACT', name, facts, file=sys.stderr); exact = False
            results[name].append(facts)
    cost = {name: [f['cpu'] / max(1, f['received']) for f in runs] for name, runs in results.items()}
    reference = st.median(cost['ref'])
    print(f'{count} datagrams of {size} B, {repeats} repeats, medians; "ref" asks for source, destination and interface too')
    for name, runs in results.items():
        share = st.median(f['received'] / f['sent'] for f in runs)
        spread = (max(cost[name]) - min(cost[name])) / st.median(cost[name])
        print(f'{name:8} {st.median(cost[name]):7.0f} ns each   ratio {st.median(cost[name]) / reference:5.2f}   '
              f'spread {spread:4.0%}   received {share:6.1%}, the rest dropped by the kernel and counted')
    sys.exit(0 if exact else 1)

main()
