// Measures the kernel's driver with fio. The number of reads is taken from the statistics of the block device.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fixed, kernelDevices, print } from './lib.js'
import { between, instant, order, type Measurement, type Shape } from './peer-window.js'

const fio = JSON.parse(process.env['PEER_FIO'] ?? '') as { program: string; libraries: string }
const { namespace } = await kernelDevices(fixed)

/** Additional fio options by configuration. */
const ENGINES: Readonly<Record<string, readonly string[]>> = {
  io_uring: [],
  // Registered buffers and file, and up to 16 submissions per system call.
  'io_uring, tuned': [
    ...['--fixedbufs=1', '--registerfiles=1', '--iomem=mmaphuge:/dev/hugepages/fio'],
    ...['--iodepth_batch_submit=16', '--iodepth_batch_complete_min=1', '--iodepth_batch_complete_max=32'],
  ],
}

/** Returns the bytes read, from field 3 of /sys/block/…/stat: sectors of 512 bytes (Linux Documentation/block/stat). */
function readBytes(): number {
  const fields = readFileSync(`/sys/block/${basename(namespace)}/stat`, 'utf8')
    .trim()
    .split(/ +/)
  return Number(fields[2]) * 512
}

/**
 * Polled completion. Not for reads that the block layer splits: on Linux 6.1, polled reads of 1 MiB did not complete.
 */
const POLLED = ['--hipri=1']
const WHOLE_BYTES = 65_536

async function measure(driver: string, extra: readonly string[], shape: Shape): Promise<Measurement> {
  const seconds = Math.ceil((order.warmUpMs + order.windowMs) / 1000) + 1
  const args = [
    ...['--name=peer', `--filename=${namespace}`, '--readonly', '--rw=randread', '--ioengine=io_uring', '--direct=1'],
    ...[`--bs=${shape.bytes}`, `--iodepth=${shape.depth}`, `--size=${order.spanBytes}`, '--time_based=1'],
    ...[`--runtime=${seconds}`, '--thread', '--norandommap=1', '--gtod_reduce=1', '--eta=never'],
    ...['--output-format=json', ...extra],
  ]
  const env = { ...process.env, LD_LIBRARY_PATH: fio.libraries }
  const before = readBytes()
  const child = spawn(fio.program, args, { env, stdio: ['ignore', 'pipe', 'inherit'], cwd: '/tmp' })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  const exit = once(child, 'exit') as Promise<[number | null]>
  // Wait until fio has loaded its libraries and reads.
  while (child.exitCode === null && readBytes() - before < 64 * shape.bytes) await sleep(20)
  await sleep(order.warmUpMs)
  const [first, firstBytes] = [instant(), readBytes()]
  await sleep(order.windowMs)
  const [last, lastBytes] = [instant(), readBytes()]
  const early = child.exitCode !== null
  const [code] = await exit
  if (code !== 0 || early) throw new Error(`fio ended early or failed, with status ${code}: ${said.slice(0, 2000)}`)
  const { jobs } = JSON.parse(said.slice(said.indexOf('{'))) as { jobs: [FioJob] }
  const { read, usr_cpu, sys_cpu, job_runtime } = jobs[0]
  // fio reports CPU time as a percentage of its whole run. Microseconds per read.
  const share = (perCent: number) => ((perCent / 100) * job_runtime * 1000) / read.total_ios
  const ios = (lastBytes - firstBytes) / shape.bytes
  const cpuUs = { user: share(usr_cpu) * ios, system: share(sys_cpu) * ios }
  const itself = { iops: read.iops }
  return { driver, shape: shape.name, ios, ...between(first, last), cpuUs, ...{ itself } }
}

interface FioJob {
  readonly read: { readonly iops: number; readonly total_ios: number }
  readonly usr_cpu: number
  readonly sys_cpu: number
  readonly job_runtime: number
}

for (const shape of order.shapes) {
  for (const [driver, extra] of Object.entries(ENGINES)) {
    const polled = extra.length > 0 && shape.bytes <= WHOLE_BYTES ? POLLED : []
    print(await measure(driver, [...extra, ...polled], shape))
  }
}
