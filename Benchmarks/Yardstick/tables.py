#!/usr/bin/env python3
"""Write the tables of README.md that stand between marks from what compare.py found.

usage: tables.py README.md RESULTS

RESULTS has a line of JSON for each suite and server, the last one counts. A row or a column that it has nothing for keeps `-`.
"""
import json, sys

SUITES = {  # name: how it is called in the tables, and what CPU ratio is wanted of `inline` and `queue`
    'ping1': ('echo, one connection', 1.10, 1.5), 'ping64': ('echo, 64 connections', 1.10, 1.25),
    'ping1000': ('echo, 1,000 connections', 1.12, 1.4), 'ping9000': ('echo, 9,000 connections', None, None),
    'post64': ('echo, 64 connections, while two threads post', None, None),
    'move64': ('echo, 64 connections, each moves to another engine after 100', None, None),
    'sink': ('1 GiB received by TCP, 64 KiB reads', 1.04, None), 'sink-unix': ('the same by Unix socket', 1.04, None),
    'source': ('1 GiB sent by TCP, 64 KiB writes', None, None), 'source-unix': ('the same by Unix socket', None, None),
    'lines': ('lines of 64 bytes', None, None), 'accept': ('accept, echo once, reset', 1.06, None),
}

def ratio(row, most=None):
    if not row: return '-'
    low, middle, high = row['ratio']
    bold = '**' if most and middle <= most else ''
    return f'{bold}{middle:.2f}{bold} [{low:.2f}-{high:.2f}]'

def ratios(found, names):
    yield '| case | must: `inline`, `queue` | ' + ' | '.join(names) + ' |'
    yield '|---|---|' + '---|' * len(names)
    for suite, (title, inline, queue) in SUITES.items():
        if not any((suite, name) in found for name in names): continue
        wanted = ', '.join(f'{most:.2f}' if most else '-' for most in (inline, queue))
        most = {'inline': inline, 'queue': queue}
        cells = [ratio(found.get((suite, name)), most.get(name)) for name in names]
        yield f'| {title} | {wanted} | ' + ' | '.join(cells) + ' |'

def latencies(found, names):
    cells = ['p50_us', 'p99_us', 'p999_us']
    time = lambda row, prefix='': ' / '.join(f'{row[prefix + key]:.0f}' for key in cells)
    yield '| case | C | ' + ' | '.join(names) + ' |'
    yield '|---|---|' + '---|' * len(names)
    for suite, (title, *_) in SUITES.items():
        rows = [found.get((suite, name)) for name in names]
        known = [row for row in rows if row and 'p50_us' in row]
        if not known: continue
        yield f'| {title} | {time(known[0], "ref_")} | ' + ' | '.join(time(row) if row else '-' for row in rows) + ' |'

def main():
    if len(sys.argv) != 3: raise SystemExit(__doc__)
    readme, results = sys.argv[1:]
    found = {(row['suite'], row['name']): row for row in map(json.loads, open(results))}
    names = list(dict.fromkeys(name for _, name in found))
    text = open(readme).read()
    for mark, rows in (('ratios', ratios), ('latencies', latencies)):
        begin, end = f'<!-- {mark}: written by the run -->\n', f'<!-- end of {mark} -->\n'
        if begin not in text or end not in text: raise SystemExit(f'tables: {readme} has no marks for {mark}')
        before, rest = text.split(begin)
        text = before + begin + '\n'.join(rows(found, names)) + '\n' + end + rest.split(end)[1]
    open(readme, 'w').write(text)

if __name__ == '__main__': main()
