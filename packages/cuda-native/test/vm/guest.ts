import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { bundleGuest } from './bundle.js'
import { cpio, type CpioEntry } from './cpio.js'
import type { Module } from './modules.js'
import type { GuestParts } from './parts.js'
import type { Message, ProcessEnd, Scenario } from './protocol.js'

const PROGRAM = 'qemu-system-x86_64'

/** Why QEMU cannot be used on this machine; undefined if it can. */
export const qemuMissing = spawnSync(PROGRAM, ['--version']).error ? `${PROGRAM} is not installed` : undefined

/** Command that starts QEMU, if not `qemu-system-x86_64` itself. */
export interface Qemu {
  readonly program: string
  /** Arguments before those of QEMU. */
  readonly arguments: readonly string[]
}

const BY_NAME: Qemu = { program: PROGRAM, arguments: [] }

export interface GuestOptions {
  readonly parts: GuestParts
  /** Default: QEMU on PATH. */
  readonly qemu?: Qemu
  /** Kernel modules that are inserted at boot. */
  readonly modules: readonly Module[]
  /** Kernel modules in `/tmp/vm/modules`, for a scenario to insert in this order. */
  readonly laterModules?: readonly Module[]
  readonly scenarios: readonly Scenario[]
  /** Folder with more programs for scenarios, in addition to those of `guest/`. */
  readonly programs?: string
  /** Whether to omit the programs of `guest/`, except the runner. */
  readonly onlyPrograms?: boolean
  /** Sizes in bytes of empty, sparse raw images, by QEMU drive id. */
  readonly images: Readonly<Record<string, number>>
  /** QEMU arguments for devices and their backends. */
  readonly devices: readonly string[]
  /** Appended to the kernel's command line. */
  readonly append?: string
  readonly memoryMiB: number
  /** Time limit of the whole run, after which QEMU is killed. */
  readonly deadlineMs: number
  /** Kills QEMU when it aborts. */
  readonly signal?: AbortSignal
  /** Called with each line that a scenario prints. */
  readonly onLine?: (line: unknown) => void
}

/** Results of a scenario. */
export interface ScenarioRun {
  /** Parsed lines of JSON that it printed. */
  readonly lines: unknown[]
  /** Kernel messages during the scenario. */
  readonly kernel: string[]
  /** Host errors that QEMU's controllers traced during the scenario: `pci_nvme_ub_*` and `pci_nvme_err_*`. */
  readonly misuse: string[]
  end?: ProcessEnd
}

/** Results of a guest. */
export interface GuestRun {
  readonly release: string
  readonly scenarios: ReadonlyMap<string, ScenarioRun>
  /** Kernel messages: at boot, those of priority warning and above; after the last scenario, all but debug messages. */
  readonly kernel: readonly string[]
  /** Output of the console, which includes a kernel panic, and of QEMU's stderr. */
  readonly console: string
  readonly bootMs: number
  readonly totalMs: number
  /** Whether the runner completed all scenarios. */
  readonly finished: boolean
}

/** Boots a Linux guest, runs the scenarios in it, and ends it, also after an error. */
export async function runGuest(options: GuestOptions): Promise<GuestRun> {
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-vm-'))
  try {
    writeFileSync(join(folder, 'initrd'), await initramfs(options))
    return await boot(options, folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function initramfs({
  parts,
  modules,
  laterModules = [],
  scenarios,
  programs,
  onlyPrograms,
}: GuestOptions): Promise<Buffer> {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const command = `/bin/busybox chroot /host ${quoted(process.execPath)} /tmp/vm/package/dist/runner.js\n`
  return cpio([
    { path: 'bin' },
    { path: 'bin/busybox', content: readFileSync(parts.busybox), executable: true },
    { path: 'init', content: readFileSync(join(import.meta.dirname, 'guest/init')), executable: true },
    ...moduleFolder('modules', modules),
    // The guest mounts the host's file system, with a /tmp of its own in memory. These files are copied there.
    { path: 'vm' },
    ...moduleFolder('vm/modules', laterModules),
    { path: 'vm/command', content: Buffer.from(command) },
    { path: 'vm/job.json', content: Buffer.from(JSON.stringify(scenarios)) },
    ...(await bundleGuest(programs, onlyPrograms)).map((entry) => ({ ...entry, path: `vm/${entry.path}` })),
  ])
}

/** Returns a folder of modules, and the file `order`, which lists them in insertion order. */
function moduleFolder(path: string, modules: readonly Module[]): CpioEntry[] {
  return [
    { path },
    {
      path: `${path}/order`,
      content: Buffer.from(modules.map(({ name, parameters = '' }) => `${name} ${parameters}\n`).join('')),
    },
    ...modules.map(({ name, content }) => ({ path: `${path}/${name}.ko`, content })),
  ]
}

async function boot(options: GuestOptions, folder: string): Promise<GuestRun> {
  const { parts, images, devices, append = '', memoryMiB, deadlineMs, qemu: starter = BY_NAME } = options
  const drives = Object.entries(images).flatMap(([name, bytes]) => {
    const image = join(folder, name)
    writeFileSync(image, '')
    truncateSync(image, bytes)
    return ['-drive', `file=${image},format=raw,if=none,id=${name},cache=unsafe`]
  })
  const trace = new Tail(join(folder, 'trace.log'))
  const share = 'local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap'
  const args = [
    ...['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot', '-machine', 'q35'],
    ...['-accel', 'tcg,thread=multi', '-cpu', 'max', '-smp', '2', '-m', `${memoryMiB}`],
    ...['-kernel', parts.kernel, '-initrd', join(folder, 'initrd')],
    // On a busy machine, the kernel's timer check would count too few ticks, and panic.
    ...['-append', `console=ttyS0 quiet panic=-1 mitigations=off nokaslr no_timer_check ${append}`],
    // QEMU inherits the sockets, so neither side waits for the other to connect.
    ...['-chardev', 'socket,id=console,fd=3', '-serial', 'chardev:console'],
    ...['-chardev', 'socket,id=reports,fd=4', '-serial', 'chardev:reports'],
    ...['-chardev', 'socket,id=monitor,fd=5', '-mon', 'chardev=monitor,mode=control'],
    ...['-D', trace.path, '-trace', 'pci_nvme_ub_*', '-trace', 'pci_nvme_err_*'],
    ...drives,
    ...devices,
    ...['-virtfs', share],
  ]
  const started = performance.now()
  // The kernel kills QEMU when this process ends, even by SIGKILL.
  const leash = spawnSync('setpriv', ['--version']).error ? [] : ['setpriv', '--pdeathsig', 'KILL']
  const [program, ...rest] = [...leash, starter.program, ...starter.arguments, ...args] as [string, ...string[]]
  const qemu = spawn(program, rest, { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', 'pipe'] })
  const [console, reports, monitor] = [3, 4, 5].map((fd) => qemu.stdio[fd] as Duplex) as [Duplex, Duplex, Duplex]
  const transcript = { console: '', complaints: '' }
  console.setEncoding('utf8').on('data', (text: string) => (transcript.console += text))
  qemu.stderr!.setEncoding('utf8').on('data', (text: string) => (transcript.complaints += text))
  // Sockets may fail after QEMU is killed. The result depends only on its exit.
  for (const socket of [console, reports, monitor]) socket.on('error', () => undefined)
  monitor.resume()
  monitor.write('{"execute":"qmp_capabilities"}\n')

  const run = { release: '', kernel: [] as string[], bootMs: NaN, finished: false }
  const scenarios = new Map<string, ScenarioRun>()
  const take = (message: Message) => {
    if (message.booted) {
      run.release = message.booted.release
      run.bootMs = performance.now() - started
      run.kernel.push(...message.booted.kernel)
      // Discards traces of the kernel's driver at boot, which belong to no scenario.
      trace.lines()
    }
    if (message.done) run.finished = true
    const { scenario: name } = message
    if (name === undefined) return void run.kernel.push(...(message.kernel ?? []))
    let scenario = scenarios.get(name)
    if (scenario === undefined) scenarios.set(name, (scenario = { lines: [], kernel: [], misuse: [] }))
    if (message.end) {
      scenario.end = message.end
      scenario.misuse.push(...trace.lines())
    }
    scenario.kernel.push(...(message.kernel ?? []))
    if (message.line === undefined) return
    const line = parsed(message.line)
    scenario.lines.push(line)
    options.onLine?.(line)
    // A scenario prints a QMP command to have it executed: {"monitor": {"execute": "device_del", …}}.
    if (typeof line === 'object' && line !== null && 'monitor' in line) {
      monitor.write(`${JSON.stringify(line.monitor)}\n`)
    }
  }
  let unread = ''
  reports.setEncoding('utf8').on('data', (text: string) => {
    const lines = (unread + text).split('\n')
    unread = lines.pop()!
    for (const line of lines) take(JSON.parse(line) as Message)
  })

  const timer = setTimeout(() => qemu.kill('SIGKILL'), deadlineMs)
  options.signal?.addEventListener('abort', () => qemu.kill('SIGKILL'))
  try {
    await new Promise<void>((resolve, reject) => {
      qemu.on('error', reject)
      qemu.on('close', () => resolve())
    })
  } finally {
    clearTimeout(timer)
    qemu.kill('SIGKILL')
  }
  const totalMs = performance.now() - started
  return { ...run, scenarios, console: transcript.console + transcript.complaints, totalMs }
}

/** Reads the lines that were appended to a file since the last call. */
class Tail {
  readonly path: string
  private done = 0

  constructor(path: string) {
    this.path = path
    writeFileSync(path, '')
  }

  lines(): string[] {
    const text = readFileSync(this.path, 'latin1').slice(this.done)
    this.done += text.length
    return text.split('\n').filter((line) => line !== '')
  }
}

/** Parses a line of JSON. Returns any other line unchanged, for the failure report. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return line
  }
}
