#!/usr/bin/env python3
"""Count what a server executes for each operation: user instructions, allocations and system calls.

usage: counts.py [--gate FILE] SERVER [CASE ...]

Unlike CPU time these hardly depend on the machine, or on what else runs there. Instructions and allocations are counted by
valgrind's callgrind (the calls of malloc and its like) behind a first run of the load that warms the server up, system calls
by strace in a run of their own. A gate file has lines "CASE INSTRUCTIONS ALLOCATIONS SYSTEM-CALLS", and "CASE/CASE RATIO" of
instructions: none may be above it. FacadeServer, whose cases have "facade" in their names, lies beside SERVER.
For a ratio, both cases are counted in turns in five rounds, and their medians are compared. It leaves out copies of bytes that
came late: a read of 64 KiB is copied only where it came in parts, which says how the load got its core and not what the server
does, and a few such reads are more than the difference. SocketCore makes these copies, in the same way for both cases.
Exits 1 if one is above its gate, or if a run failed.
"""
import glob, json, os, re, shutil, signal, socket, statistics, struct, subprocess, sys, tempfile, time
import compare

MEBIBYTES = 256
ROUNDS = 5
PING = (['-c', '64', '-t', '{seconds}', 'ping'], lambda report: report['n'])
LINES = (['-n', '200000', 'lines'], lambda report: 200_000)
SINK = (['-n', str(MEBIBYTES << 20), 'sink'], lambda report: MEBIBYTES)
CASES = {  # name: (way, mode, loadgen arguments, how many operations that were)
    'echo-inline': ('inline', 'echo', *PING),
    'echo-queue': ('queue', 'echo', *PING),
    'echo-facade': ('facade', 'echo', *PING),
    'heard-queue': ('queue', 'heard', *PING),
    'heard-facade': ('facade', 'heard', *PING),
    'echo-borrowed': ('borrowed', 'echo', *PING),
    'exchange-inspected': ('inline', 'echo', PING[0], lambda report: 2 * report['n']),
    'line-inline': ('inline', 'lines', *LINES),
    'line-borrowed': ('borrowed', 'lines', *LINES),
    'accept-inline': ('inline', 'echo', ['-n', '1000', '-c', '16', 'accept'], lambda report: 1_000),
    'received-MiB': ('inline', 'sink', *SINK),
    'queue-MiB': ('queue', 'sink', *SINK),
    'facade-MiB': ('facade', 'sink', *SINK),
    'sent-MiB': ('inline', 'source', ['-n', str(MEBIBYTES << 20), 'source'], lambda report: MEBIBYTES),
}
# What the façade of GCDAsyncSocket is measured against, by a program of the same kind; `heard`: its delegate hears of writes.
FACADES = {'echo-facade': 'echo-queue', 'heard-facade': 'heard-queue', 'facade-MiB': 'queue-MiB'}
# Of a case with a viewer, only what counts its questions and answers, for each read and each write.
INSPECTED = re.compile(r'\$s9SocketKit(10ConnectionC\d+(tallyExchanges|tallyUnsettled|tallyPlaintext|judgeExchanges|beginTally)|19ConnectionExchangesV)'
                       r'|\$s10SocketCore(13ExchangeTallyV(?!8snapshot)|11AnswerTimesV(3add|5halve))')
# A part of a long read that is added to those before it.
ADDS, COPIES = re.compile(r'\$sSa6append10contentsOf.*s5UInt8V'), re.compile(r'__mem(cpy|move)')
ALLOCATES_OWN = re.compile(r'(swift_slowAlloc|swift_allocObject|malloc)(@|\'|$)')
ALLOCATES = re.compile(r'(malloc|calloc|realloc|posix_memalign|aligned_alloc|memalign)(@|\'|$)')

def go_first():
    """Lets the load have its core whatever else runs, where that is allowed."""
    try: os.setpriority(os.PRIO_PROCESS, 0, -20)
    except PermissionError: pass

class Server:
    def __init__(self, case, server, before=()):
        self.way, mode, self.arguments, self.count = CASES[case]
        words = [f'{server}-facade', '-m', mode] if self.way == 'facade' else [server, '-m', mode, '-w', self.way]
        self.folder = tempfile.mkdtemp() if case.endswith('-inspected') else None
        inspect = {'SOCKETKIT_INSPECT': '1', 'XDG_RUNTIME_DIR': self.folder} if self.folder else {}
        self.process = subprocess.Popen([*before, *words], stdout=subprocess.PIPE, text=True, env={**os.environ, **inspect})
        self.port = self.process.stdout.readline().split()[1]
        if inspect: self.view()

    def __enter__(self): return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        if self.folder: shutil.rmtree(self.folder)

    def view(self):
        """Attaches as a viewer that reads what comes first, and nothing after that, so that few updates are made."""
        while not (found := glob.glob(f'{self.folder}/socktui/*.sock')): time.sleep(0.05)
        self.viewer = socket.socket(socket.AF_UNIX)
        self.viewer.connect(found[0])
        hello = b'\x01\x0a\x07socktui\x10\x01'
        self.viewer.sendall(struct.pack('>I', len(hello)) + hello)
        stream, kind = self.viewer.makefile('rb'), 0
        # A tick ends the first update.
        while kind != 4: kind = stream.read(struct.unpack('>I', stream.read(4))[0])[0]

    def load(self, seconds):
        words = [word.replace('{seconds}', seconds) for word in self.arguments]
        run = subprocess.run([f'{compare.BUILD}/loadgen', '-p', self.port, *words], capture_output=True, text=True, check=True, preexec_fn=go_first)
        # What the server does last, it may do behind the load's end.
        time.sleep(0.2)
        return self.count(json.loads(run.stdout))

def late_copies(text):
    """Instructions of copies of parts of long reads."""
    caller, called, is_cost, instructions = '', '', False, 0
    for line in text.splitlines():
        if line.startswith('fn='): caller = line[3:]
        elif line.startswith('cfn='): called = line[4:]
        elif is_cost and ADDS.match(caller) and COPIES.match(called): instructions += int(line.split()[1])
        is_cost = line.startswith('calls=')
    return instructions

def inspected(text):
    """Instructions of what counts questions and answers, and what it allocates."""
    caller, called, is_call, instructions, allocations = '', '', False, 0, 0
    for line in text.splitlines():
        if line.startswith('fn='): caller = line[3:]
        elif line.startswith('cfn='): called = line[4:]
        elif line.startswith('calls='):
            is_call = True
            if INSPECTED.match(caller) and ALLOCATES_OWN.match(called): allocations += int(line[6:].split()[0])
        elif re.match(r'[+*\d-]', line):
            if not is_call and INSPECTED.match(caller): instructions += int(line.split()[1])
            is_call = False
    return instructions, allocations

def callgrind(case, server):
    """Instructions and allocations for each operation, and instructions without copies of what came late."""
    folder = tempfile.mkdtemp()
    # Threads take turns in the order in which they asked, so that a batch has about as many reads in each run.
    tool = ['valgrind', '--quiet', '--tool=callgrind', '--fair-sched=yes', '--compress-strings=no', f'--callgrind-out-file={folder}/out']
    with Server(case, server, tool) as run:
        control = lambda flag: subprocess.run(['callgrind_control', flag, str(run.process.pid)], capture_output=True, check=True)
        run.load('0.5')
        control('-z')
        operations = run.load('4')
        control('-d')
        # The tool writes it when it next switches threads, under a name with a number.
        while not (dumps := glob.glob(f'{folder}/out.*')) or not re.search(r'^totals: ', open(dumps[0]).read(), re.M):
            if run.process.poll() is not None: raise SystemExit(f'counts: {case}: the server has ended')
            time.sleep(0.1)
    text = open(dumps[0]).read()
    shutil.rmtree(folder)
    instructions = int(re.search(r'^totals: (\d+)', text, re.M)[1])
    calls = re.findall(r'^cfn=(.*)\ncalls=(\d+)', text, re.M)
    allocations = sum(int(count) for name, count in calls if ALLOCATES.match(name))
    if case.endswith('-inspected'): instructions, allocations = inspected(text)
    late = late_copies(text) if case.endswith('MiB') else 0
    return instructions / operations, allocations / operations, (instructions - late) / operations

def strace(case, server):
    """System calls for each operation."""
    with Server(case, server) as run, tempfile.NamedTemporaryFile('r') as report:
        run.load('0.5')
        tracer = subprocess.Popen(['strace', '-c', '-U', 'calls,name', '-f', '-o', report.name, '-p', str(run.process.pid)], stderr=subprocess.PIPE, text=True)
        # It says so for each thread that it has attached to.
        tracer.stderr.readline()
        time.sleep(0.5)
        operations = run.load('2')
        tracer.send_signal(signal.SIGINT)
        tracer.wait()
        total = re.search(r'^\s*(\d+)\s+total$', report.read(), re.M)
    return int(total[1]) / operations

def main():
    words, gates, ratios = sys.argv[1:], {}, {}
    if words[:1] == ['--gate']:
        lines = [line.split() for line in open(words[1]) if line.strip() and not line.startswith('#')]
        gates, words = {case: [float(most) for most in rest] for case, *rest in lines}, words[2:]
        ratios = {case: gates.pop(case)[0] for case in list(gates) if '/' in case}
        gated = {case for pair in ratios for case in pair.split('/')} | gates.keys()
        if gated != CASES.keys() or any(len(most) != 3 for most in gates.values()):
            raise SystemExit('counts: the gates need three numbers, or a ratio, for each of ' + ' '.join(CASES))
    if not words or any(word not in CASES for word in words[1:]): raise SystemExit(__doc__ + '\ncases: ' + ' '.join(CASES))
    for tool in ('valgrind', 'strace'):
        if not shutil.which(tool): raise SystemExit(f'counts: {tool} is missing: apt-get install {tool}')
    compare.build()
    over, compared = [], {}
    # Valgrind does not read what Swift's compiler says about lines and types.
    server = f'{compare.BUILD}/counted-server'
    for binary, copy in ((words[0], server), (os.path.join(os.path.dirname(words[0]), 'FacadeServer'), f'{server}-facade')):
        subprocess.run(['strip', '--strip-debug', '-o', copy, binary], check=True)
    print(f'{"for each operation":20}{"instructions":>14}{"allocations":>14}{"system calls":>14}')
    for case in words[1:] or CASES:
        *counts, compared[case] = callgrind(case, server)
        counts.append(strace(case, server))
        print(f'{case:20}{counts[0]:14.0f}{counts[1]:14.3f}{counts[2]:14.3f}', flush=True)
        over += [f'{case}: {count:.3f} {what}, at most {most:g}'
                 for count, most, what in zip(counts, gates.get(case, []), ('instructions', 'allocations', 'system calls')) if count > most]
    for facade, queue in FACADES.items():
        if not compared.keys() >= {facade, queue}: continue
        rounds = [(compared[facade], compared[queue])]
        rounds += [(callgrind(facade, server)[-1], callgrind(queue, server)[-1]) for _ in range(ROUNDS - 1)]
        medians = [statistics.median(counts) for counts in zip(*rounds)]
        ratio, most = medians[0] / medians[1], ratios.get(f'{facade}/{queue}')
        each = ' '.join(f'{counts[0] / counts[1]:.3f}' for counts in rounds)
        print(f'{facade}: {ratio:.3f} of the instructions of {queue}, {medians[0]:.0f} and {medians[1]:.0f}; by rounds {each}', flush=True)
        if most and ratio > most: over.append(f'{facade}: {ratio:.3f} of {queue}, at most {most:g}')
    if over: raise SystemExit('counts: above its gate: ' + '; '.join(over))

if __name__ == '__main__': main()
