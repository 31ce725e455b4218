// Linux's NVMe/TCP target in this guest, which exports a RAM disk, and Linux's host, which connects to it.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { NQNS } from '../../../../nvme-spec/test/dhchap-secrets.js'

const HOST_ID = '00112233-4455-6677-8899-aabbccddeeff'
export const TARGET_PORT = 4420

const NVMET = '/sys/kernel/config/nvmet'
const subsystem = `${NVMET}/subsystems/${NQNS.subsystem}`
const allowedHost = `${NVMET}/hosts/${NQNS.host}`
const controller = '/sys/class/nvme/nvme0'

const busybox = (...args: string[]) => execFileSync('/tmp/vm/busybox', args)

/** Exports the RAM disk to every host. */
export function makeTarget(): void {
  busybox('ifconfig', 'lo', '127.0.0.1', 'up')
  busybox('mount', '-t', 'configfs', 'none', '/sys/kernel/config')
  const namespace = `${subsystem}/namespaces/1`
  const port = `${NVMET}/ports/1`
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
  symlinkSync(subsystem, `${port}/subsystems/${NQNS.subsystem}`)
}

/** How the target authenticates a host, as configfs names the attributes. */
export interface Authentication {
  readonly dhchap_key: string
  readonly dhchap_ctrl_key: string
  readonly dhchap_hash: string
  readonly dhchap_dhgroup: string
}

/** Restricts the target to this guest's host, which must authenticate itself from the next connection on. */
export function requireAuthentication(attributes: Authentication): void {
  if (!existsSync(allowedHost)) {
    mkdirSync(allowedHost)
    writeFileSync(`${subsystem}/attr_allow_any_host`, '0')
    symlinkSync(allowedHost, `${subsystem}/allowed_hosts/${NQNS.host}`)
  }
  for (const [name, value] of Object.entries(attributes)) writeFileSync(`${allowedHost}/${name}`, value as string)
}

/**
 * Connects Linux's host through `port`, and waits for its block device. All I/O is asynchronous: the kernel waits for the
 * proxy on this thread. Rejects with the kernel's error if the target refuses the host.
 */
export async function connectHost(port: number, options: string): Promise<void> {
  const target = `transport=tcp,traddr=127.0.0.1,trsvcid=${port},nqn=${NQNS.subsystem}`
  const host = `hostnqn=${NQNS.host},hostid=${HOST_ID},nr_io_queues=1,queue_size=16,keep_alive_tmo=120`
  await writeFile('/dev/nvme-fabrics', `${target},${host}${options}`)
  while (!existsSync('/dev/nvme0n1')) await sleep(50)
  // Opening it waits for the kernel's scan for partitions, whose reads would fail after a disconnect.
  await (await open('/dev/nvme0n1')).close()
}

/**
 * Starts another authentication on the queues that have authenticated, here the Admin Queue; the kernel runs it after this
 * returns.
 */
export async function authenticateAgain(secret: string): Promise<void> {
  await writeFile(`${controller}/dhchap_secret`, secret)
}

/** Disconnects Linux's host. */
export async function disconnectHost(): Promise<void> {
  await writeFile(`${controller}/delete_controller`, '1')
  while (existsSync(controller)) await sleep(50)
}
