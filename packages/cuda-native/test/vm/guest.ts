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

/** Why QEMU cannot be used here; undefined where it can. */
export const qemuMissing = spawnSync(PROGRAM, ['--version']).error ? `${PROGRAM} is not installed` : undefined

/** A QEMU that is started in another way than by its name. */
export interface Qemu {
  readonly program: string
  /** What comes before everything else. */
  readonly arguments: readonly string[]
}

const BY_NAME: Qemu = { program: PROGRAM, arguments: [] }

export interface GuestOptions {
  readonly parts: GuestParts
  /** The one of `PATH` when not given. */
  readonly qemu?: Qemu
  /** Those that the kernel has from the beginning. */
  readonly modules: readonly Module[]
  /** Those that a scenario finds in `/tmp/vm/modules` and inserts itself, in this order. */
  readonly laterModules?: readonly Module[]
  readonly scenarios: readonly Scenario[]
  /** A folder of programs that scenarios may name beside those of `guest/`. */
  readonly programs?: string
  /** Scenarios name no program of `guest/`: they are left out. */
  readonly onlyPrograms?: boolean
  /** Raw images that QEMU finds as drives of these names; they are empty and sparse. */
  readonly images: Readonly<Record<string, number>>
  /** Devices and what they need. */
  readonly devices: readonly string[]
  /** Added to the kernel's command line. */
  readonly append?: string
  readonly memoryMiB: number
  /** For all of it; QEMU is killed then. */
  readonly deadlineMs: number
  /** QEMU is killed at once where this says so. */
  readonly signal?: AbortSignal
  /** Told of each line of a scenario as it is printed. */
  readonly onLine?: (line: unknown) => void
}

/** How a scenario went. */
export interface ScenarioRun {
  /** What it printed: lines of JSON. */
  readonly lines: unknown[]
  /** What the kernel said meanwhile. */
  readonly kernel: string[]
  /** What QEMU's controllers said of misuse meanwhile: `pci_nvme_ub_*` and `pci_nvme_err_*`. */
  readonly misuse: string[]
  end?: ProcessEnd
}

/** How a guest went. */
export interface GuestRun {
  readonly release: string
  readonly scenarios: ReadonlyMap<string, ScenarioRun>
  /** What the kernel said while it started, of warnings and worse, and after the last scenario. */
  readonly kernel: readonly string[]
  /** The console, where a kernel that dies has its last word. */
  readonly console: string
  readonly bootMs: number
  readonly totalMs: number
  /** Whether it came to its end by itself. */
  readonly finished: boolean
}

/** Starts a Linux guest, runs the scenarios in it, and ends it, whatever happens. */
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
    // What goes to the host's tree, where /tmp is the guest's own memory.
    { path: 'vm' },
    ...moduleFolder('vm/modules', laterModules),
    { path: 'vm/command', content: Buffer.from(command) },
    { path: 'vm/job.json', content: Buffer.from(JSON.stringify(scenarios)) },
    ...(await bundleGuest(programs, onlyPrograms)).map((entry) => ({ ...entry, path: `vm/${entry.path}` })),
  ])
}

/** Modules, and a list of them in the order in which they are to be inserted. */
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
    // On a busy machine the kernel's look at the timer finds too few ticks, and it panics.
    ...['-append', `console=ttyS0 quiet panic=-1 mitigations=off nokaslr no_timer_check ${append}`],
    // Sockets that QEMU inherits, so that neither side has to wait for the other to open anything.
    ...['-chardev', 'socket,id=console,fd=3', '-serial', 'chardev:console'],
    ...['-chardev', 'socket,id=reports,fd=4', '-serial', 'chardev:reports'],
    ...['-chardev', 'socket,id=monitor,fd=5', '-mon', 'chardev=monitor,mode=control'],
    ...['-D', trace.path, '-trace', 'pci_nvme_ub_*', '-trace', 'pci_nvme_err_*'],
    ...drives,
    ...devices,
    ...['-virtfs', share],
  ]
  const started = performance.now()
  // Killed with us, even when nothing of ours gets to run any more.
  const leash = spawnSync('setpriv', ['--version']).error ? [] : ['setpriv', '--pdeathsig', 'KILL']
  const [program, ...rest] = [...leash, starter.program, ...starter.arguments, ...args] as [string, ...string[]]
  const qemu = spawn(program, rest, { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', 'pipe'] })
  const [console, reports, monitor] = [3, 4, 5].map((fd) => qemu.stdio[fd] as Duplex) as [Duplex, Duplex, Duplex]
  const transcript = { console: '', complaints: '' }
  console.setEncoding('utf8').on('data', (text: string) => (transcript.console += text))
  qemu.stderr!.setEncoding('utf8').on('data', (text: string) => (transcript.complaints += text))
  // A socket of a QEMU that was killed may break; its exit is what is waited for.
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
      // What the kernel's own driver was told at its start is between the two of them.
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
    // What a scenario asks of QEMU: {"monitor": {"execute": "device_del", …}}.
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

/** A file that grows, by the lines that are new. */
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

/** A line that is no JSON is a program's slip, and shown as it is. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return line
  }
}
