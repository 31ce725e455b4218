import { setTimeout as sleep } from 'node:timers/promises'
import { DriverError } from '../../error.js'
import { controllerId, machineArguments, type MachineFiles } from './arguments.js'
import { ANSWER_MS, Channel } from './channel.js'
import { assemble, type Qemu } from './machine.js'
import { machineOptions, type QemuOptions } from './options.js'
import { QemuProcess, type QemuExit } from './process.js'
import { qemuProgram } from './program.js'
import { Qmp, type QemuVersion } from './qmp.js'
import { Scratch } from './scratch.js'
import { SharedFile } from './shared-file.js'
import { Watcher } from './watcher.js'

/** Before 7.2, the completion timer of QEMU's controller stops with the CPU, so that no command completes. */
const OLDEST = { major: 7, minor: 2 }

/**
 * Starts QEMU and returns its NVMe controllers as transports, without a guest, hardware, privileges or native code. If
 * QEMU dies, registers read all ones, as with a drive that left the bus.
 *
 * @throws RangeError for impossible options; DriverError (QEMU_MISSING, QEMU_FIFO, QEMU_VERSION, QEMU_START) if QEMU does
 *   not start. No file or process is left then.
 */
export async function startQemu(options: QemuOptions = {}): Promise<Qemu> {
  const machine = machineOptions(options)
  const program = options.program ?? qemuProgram()
  const scratch = new Scratch(machine.memoryBytes + machine.vramBytes)
  // Started before anything that would be left if this process were killed in what follows.
  const watcher = new Watcher(scratch.folders, scratch.file('qtest'))
  const opened: { close(): void }[] = []
  let child: QemuProcess | undefined
  const cleanUp = () => {
    for (const each of opened) each.close()
    scratch.remove()
    watcher.end()
  }
  try {
    scratch.make()
    const files: MachineFiles = {
      ram: scratch.memory('ram'),
      vram: scratch.memory('vram'),
      qtest: scratch.file('qtest'),
      trace: scratch.file('trace.log'),
      image: (controller, nsid) => scratch.file(`${controllerId(controller)}-${nsid}.img`),
    }
    scratch.fifos(files.qtest)
    for (const [index, { namespaces }] of machine.controllers.entries())
      for (const { nsid, image, imageBytes } of namespaces)
        if (image === undefined) scratch.image(files.image(index, nsid), imageBytes)
    const memory = (path: string, lengthBytes: number) => {
      const file = new SharedFile(path, lengthBytes, options.host)
      opened.push(file)
      return file
    }
    const ram = memory(files.ram, machine.memoryBytes)
    const vram = machine.vramBytes === 0 ? undefined : memory(files.vram, machine.vramBytes)
    const channel = new Channel(files.qtest, (reason) => child?.giveUp(reason))
    opened.push(channel)
    child = new QemuProcess(program, machineArguments(machine, files), watcher)
    const { stdin, stdout, ended } = child
    const qmp = new Qmp(stdin, stdout, ended, (line) => child?.giveUp(`it sent a line that is not QMP: ${line}`))
    const version = await begin(program, child, qmp, channel)
    return assemble({ machine, files, ram, vram, channel, child, qmp, version, cleanUp })
  } catch (error) {
    if (child !== undefined && !child.hasEnded) {
      child.giveUp('it did not start')
      await child.endsWithin(ANSWER_MS)
    }
    cleanUp()
    throw error
  }
}

/** Waits until QEMU responds, or fails to. */
async function begin(program: string, child: QemuProcess, qmp: Qmp, channel: Channel): Promise<QemuVersion> {
  const late = AbortSignal.timeout(ANSWER_MS)
  const isOver = () => child.hasEnded || late.aborted
  let version: QemuVersion | undefined
  void qmp.greeting.then((greeting) => (version = greeting))
  while (version === undefined && !isOver()) await sleep(1)
  if (version !== undefined) {
    const { major, minor } = version
    if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)) throw tooOld(program, version)
  }
  if (version === undefined || !(await channel.opened(isOver))) {
    if (child.spawnError !== undefined) throw missing(program, child.spawnError)
    throw notStarted(program, child.exit ?? silent)
  }
  try {
    await qmp.execute('qmp_capabilities')
  } catch (error) {
    if (child.exit === undefined) throw error
    throw notStarted(program, child.exit)
  }
  return version
}

const silent: QemuExit = { reason: `it did not respond in ${ANSWER_MS / 1000} s`, code: null, signal: null, stderr: '' }

/** The program does not exist, or may not be executed. */
function missing(program: string, cause: NodeJS.ErrnoException): DriverError {
  return new DriverError('ERR_GPUNVME_QEMU_MISSING', 'not-found', `Cannot start QEMU: ${program}`, {
    facts: [cause.message],
    next: 'install it (Debian: apt-get install qemu-system-x86), or name the program: { program }, or GPUNVME_QEMU in the environment',
    cause,
  })
}

/** This QEMU is too old to work without a guest. */
function tooOld(program: string, { major, minor, micro }: QemuVersion): DriverError {
  const oldest = `${OLDEST.major}.${OLDEST.minor}`
  const headline = `QEMU is too old: ${program} is version ${major}.${minor}.${micro}`
  return new DriverError('ERR_GPUNVME_QEMU_VERSION', 'infeasible', headline, {
    facts: [`before ${oldest}, no command completes while the virtual CPU is stopped`],
    next: `install QEMU ${oldest} or newer, and name it in GPUNVME_QEMU if it is not the one on PATH`,
  })
}

/** QEMU was started but did not respond. */
function notStarted(program: string, exit: QemuExit): DriverError {
  return new DriverError('ERR_GPUNVME_QEMU_START', 'failure', `QEMU did not start: ${exit.reason}`, {
    facts: [`program: ${program}`, ...exit.stderr.split('\n').filter((line) => line !== '')],
    next: 'correct the option that QEMU names, or try another version',
  })
}
