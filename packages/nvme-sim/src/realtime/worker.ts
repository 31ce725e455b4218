import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { DOORBELL_BASE } from '@gpunvme/nvme-spec'
import { Controller } from '../controller/controller.js'
import { Device } from '../controller/device.js'
import { Diagnostics } from '../controller/diagnostics.js'
import { statisticsOf } from '../controller/statistics.js'
import { Namespaces } from '../nvm/namespaces.js'
import { HostConfigSpace } from '../pci/host-config.js'
import { InterruptTaker } from '../pci/host-interrupts.js'
import {
  ACTIVITY,
  CONFIG_READ,
  CONFIG_WRITE,
  ENDED,
  EVERY_ACCESS,
  REGISTER_READ,
  REGISTER_WRITE,
  RUNNING,
  STATE,
  TAKE_INTERRUPT,
} from './control.js'
import { DoorbellPage } from './doorbell-page.js'
import { ACTIVE, type Answer, type Answers, type Question } from './messages.js'
import { importNativeHost } from './native-host.js'
import type { WorkerOptions } from './options.js'
import { RegisterPage } from './register-page.js'
import { SharedMemory } from './shared-memory.js'
import { SimulatorLoop } from './simulator-loop.js'
import { WallClock } from './wall-clock.js'
import { withMedia } from './with-media.js'

// The simulator's thread: the same controller as in virtual time, on shared memory and wall time. It does not return to
// its event loop before it ends.

const options = workerData as WorkerOptions
const port = parentPort!
const { source, layout, profile, seed, faults, idle } = options
const control = new Int32Array(options.control)
const native = 'module' in source ? await importNativeHost(source.module) : undefined
const buffer = 'memory' in source ? source.memory : native!.view(source.address, source.lengthBytes)
const bar = new Int32Array(buffer, layout.barOffsetBytes, layout.barBytes / 4)
bar.fill(0)

const clock = new WallClock()
const diagnostics = new Diagnostics(clock)
const namespaces = new Namespaces(options.namespaces.map((namespace) => withMedia(namespace, native)))
const memory = new SharedMemory(buffer, layout, options.pages)
const device = new Device({ clock, memory, namespaces, profile, diagnostics, faults, seed, trace: undefined })
const controller = new Controller(device)
const registers = new RegisterPage(bar.subarray(0, DOORBELL_BASE / 4), device, controller)
const doorbellWords = bar.subarray(DOORBELL_BASE / 4, device.pci.bar.tableOffset / 4)
const doorbells = new DoorbellPage(doorbellWords, controller, clock, device.doorbellStrideBytes)
const config = new HostConfigSpace(device)
const interrupts = new InterruptTaker(device)
device.queues.onCreate = (queue) => doorbells.open(queue)

try {
  registers.publish()
  Atomics.store(control, EVERY_ACCESS, device.faults.affectsAccesses ? 1 : 0)
  Atomics.store(control, STATE, RUNNING)
  tell('ready')
  new SimulatorLoop({
    ...{ control, clock, doorbells, registers, idle, native, access, answer },
    tell: () => tell(ACTIVE),
  }).run()
} finally {
  // Releases waiting hosts, even after an error.
  Atomics.store(control, STATE, ENDED)
  Atomics.add(control, ACTIVITY, 1)
  Atomics.notify(control, ACTIVITY)
  for (const { media } of namespaces.allocated) media.close()
}

function tell(message: Answer): void {
  port.postMessage(message)
}

function answer(): void {
  for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
    const { id, ask } = next.message as Question
    tell({ id, value: answerTo(ask) })
  }
}

function answerTo(ask: keyof Answers): Answers[keyof Answers] {
  if (ask === 'statistics') return statisticsOf(device)
  if (ask === 'diagnostics') return diagnostics.entries
  controller.resetByHost(ask === 'reset bus' ? 'bus' : 'function')
  registers.publish()
  return undefined
}

function access(what: number, where: number, value: number): number {
  const doorbell = (where - DOORBELL_BASE) / 4
  if (what === REGISTER_WRITE && doorbell >= 0 && doorbell < doorbellWords.length) doorbells.rung(doorbell, value | 0)
  else if (what === REGISTER_WRITE) controller.write32(where, value)
  else if (what === REGISTER_READ) return controller.read32(where)
  else if (what === TAKE_INTERRUPT) return interrupts.take(where) ? 1 : 0
  else if (what < CONFIG_WRITE) return config.read(where, (what - CONFIG_READ) as 1 | 2 | 4)
  else config.write(where, (what - CONFIG_WRITE) as 1 | 2 | 4, value)
  return 0
}
