// Linux's NVMe/TCP host connects to Linux's NVMe/TCP target in the same guest, through a proxy that records every byte.
// Prints the bytes of each connection as one line of JSON.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { askForDiscoveryLog } from './discover.js'

const SUBSYSTEM = 'nqn.2026-11.org.gpunvme:recorded'
const HOST = 'nqn.2014-08.org.nvmexpress:uuid:00112233-4455-6677-8899-aabbccddeeff'
const HOST_ID = '00112233-4455-6677-8899-aabbccddeeff'
const TARGET_PORT = 4420
const RECORDED_PORT = 4421

const busybox = (...args: string[]) => execFileSync('/tmp/vm/busybox', args)

function makeTarget(): void {
  busybox('ifconfig', 'lo', '127.0.0.1', 'up')
  busybox('mount', '-t', 'configfs', 'none', '/sys/kernel/config')
  const nvmet = '/sys/kernel/config/nvmet'
  const subsystem = `${nvmet}/subsystems/${SUBSYSTEM}`
  const namespace = `${subsystem}/namespaces/1`
  const port = `${nvmet}/ports/1`
  for (const folder of [subsystem, namespace, port]) mkdirSync(folder)
  const settings: [file: string, value: string][] = [
    [`${subsystem}/attr_allow_any_host`, '1'],
    [`${subsystem}/attr_serial`, '0123456789abcdef'],
    [`${namespace}/device_path`, '/dev/ram0'],
    [`${namespace}/enable`, '1'],
    [`${port}/addr_trtype`, 'tcp'],
    [`${port}/addr_adrfam`, 'ipv4'],
    [`${port}/addr_traddr`, '127.0.0.1'],
    [`${port}/addr_trsvcid`, String(TARGET_PORT)],
  ]
  for (const [file, value] of settings) writeFileSync(file, value)
  symlinkSync(subsystem, `${port}/subsystems/${SUBSYSTEM}`)
}

/** Bytes of one connection, by direction, in the order of arrival at the proxy. */
interface Recorded {
  readonly host: Buffer[]
  readonly controller: Buffer[]
}

const connections: Recorded[] = []

function forward(from: Socket, to: Socket, chunks: Buffer[]): void {
  from.on('data', (data: Buffer) => {
    chunks.push(data)
    to.write(data)
  })
  from.on('close', () => to.destroy())
  from.on('error', () => to.destroy())
}

const proxy = createServer((host) => {
  const recorded: Recorded = { host: [], controller: [] }
  connections.push(recorded)
  const controller = connect(TARGET_PORT, '127.0.0.1')
  forward(host, controller, recorded.host)
  forward(controller, host, recorded.controller)
})

/** Connects, transfers data and disconnects. All I/O is asynchronous: the kernel waits for the proxy on this thread. */
async function connectAndTransfer(options: string): Promise<void> {
  const target = `transport=tcp,traddr=127.0.0.1,trsvcid=${RECORDED_PORT},nqn=${SUBSYSTEM}`
  const host = `hostnqn=${HOST},hostid=${HOST_ID},nr_io_queues=1,queue_size=16,keep_alive_tmo=120`
  await writeFile('/dev/nvme-fabrics', `${target},${host}${options}`)
  while (!existsSync('/dev/nvme0n1')) await sleep(50)
  const drive = await open('/dev/nvme0n1', 'r+')
  await drive.read(Buffer.alloc(4096), 0, 4096, 64 * 4096)
  // The Linux target accepts in-capsule data up to 16 KiB and sends an R2T for more.
  for (const [blocks, at] of [
    [1, 8],
    [16, 16],
  ] as const) {
    await drive.write(Buffer.alloc(4096 * blocks, 0x5a), 0, 4096 * blocks, 4096 * at)
    await drive.sync()
  }
  await drive.close()
  await writeFile('/sys/class/nvme/nvme0/delete_controller', '1')
  while (existsSync('/sys/class/nvme/nvme0')) await sleep(50)
}

makeTarget()
await new Promise<void>((resolve) => proxy.listen(RECORDED_PORT, '127.0.0.1', resolve))
for (const [name, options] of [
  ['plain', ''],
  ['digests', ',hdr_digest,data_digest'],
  ['no flow control', ',disable_sqflow'],
  ['discovery', undefined],
] as const) {
  if (options === undefined) await askForDiscoveryLog(RECORDED_PORT, HOST)
  else await connectAndTransfer(options)
  for (const { host, controller } of connections.splice(0)) {
    const [sent, received] = [host, controller].map((chunks) => Buffer.concat(chunks).toString('base64'))
    process.stdout.write(`${JSON.stringify({ name, host: sent, controller: received })}\n`)
  }
}
process.exit(0)
