// Runs fio alternately on the drives of slots 4 and 5, in one order and then in the other. Prints a line before and after
// each turn.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import type { Turn } from '../turn.js'

const SLOTS = { served: '0000:00:04.0', builtin: '0000:00:05.0' } as const
const ROUNDS = Number(process.env['VM_ROUNDS'])

function nodeOf(drive: keyof typeof SLOTS): string {
  const folder = `/sys/bus/pci/devices/${SLOTS[drive]}/nvme`
  const node = () => (existsSync(folder) ? `/dev/${readdirSync(folder)[0]}n1` : '')
  for (let tries = 0; tries < 300 && !existsSync(node()); tries++) spawnSync('/tmp/vm/busybox', ['sleep', '0.1'])
  return node()
}

function rate(node: string, depth: number): number {
  const { status, stdout, stderr } = spawnSync(
    'fio',
    [
      ...[
        '--name=rate',
        `--filename=${node}`,
        '--readonly',
        '--direct=1',
        '--ioengine=libaio',
        '--rw=randread',
        '--bs=4k',
      ],
      ...[
        `--iodepth=${depth}`,
        '--time_based',
        '--ramp_time=1',
        '--runtime=4',
        '--norandommap',
        '--output-format=json',
      ],
    ],
    { encoding: 'utf8', timeout: 120_000, cwd: '/tmp' },
  )
  if (status !== 0) throw new Error(stdout + stderr)
  return (JSON.parse(stdout) as { jobs: [{ read: { iops: number } }] }).jobs[0].read.iops
}

const print = (line: Turn) => process.stdout.write(`${JSON.stringify(line)}\n`)

for (let round = 0; round < ROUNDS; round++) {
  for (const depth of [1, 32]) {
    const drives = ['served', 'builtin'] as const
    for (const drive of round % 2 === 0 ? drives : drives.toReversed()) {
      const node = nodeOf(drive)
      print({ drive, depth })
      print({ drive, depth, iops: rate(node, depth) })
    }
  }
}
